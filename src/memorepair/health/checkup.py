"""Check-up: the detectors over a store, whole or since the last one; it writes nothing."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memorepair.errors import InvalidInput, MemoRepairError, StepFailed
from memorepair.health.blockindex import BlockIndex, key_of_store
from memorepair.health.detector import Asked, Detector, Expected, Found, Near, silent
from memorepair.health.finding import Damage, Finding
from memorepair.health.registry import chosen
from memorepair.health.rows import Rows
from memorepair.health.thresholds import Threshold
from memorepair.memory.artifact import Json
from memorepair.memory.exchange import Progress
from memorepair.memory.store import Store
from memorepair.memory.survey import Survey
from memorepair.memory.values import is_whole

_RECIPES = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckUp:
    """What a check-up found.

    Attributes
    ----------
    findings
        In the order of the detectors, then of birth.
    artifacts
        How many were looked at.
    epoch
        Newest journal entry at that time.
    newest
        Newest version at that time: what `since` takes next time.
    thresholds
        Those that were used, each with its sample: give them to the next check-up.
    left_out
        What was not looked at, in words.
    detectors
        Who looked.
    """

    findings: tuple[Finding, ...]
    artifacts: int
    epoch: int
    newest: int
    thresholds: tuple[Threshold, ...]
    left_out: tuple[str, ...]
    detectors: tuple[str, ...]

    def counts(self) -> dict[Damage, int]:
        """Findings of each kind of damage."""
        return dict(Counter(finding.damage for finding in self.findings))

    def to_json(self) -> dict[str, Json]:
        """As a JSON object."""
        return {
            "findings": [finding.to_json() for finding in self.findings],
            "artifacts": self.artifacts,
            "epoch": self.epoch,
            "newest": self.newest,
            "thresholds": [threshold.to_json() for threshold in self.thresholds],
            "left_out": list(self.left_out),
            "detectors": list(self.detectors),
        }


def check_up(
    store: Store,
    *,
    detectors: Sequence[str | Detector] | None = None,
    since: int | BlockIndex | None = None,
    index: BlockIndex | None = None,
    expected: Expected | None = None,
    thresholds: Sequence[Threshold] = (),
    now: int | None = None,
    progress: Progress = silent,
) -> CheckUp:
    """Look at a store; nothing in it changes, no use is counted.

    Parameters
    ----------
    detectors
        Names of the registry, or detectors; None: all.
    since
        `newest` of an earlier check-up: only findings about what was written since are wanted. A `BlockIndex`
        stands for its own `newest`, and is the `index`. None: all findings.
    index
        What is known of the store up to then: only what is newer is read, and whom it may be compared with,
        so that the work does not grow with the store. Without it the whole store is read. One that is newer
        than `since` is of no use, and is not used.
    expected
        What the keeper expects of the memory.
    thresholds
        Of earlier check-ups; each is used again until its group has doubled.
    now
        Nanoseconds since the epoch; None: this instant.

    Raises
    ------
    UnknownId
        No detector has such a name.
    InvalidInput
        `since` is no version; two detectors of one name.
    InvalidFile
        The index is another store's.
    StepFailed
        A detector has raised; the witness is its name.
    """
    asked_for = chosen(detectors)
    known = {threshold.group: threshold for threshold in thresholds}
    near: Near | None = None
    if isinstance(since, BlockIndex):
        index = since
        since = index.newest
    elif since is not None and not is_whole(since, low=0):
        raise InvalidInput("since is the newest version of an earlier check-up", witness=since)
    if index is not None and since is not None and index.newest <= since:
        known = {threshold.group: threshold for threshold in index.thresholds} | known
        survey, near = _since(store, index)
    else:
        survey = store.survey()
    progress("read", 1, 1)
    rows = Rows.of(survey)

    def recipes(wanted: list[int]) -> dict[int, tuple[str | None, bool]]:
        found: dict[int, tuple[str | None, bool]] = {}
        for start in range(0, len(wanted), _RECIPES):
            part = {rows.key(row): row for row in wanted[start : start + _RECIPES]}
            for key, recipe in store.recipes(list(part)).items():
                found[part[key]] = (recipe.operator, recipe.observed)
        return found

    asked = Asked(
        expected=expected or Expected(),
        now=time.time_ns() if now is None else now,
        fresh=None if since is None else np.asarray(survey.vid > since, np.bool_),
        thresholds=known,
        near=near,
        recipes=recipes,
        progress=progress,
    )
    findings: list[Finding] = []
    used: dict[tuple[str, str, str], Threshold] = {}
    left_out: list[str] = []
    for number, detector in enumerate(asked_for, start=1):
        found = _find(detector, rows, asked)
        findings += found.findings
        used |= {threshold.group: threshold for threshold in found.thresholds}
        left_out += found.left_out
        progress(detector.name, number, len(asked_for))
    return CheckUp(
        findings=tuple(findings),
        artifacts=rows.n if asked.fresh is None else int(asked.fresh.sum()),
        epoch=survey.epoch,
        newest=survey.newest,
        thresholds=tuple(used.values()),
        left_out=tuple(dict.fromkeys(left_out)),
        detectors=tuple(detector.name for detector in asked_for),
    )


def _find(detector: Detector, rows: Rows, asked: Asked) -> Found:
    """What it finds; of what it raises only the type is told, for its words may quote content."""
    try:
        return detector.find(rows, asked)
    except MemoRepairError:
        raise
    except Exception as error:
        why = f"the detector {detector.name} has raised {type(error).__name__}"
        raise StepFailed(why, witness=detector.name) from error


def _since(store: Store, index: BlockIndex) -> tuple[Survey, Near]:
    """What is newer than the index, what it was made from, and whom it may be compared with."""
    key = key_of_store(store)
    index.require(key)
    new = store.survey(newer_than=index.newest)
    pairs = index.partners(Rows.of(new), key)
    wanted = np.unique(np.concatenate([new.aid, new.arcs[:, 0], pairs[:, 1]]))
    survey = store.survey(among=[aid for aid in wanted.tolist() if aid > 0])
    return survey, Near(pairs=pairs, key=key, known=index.known_to(key))
