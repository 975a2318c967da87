"""Provenance audit: proposes influence arcs that a record lacks."""
