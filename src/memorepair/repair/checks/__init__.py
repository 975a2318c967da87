"""Checks that a successor must pass, one file each."""
