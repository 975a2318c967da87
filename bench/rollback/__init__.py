"""Rollback bench: failed runs with injected faults, recovered by our method, by baselines, by ablations."""
