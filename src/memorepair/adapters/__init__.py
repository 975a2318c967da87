"""Doors from what users already have."""
