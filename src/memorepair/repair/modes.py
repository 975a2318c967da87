"""Modes: what kind of repair a descendant admits (mu of the paper)."""

from __future__ import annotations

from enum import StrEnum


class Mode(StrEnum):
    """mu_i. REMOVE means that there is no successor: the artifact stays out of service, nothing is deleted."""

    RECOMPUTE = "recompute"
    REGEN = "regen"
    REMOVE = "remove"
