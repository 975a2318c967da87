"""Spans: work as OpenTelemetry sees it, where its API is installed; nothing otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec


@contextmanager
def span(name: str, **attributes: str | int | float | bool) -> Iterator[None]:
    """A span around the block, called ``memorepair.<name>``; never content among the attributes."""
    if find_spec("opentelemetry") is None or find_spec("opentelemetry.trace") is None:
        yield
        return
    tracer = import_module("opentelemetry.trace").get_tracer("memorepair")
    with tracer.start_as_current_span(f"memorepair.{name}") as current:
        for key, value in attributes.items():
            current.set_attribute(f"memorepair.{key}", value)
        yield
