"""Deciding: what a person has said is right as it is, left out of a check-up until it changes."""

from __future__ import annotations

from dataclasses import replace

from memorepair.governance import Item
from memorepair.governance.decisions import ANY, Decisions, Known
from memorepair.governance.grades import KEPT
from memorepair.health.checkup import CheckUp
from memorepair.health.detector import counted
from memorepair.health.diagnose import decided, sort_of
from memorepair.health.finding import Damage, Finding, Level
from memorepair.housekeeping.dividing import places
from memorepair.memory.artifact import Key
from memorepair.memory.store import Store
from memorepair.repair.ports import Remedy


def undecided(store: Store, found: CheckUp) -> CheckUp:
    """Without what a person has decided about and that has not changed since; their number is told.

    Duplicates of which a person lets some stay beside each other are one finding still, for a person alone.
    """
    known = Decisions(store).known()
    if not known:
        return found
    findings = [one for one in (_asked(one, known) for one in found.findings) if one is not None]
    left_out = found.left_out
    if n := len(found.findings) - len(findings):
        left_out += (f"{counted(n, 'finding')} that a person has decided about",)
    return replace(found, findings=tuple(findings), left_out=left_out)


def _asked(finding: Finding, known: Known) -> Finding | None:
    """What is left to ask of a finding."""
    sort, versions = decided(finding)
    sorts = (sort,) if finding.level is Level.STRUCTURE else (sort, ANY)
    if versions and known.has(sorts, versions):
        return None
    if finding.damage is Damage.DUPLICATES and known.parts(sorts, versions):
        return replace(finding, code=KEPT, evidence="a person lets some of them stay beside each other")
    return finding


def groups_of(item: Item) -> list[tuple[str, list[Key]]]:
    """What a person decides with an item: by sort, the artifacts of each finding behind it."""
    groups = [[item.keys[place] for place in group] for group in places(item)]
    if item.remedy is Remedy.PERSON and len(item.keys) > 1:
        groups.append(list(item.keys))  # nobody knows which of them belong together
    return [(sort, group) for group in groups for sort in sorted({sort_of(code) for code in item.codes})]
