"""Modes: what kind of repair a descendant admits (mu of the paper)."""

from __future__ import annotations

from enum import StrEnum

from memorepair.graphs.terms import Arch, Kind


class Mode(StrEnum):
    """mu_i. REMOVE means that there is no successor: it stays out of service, nothing is deleted."""

    RECOMPUTE = "recompute"
    REGEN = "regen"
    PARAM = "param"
    REMOVE = "remove"


def mode_of(kind: Kind, arch: Arch, *, observed: bool, replayable: bool, learns: bool = False) -> Mode:
    """The mode that an artifact admits if what it stands on is available after the event.

    Parameters
    ----------
    observed
        It is the result of a call that changed the outside world, which is never re-run.
    replayable
        A known deterministic operator made it, or carries it to a new interface.
    learns
        A known operator trains such models, and can make one forget.
    """
    if observed:
        return Mode.REMOVE
    if kind in (Kind.RECORD, Kind.CACHE):
        return Mode.RECOMPUTE if replayable else Mode.REMOVE
    if kind is Kind.SKILL and arch is Arch.NEURAL:
        return Mode.PARAM if learns else Mode.REMOVE
    regenerable = kind is Kind.SUMMARY or (kind is Kind.SKILL and arch in (Arch.PROMPT, Arch.CHAIN))
    return Mode.REGEN if regenerable else Mode.REMOVE
