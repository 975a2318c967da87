"""Directed graphs as arrays.

They know nothing of memory or repair.
"""
