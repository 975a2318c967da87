"""Probe: suspects are replayed, as far as a budget goes, and what a replay says is settled."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from memorepair.graphs.digraph import Digraph
from memorepair.graphs.reach import reach
from memorepair.memory.artifact import Artifact, Key, Recipe
from memorepair.memory.store import Store
from memorepair.repair.assignment import OperatorTable
from memorepair.repair.audit.report import Proposal
from memorepair.repair.operators.attempt import attempt
from memorepair.repair.operators.operator import Call, Input, Made, Operator

_UNKNOWN = 0.5
REPLAY = "replay"


@dataclass(frozen=True, slots=True, kw_only=True)
class Probed:
    """What a probe settled.

    Attributes
    ----------
    proposals
        All that were given; of a child that a replay explained, with probability 0 or 1.
    replays, spent
        How many, and their cost: what the operators tell, 1 where one tells nothing.
    settled
        Children that a replay explained.
    """

    proposals: tuple[Proposal, ...]
    replays: int
    spent: float
    settled: tuple[Key, ...]


def probe(store: Store, proposals: Sequence[Proposal], operators: OperatorTable, *, budget: float) -> Probed:
    """Replay the children of proposals, those first where doubt times live dependents is greatest.

    A child is replayed from its recorded parents: where the stored content comes out again, nothing is
    missing and all its proposals are wrong. Where it does not, the proposed parents are tried, the most
    probable first, before and behind the recorded ones; one with which the content comes out is right, and
    the others of the child are wrong. Where none does, two arcs are missing or the parent is not among the
    proposals, and nothing is settled. Only deterministic operators are asked, and they see served content
    alone, in the versions proposed; nothing is written. No replay is begun once the budget is spent.
    """
    served = {artifact.key: (artifact, recipe) for artifact, recipe in store.served_with_recipes()}
    by_child: defaultdict[Key, list[Proposal]] = defaultdict(list)
    for one in proposals:
        if _stands(served, one.parent, one.parent_version) and _stands(served, one.child, one.child_version):
            by_child[one.child].append(one)
    able = {
        key: operator for key in by_child if (operator := _replayable(served[key][1], operators)) is not None
    }
    weight = _dependents(store, list(able))
    order = sorted(able, key=lambda key: (-weight[key] * max(map(_doubt, by_child[key])), key))
    run = _Run(store, served, budget)
    certain: dict[str, float] = {}
    settled: list[Key] = []
    for key in order:
        if run.spent >= budget:
            break
        outcome = run.child(key, able[key], by_child[key])
        if outcome is not None:
            settled.append(key)
            certain |= outcome
    return Probed(
        proposals=tuple(
            replace(one, probability=certain[one.id], rule=REPLAY) if one.id in certain else one
            for one in proposals
        ),
        replays=run.replays,
        spent=run.spent,
        settled=tuple(settled),
    )


def _stands(served: dict[Key, tuple[Artifact, Recipe]], key: Key, version: int) -> bool:
    return key in served and served[key][0].version == version


def _doubt(one: Proposal) -> float:
    return _UNKNOWN if one.probability is None else min(one.probability, 1 - one.probability)


def _replayable(recipe: Recipe, operators: OperatorTable) -> Operator | None:
    if recipe.operator is None or recipe.observed:
        return None
    operator = operators.get(f"{recipe.operator}@{recipe.version}")
    if operator is None or not operator.deterministic or operator.reads_own_version:
        return None
    return operator


def _dependents(store: Store, keys: Sequence[Key]) -> dict[Key, int]:
    """How many artifacts were made from each, itself counted."""
    snapshot = store.snapshot()
    position = {key: place for place, key in enumerate(snapshot.current)}
    ends = np.array([(position[arc.parent], position[arc.child]) for arc in snapshot.arcs], np.int64)
    ends = ends.reshape(-1, 2)
    graph = Digraph.from_arcs(len(position), ends[:, 0], ends[:, 1])
    return {key: int(reach(graph, [position[key]]).sum()) for key in keys}


class _Run:
    def __init__(self, store: Store, served: dict[Key, tuple[Artifact, Recipe]], budget: float) -> None:
        self._store = store
        self._served = served
        self._budget = budget
        self.spent = 0.0
        self.replays = 0

    def child(self, key: Key, operator: Operator, proposed: Sequence[Proposal]) -> dict[str, float] | None:
        """Certainty of the child's proposals by id; None where no replay explains it."""
        recorded = list(dict.fromkeys(arc.parent for arc in self._store.support([key]) if arc.parent != key))
        if any(parent not in self._served for parent in recorded):
            return None
        if self._again(key, operator, recorded):
            return {one.id: 0.0 for one in proposed}
        ranked = sorted(proposed, key=lambda one: (-(one.probability or 0.0), one.parent))
        for right in ranked:
            for parents in ([right.parent, *recorded], [*recorded, right.parent]):
                if self.spent >= self._budget:
                    return None
                if self._again(key, operator, parents):
                    return {one.id: float(one is right) for one in proposed}
                if not recorded:
                    break
        return None

    def _again(self, key: Key, operator: Operator, parents: Sequence[Key]) -> bool:
        artifact, recipe = self._served[key]
        inputs = tuple(Input.of(self._served[parent][0]) for parent in parents)
        call = Call(
            key=key, inputs=inputs, params=recipe.params, interfaces={}, own=None, schema=recipe.schema
        )
        made = attempt(operator, call)
        self.replays += 1
        self.spent += 1.0 if made.cost is None else made.cost
        return isinstance(made, Made) and made.content == artifact.content
