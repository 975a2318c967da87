"""Keeping: how a memory is kept, as its keeper wants it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field

from memorepair.governance import Limits, Policy
from memorepair.health.detector import Detector, Expected

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Keeping:
    """How a memory is kept.

    Attributes
    ----------
    expected
        What its keeper expects of it.
    policy, limits
        What may act without being asked, and how much.
    load
        How many times its usual P95 retrieval takes now; None where nobody measures.
    detectors
        Who looks; None: all of the registry.
    """

    expected: Expected = field(default_factory=Expected)
    policy: Policy = field(default_factory=Policy)
    limits: Limits = field(default_factory=Limits)
    load: Callable[[], float] | None = None
    detectors: tuple[str | Detector, ...] | None = None


def calm(load: Callable[[], float] | None) -> Callable[[], float] | None:
    """The measure of load, which counts as none where it fails: no leak stays in service for want of it."""
    if load is None:
        return None

    def now() -> float:
        try:
            return float(load())
        except Exception as error:  # noqa: BLE001  whatever a keeper's measure raises: it is told
            logger.warning("the measure of load has raised %s; no load is assumed", type(error).__name__)
            return 0.0

    return now
