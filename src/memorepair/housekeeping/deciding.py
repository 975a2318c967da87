"""Deciding: what a person has said is right as it is, left out of a check-up until it changes."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from memorepair.governance import Item
from memorepair.governance.decisions import ANY, Decisions, name_of
from memorepair.health.checkup import CheckUp
from memorepair.health.diagnose import decided, sort_of
from memorepair.health.finding import Finding, Level
from memorepair.housekeeping.dividing import places
from memorepair.memory.artifact import Key
from memorepair.memory.store import Store
from memorepair.repair.ports import Remedy


def undecided(store: Store, found: CheckUp) -> CheckUp:
    """Without what a person has decided about and that has not changed since; their number is told."""
    names = Decisions(store).known()
    findings = [one for one in found.findings if not names or not _is_decided(one, names)]
    if len(findings) == len(found.findings):
        return found
    n = len(found.findings) - len(findings)
    told = (*found.left_out, f"{n} findings that a person has decided about")
    return replace(found, findings=tuple(findings), left_out=told)


def _is_decided(finding: Finding, names: Collection[str]) -> bool:
    sort, versions = decided(finding)
    if not versions:
        return False
    meant = finding.level is not Level.STRUCTURE and name_of(ANY, versions) in names
    return meant or name_of(sort, versions) in names


def groups_of(item: Item) -> list[tuple[str, list[Key]]]:
    """What a person decides with an item: by sort, the artifacts of each finding behind it."""
    groups = [[item.keys[place] for place in group] for group in places(item)]
    if item.remedy is Remedy.PERSON and len(item.keys) > 1:
        groups.append(list(item.keys))  # nobody knows which of them belong together
    return [(sort, group) for group in groups for sort in sorted({sort_of(code) for code in item.codes})]
