"""Diagnosis: findings become remedies that are wanted, joined by what caused them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from types import MappingProxyType

from memorepair.health.causes import Cause, causes
from memorepair.health.finding import Finding
from memorepair.health.remedies import Wanted
from memorepair.health.rows import Rows
from memorepair.memory.artifact import Json, Key
from memorepair.repair.ports import Remedy

ITEMS = 50
"""Findings that one remedy takes up together: one case, one plan, one undo."""

REMEDY_OF: Mapping[str, Remedy] = MappingProxyType(
    {
        "illegal_status": Remedy.STATUS,
        "barrier_without_event": Remedy.STATUS,
        "missing_source": Remedy.COMPLETE,
        "metadata_invalid": Remedy.COMPLETE,
        "metadata_missing": Remedy.COMPLETE,
        "metadata_schema": Remedy.COMPLETE,
        "embedding_missing": Remedy.REEMBED,
        "embedding_space_unknown": Remedy.REEMBED,
        "embedding_dim_mismatch": Remedy.REEMBED,
        "embedding_not_finite": Remedy.REEMBED,
        "embedding_norm": Remedy.REEMBED,
        "embedding_other_dimension": Remedy.REEMBED,
        "embedding_other_model": Remedy.REEMBED,
        "embedding_foreign": Remedy.REEMBED,
        "index_damaged": Remedy.REINDEX,
        "duplicate_exact": Remedy.MERGE,
        "duplicate_slot": Remedy.MERGE,
        "duplicate_near": Remedy.MERGE,
        "duplicate_paraphrase": Remedy.MERGE,
        "duplicate_group": Remedy.MERGE,
        "duplicate_kept": Remedy.MERGE,
        "conflict": Remedy.SETTLE,
        "conflict_undecided": Remedy.REVIEW,
        "stale": Remedy.DEMOTE,
        "scope_crossed": Remedy.SCOPE,
        "scope_stray": Remedy.SCOPE,
    }
)
"""What is done about a finding; a code that is not here is for a person."""

_SORTS = ("conflict", "duplicate")


def sort_of(code: str) -> str:
    """What a decision about a finding is about: however a conflict or a duplicate was found, it is one."""
    return next((sort for sort in _SORTS if code.startswith(sort)), code)


def decided(finding: Finding) -> tuple[str, tuple[tuple[Key, int], ...]]:
    """What a person decides about a finding: its sort, and whom its remedy acts on, as they were seen."""
    versions = dict(zip(finding.keys, finding.versions, strict=True))
    return sort_of(finding.code), tuple((key, versions[key]) for key in _acts_on(finding))


ALARMS = "retrieval"
"""Alarms are no damage: what they hint at is looked for, and that has the remedy."""

ORDER = tuple(Remedy)
"""Structure first: what is compared must be whole; then duplicates, so that conflicts are between facts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """What is to be done about the findings of a check-up.

    Attributes
    ----------
    wanted
        Remedies in the order they act; no artifact is in two of them but in `PERSON`.
    causes
        By code of the findings.
    deferred
        Findings about artifacts that another remedy takes up first: the next check-up tells what is left.
    """

    wanted: tuple[Wanted, ...]
    causes: Mapping[str, Cause]
    deferred: tuple[Finding, ...]

    def to_json(self) -> dict[str, Json]:
        """As a JSON object."""
        return {
            "wanted": [
                {
                    "remedy": str(one.remedy),
                    "keys": [str(key) for key in one.keys],
                    "codes": dict(one.codes),
                    "confidence": one.confidence,
                    "cause": one.cause,
                }
                for one in self.wanted
            ],
            "causes": {code: cause.to_json() for code, cause in self.causes.items()},
            "deferred": len(self.deferred),
        }


