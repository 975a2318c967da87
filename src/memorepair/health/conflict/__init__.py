"""Conflicts between two statements: parsed into slots, compared by rules."""
