"""Plans: which repairs are carried out, in which order, for which price."""

from __future__ import annotations

from dataclasses import dataclass

from memorepair.memory.artifact import Key
from memorepair.problems import Selection
from memorepair.repair.candidates import Candidates


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairPlan:
    """What `repair` will do for a case, and what it leaves.

    Attributes
    ----------
    case
        The case's number.
    candidates, selection
        All that could be done, and the proven choice.
    waves
        Positions of the chosen candidates; prerequisites stand in earlier waves (E_req).
    left
        Keys that stay withdrawn: not chosen, barred, or without a successor.
    digest
        Of the case, its members with their versions and digests, and the choice: two equal digests are the same plan.
    """

    case: int
    candidates: Candidates
    selection: Selection
    waves: tuple[tuple[int, ...], ...]
    left: tuple[Key, ...]
    digest: str