def diagnose(rows: Rows, findings: Sequence[Finding], *, embeds: bool = True) -> Diagnosis:
    """Join findings by remedy and cause; O(findings + n).

    Parameters
    ----------
    rows
        The survey that the findings are about, or one since.
    embeds
        Whether vectors can be made in the space they are wanted in. Else what lacks one is for a person, and
        no other remedy waits for it.
    """
    why = causes(rows, findings)
    by: defaultdict[tuple[int, str], list[Finding]] = defaultdict(list)
    for finding in findings:
        if finding.detector == ALARMS:
            continue
        remedy = REMEDY_OF.get(finding.code, Remedy.PERSON)
        if remedy is Remedy.REEMBED and finding.keys and not embeds:
            remedy = Remedy.PERSON
        apart = finding.code if finding.code in _APART or remedy is Remedy.PERSON else ""
        if remedy is Remedy.REEMBED and not finding.keys:
            apart = "switch"
        cause = str(why[finding.code]) if finding.code in why else ""
        by[ORDER.index(remedy), f"{apart}\0{cause}"].append(finding)
    taken: set[Key] = set()
    wanted: list[Wanted] = []
    deferred: list[Finding] = []
    for (place, joined), group in sorted(by.items(), key=lambda item: item[0]):
        remedy, (apart, _, cause) = ORDER[place], joined.partition("\0")
        waits = remedy is Remedy.PERSON or apart == "duplicate_kept"
        free: list[Finding] = []
        mine: set[Key] = set()
        for finding in sorted(group, key=_by_key):
            keys = set(_acts_on(finding))
            # Pairs of one conflict are decided together; of any other remedy each artifact is in one finding.
            barred = taken if remedy is Remedy.SETTLE else taken | mine
            if not waits and keys & barred:
                if not (remedy in _SINGLE and keys <= mine):
                    deferred.append(finding)
                continue
            mine |= keys
            free.append(finding)
        taken |= set() if waits else mine
        wanted += [_wanted(remedy, part, cause, rows.survey.epoch) for part in _parts(free)]
    return Diagnosis(wanted=tuple(wanted), causes=MappingProxyType(why), deferred=tuple(deferred))


_APART = frozenset({"duplicate_group", "duplicate_kept"})
"""Merges that go by themselves: what is surer does not wait for them."""

_SINGLE = frozenset({Remedy.STATUS, Remedy.COMPLETE, Remedy.REEMBED})
"""About one artifact at a time: a second finding about one that is taken up says the same."""


def _parts(findings: Iterable[Finding]) -> Iterable[list[Finding]]:
    rest = iter(findings)
    while part := list(islice(rest, ITEMS)):
        yield part


def _acts_on(finding: Finding) -> tuple[Key, ...]:
    """Of what crosses scopes the child alone: what it was made from lies where it belongs."""
    return finding.keys[-1:] if finding.code == "scope_crossed" else finding.keys


def _by_key(finding: Finding) -> tuple[Key, ...]:
    return finding.keys


def _spaces(finding: Finding) -> list[Json]:
    """Where memories live and where they are to go, as the finding of the whole store names them."""
    names = ("model", "revision", "dimension", "normalised")
    return [[finding.measured[before + name] for name in names] for before in ("", "current_")]


def _wanted(remedy: Remedy, findings: Sequence[Finding], cause: str, epoch: int) -> Wanted:
    keys = tuple(key for one in findings for key in _acts_on(one))
    params: dict[str, Json] = {}
    if remedy is Remedy.MERGE:
        groups: list[Json] = []
        start = 0
        for one in findings:
            groups.append(list[Json](range(start, start + len(one.keys))))
            start += len(one.keys)
        params["groups"] = groups
    if remedy is Remedy.DEMOTE:
        params["weights"] = [one.measured.get("weight", 1.0) for one in findings]
    if remedy is Remedy.REEMBED and not keys:
        params["spaces"] = _spaces(findings[0])
    if remedy in (Remedy.STATUS, Remedy.REINDEX):
        # What is broken shows in no version: the same damage at another time is another repair.
        params["epoch"] = epoch
    codes: defaultdict[str, int] = defaultdict(int)
    for one in findings:
        codes[one.code] += 1
    return Wanted(
        remedy=remedy,
        keys=keys,
        params=params,
        codes=dict(codes),
        confidence=min(one.confidence for one in findings),
        why=findings[0].evidence if len(codes) == 1 else f"{len(findings)} findings",
        cause=cause,
    )
