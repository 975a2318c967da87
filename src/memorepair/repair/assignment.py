"""Assignment of modes: the largest set of descendants whose inputs allow the repair that each admits."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol

import numpy as np

from memorepair.errors import InvalidInput
from memorepair.graphs.terms import Arch, Kind
from memorepair.memory.artifact import Key, Recipe, Scope
from memorepair.memory.exchange import Member
from memorepair.repair.candidates import Bar
from memorepair.repair.cascade import Cascade
from memorepair.repair.events import Migration, RepairEvent
from memorepair.repair.inputs import Inputs
from memorepair.repair.modes import Mode, mode_of
from memorepair.repair.operators.learner import Learner
from memorepair.repair.operators.operator import Operator, may_read_own

OBSERVED = "observed"
NO_OPERATOR = "no operator"
NOT_DETERMINISTIC = "not deterministic"
NEURAL = "neural skill"
INPUT_UNAVAILABLE = "input unavailable"
SUPPORT_INSUFFICIENT = "support insufficient"

SUFFICIENT_SUPPORT = 0.5
"""Share of its sources that must be retained or repairable for an artifact to be written anew."""

_NO_RECIPE = Recipe()

_WRITERS: Mapping[tuple[Kind, Arch], str] = MappingProxyType(
    {
        (Kind.SUMMARY, Arch.NONE): "summarise",
        (Kind.SKILL, Arch.PROMPT): "prompt-skill",
        (Kind.SKILL, Arch.CHAIN): "rewrite-chain",
    }
)


def writer_of(kind: Kind, arch: Arch) -> str | None:
    """The operator that writes artifacts of this kind anew where their recipe names none."""
    return _WRITERS.get((kind, arch))


class OperatorTable(Protocol):
    """Where operators are found by ``name@version`` or by bare name; the registry, or any mapping."""

    def get(self, reference: str, /) -> Operator | None:
        """The operator, None where nobody has it."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """The mode of one descendant.

    `operator` is pi_i, None where there is none; `bar` is the witness where the mode is REMOVE or the
    operator is missing, else None.
    """

    mode: Mode
    operator: Operator | None
    bar: Bar | None


def assign(
    cascade: Cascade,
    event: RepairEvent,
    inputs: Inputs,
    recipes: Mapping[Key, Recipe],
    operators: OperatorTable,
    *,
    share: float = SUFFICIENT_SUPPORT,
) -> tuple[Assignment, ...]:
    """The mode of every open descendant, in the order of `Cascade.open`.

    Parameters
    ----------
    share
        In 0 .. 1; see `SUFFICIENT_SUPPORT`. At least one source is always needed.

    Notes
    -----
    O(members + arcs).
    """
    if not 0 <= share <= 1:
        raise InvalidInput(f"the share of sufficient support is in 0 .. 1, not {share}", witness=share)
    rows = event.delta.rows if isinstance(event.delta, Migration) else None
    table = _Known(operators)
    admitted = [
        _admitted(member, recipes.get(member.key, _NO_RECIPE), table, rows if follows else None)
        for member, follows in zip(cascade.open, inputs.follows.tolist(), strict=True)
    ]
    return _settle(admitted, cascade, inputs, isinstance(event.delta, Migration), share)


class _Known:
    """Operators by reference, and whether they learn: asking a protocol is dear, a plan asks per member."""

    def __init__(self, operators: OperatorTable) -> None:
        self._operators = operators
        self._found: dict[str, tuple[Operator | None, bool]] = {}

    def get(self, reference: str) -> tuple[Operator | None, bool]:
        """The operator, None where nobody has it, and whether it learns."""
        found = self._found.get(reference)
        if found is None:
            operator = self._operators.get(reference)
            learns = isinstance(operator, Learner) and operator.mode is Mode.PARAM
            found = self._found[reference] = operator, learns
        return found


def _admitted(member: Member, recipe: Recipe, operators: _Known, rows: str | None) -> Assignment:
    """What the artifact admits if its inputs allow; `rows` where it follows a migrated interface."""
    wanted = (
        f"{recipe.operator}@{recipe.version}"
        if recipe.operator is not None
        else writer_of(member.kind, member.arch)
    )
    operator, learns = (None, False) if wanted is None else operators.get(wanted)
    if operator is None and rows is not None and member.kind is Kind.RECORD:
        wanted = rows
        operator, learns = operators.get(rows)
    replayable = operator is not None and operator.deterministic
    mode = mode_of(member.kind, member.arch, observed=recipe.observed, replayable=replayable, learns=learns)
    if mode is not Mode.REMOVE and operator is not None:
        return Assignment(mode=mode, operator=operator, bar=None)
    name = () if wanted is None else (wanted,)
    if recipe.observed:
        bar = Bar(reason=OBSERVED, witness=(member.key,))
    elif member.kind is Kind.SKILL and member.arch is Arch.NEURAL:
        bar = Bar(reason=NEURAL, witness=(member.key,))
    elif operator is not None and not replayable:
        bar = Bar(reason=NOT_DETERMINISTIC, witness=name)
    else:
        bar = Bar(reason=NO_OPERATOR, witness=name)
    return Assignment(mode=mode, operator=None, bar=bar)


def _settle(
    admitted: list[Assignment], cascade: Cascade, inputs: Inputs, migrates: bool, share: float
) -> tuple[Assignment, ...]:
    # D+ is the greatest set of descendants each of which keeps its mode while the rest of the set counts as
    # available. Whether one keeps it only ever turns from yes to no as the set shrinks, so taking out, in any
    # order, whoever fails until nobody does ends in that set. Every descendant leaves once, every arc is
    # looked at once.
    keys = [member.key for member in cascade.open]
    affected, reverse = inputs.affected, inputs.affected.reverse()
    offsets, dependents = reverse.offsets.tolist(), reverse.heads.tolist()
    own = [
        reads and not (one.operator is not None and may_read_own(one.operator, one.mode, migrates=migrates))
        for reads, one in zip(inputs.reads_own.tolist(), admitted, strict=True)
    ]
    lost = [
        [*missing, *([key] if mine else [])]
        for missing, key, mine in zip(inputs.missing, keys, own, strict=True)
    ]
    total: list[int] = (inputs.available + np.diff(affected.offsets) + [len(gone) for gone in lost]).tolist()

    def fails(place: int) -> bool:
        gone = len(lost[place])
        if admitted[place].mode is Mode.RECOMPUTE:
            return gone > 0
        kept = total[place] - gone
        if (
            admitted[place].mode is Mode.PARAM
        ):  # whatever has gone is the forget part; what is left must be some
            return kept == 0
        return kept == 0 or kept / total[place] < share

    failed = deque(place for place, one in enumerate(admitted) if one.mode is Mode.REMOVE or fails(place))
    out = set(failed)
    origin = {
        place: lost[place][0] if admitted[place].mode is Mode.RECOMPUTE else keys[place] for place in failed
    }
    while failed:
        place = failed.popleft()
        for dependent in dependents[offsets[place] : offsets[place + 1]]:
            lost[dependent].append(keys[place])
            if dependent not in out and fails(dependent):
                out.add(dependent)
                failed.append(dependent)
                recomputed = admitted[dependent].mode is Mode.RECOMPUTE
                origin[dependent] = origin[place] if recomputed else keys[dependent]
    return tuple(
        _removed(one, lost[place], origin[place], cascade.deleted)
        if place in out and one.mode is not Mode.REMOVE
        else one
        for place, one in enumerate(admitted)
    )


def _parts(key: Key) -> tuple[Scope, str]:
    """The order of keys, at a fraction of the cost."""
    return key.scope, key.id


def _removed(admitted: Assignment, lost: list[Key], origin: Key, deleted: Mapping[Key, int]) -> Assignment:
    """No successor after all; the witness: the nearest lost input with its origin, or all lost sources.

    Where another case has deleted one of them, that case comes behind.
    """
    keys = (
        tuple(dict.fromkeys((lost[0], origin)))
        if admitted.mode is Mode.RECOMPUTE
        else tuple(sorted(lost, key=_parts))
    )
    reason = INPUT_UNAVAILABLE if admitted.mode is Mode.RECOMPUTE else SUPPORT_INSUFFICIENT
    cases = sorted({deleted[key] for key in keys if key in deleted})
    bar = Bar(reason=reason, witness=(*keys, *(f"withdrawn by case {case}" for case in cases)))
    return Assignment(mode=Mode.REMOVE, operator=None, bar=bar)
