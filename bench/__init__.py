"""Benchmarks that print figures of real inputs."""
