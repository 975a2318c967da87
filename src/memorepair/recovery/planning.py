"""Planning: which steps of a failed run are taken again, which are kept, what is taken back first."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from hashlib import sha256

import numpy as np

from memorepair.graphs.digraph import Digraph
from memorepair.graphs.reach import slice_to
from memorepair.graphs.terms import Kind
from memorepair.memory.artifact import Json, Key
from memorepair.problems import Selection, SelectionInstance
from memorepair.recovery.tools import ONCE, Effect
from memorepair.recovery.trace import MODEL_STEPS, Recorded, Trace
from memorepair.repair.jsontext import canonical
from memorepair.selection import select


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveryPlan:
    """What a recovery will do to one run; all keys in the order of the trace.

    Attributes
    ----------
    faulty
        F: what the person found wrong.
    spared
        Nodes that the fault reaches and that stand on other evidence, each with what it stands on.
    again
        V_replay: steps to take again.
    kept
        V_preserve: steps that hold; a replay reads them back.
    dropped
        Steps out of service that no outcome of the run needs: not taken again.
    quarantined
        M_quar: memories derived from the fault, in any run.
    others
        Steps of other runs that the fault reaches: out of service, not taken again here.
    compensated
        Actions whose effect is taken back, the latest first.
    irreversible
        Actions out of service whose effect on the world stays, or may have been: also those that can be taken
        back, where nobody kept what they gave.
    selection
        The replay set as the least closed set with the outcomes required, with its proof.
    """

    trace: Trace
    faulty: tuple[Key, ...]
    spared: Mapping[Key, tuple[Key, ...]]
    again: tuple[Key, ...]
    kept: tuple[Key, ...]
    dropped: tuple[Key, ...]
    quarantined: tuple[Key, ...]
    others: tuple[Key, ...]
    compensated: tuple[Key, ...]
    irreversible: tuple[Key, ...]
    selection: Selection

    @property
    def replay_ratio(self) -> float:
        """Steps taken again over steps of the run."""
        return len(self.again) / len(self.trace.steps)

    @property
    def calls(self) -> int:
        """Calls of the model that the replay makes: claims, plans, answers."""
        return sum(self.trace.steps[key].kind in MODEL_STEPS for key in self.again)

    @property
    def digest(self) -> str:
        """SHA-256 (hex) of the run, the fault and the steps to take again."""
        text = canonical(
            {
                "run": [*self.trace.scope],
                "faulty": [str(key) for key in self.faulty],
                "again": [str(key) for key in self.again],
            }
        )
        return sha256(text.encode()).hexdigest()

    def to_json(self) -> dict[str, Json]:
        """The plan as JSON; keys in their written form."""

        def named(keys: tuple[Key, ...]) -> list[Json]:
            return [str(key) for key in keys]

        return {
            "run": self.trace.id,
            "steps": len(self.trace.steps),
            "faulty": named(self.faulty),
            "spared": {str(key): named(support) for key, support in self.spared.items()},
            "again": named(self.again),
            "kept": named(self.kept),
            "dropped": named(self.dropped),
            "quarantined": named(self.quarantined),
            "other_runs": named(self.others),
            "compensated": named(self.compensated),
            "irreversible": named(self.irreversible),
            "replay_ratio": self.replay_ratio,
            "calls": self.calls,
            "verified": self.selection.verify(),
        }


def make_plan(
    trace: Trace,
    *,
    faulty: tuple[Key, ...],
    gone: AbstractSet[Key],
    spared: Mapping[Key, tuple[Key, ...]],
    derived: tuple[Key, ...],
    others: tuple[Key, ...],
    awaited: AbstractSet[Key] = frozenset(),
) -> RecoveryPlan:
    """The least set of steps that brings the run's outcomes back.

    Parameters
    ----------
    gone
        F and A: everything out of service.
    derived, others
        The memories and the steps of other runs among them.
    awaited
        Memories of the run on which other runs, or other memories, stand: without them nothing takes those
        again.

    Notes
    -----
    The outcomes are the final answer, what the run did to the world, and what others await of it: an affected
    write is taken again even where the answer does not rest on it. An answer that the fault does not reach,
    or that stands on other evidence, holds like any other step: nothing outside the cascade is changed. Of a
    run that came to no answer nobody knows what one would need: all that is affected is taken again. What
    only an undone recovery had brought is no outcome of the run.
    ExecClosure is the selection with w = 0, the outcomes required and ties fewest. O(steps + arcs).
    """
    keys = tuple(trace.steps)
    place = {key: number for number, key in enumerate(keys)}
    steps = list(trace.steps.values())
    lost = np.array([key in gone for key in keys], np.bool_)
    tails, heads = _uses(trace, place, gone)

    # Every writing of it: a replay that branches may not come to the last.
    writing = {step for memory in awaited for step in trace.writers[memory]}
    outcome = [
        trace.answer is None or step.key in writing or _is_outcome(step, trace.answer) for step in steps
    ]
    wanted = lost & np.array(outcome, np.bool_)
    wanted &= ~np.array([step.undone for step in steps], np.bool_)
    leads = slice_to(Digraph.from_arcs(len(keys), tails, heads), wanted)
    required = wanted | (lost & leads)
    # i requires j where i consumes the result of j, and that cannot be read back.
    needs = lost[tails]
    instance = SelectionInstance(
        value=np.zeros(len(keys)),
        cost=np.array([step.recipe.cost or 0.0 for step in steps]),
        requires=Digraph.from_arcs(len(keys), heads[needs], tails[needs]),
        executable=np.ones(len(keys), np.bool_),
        required=required,
        ids=keys,
        tradeoff=1.0,
    )
    selection = select(instance)
    again = selection.mask

    acted = [step for step in steps if step.kind is Kind.ACTION and step.key in gone]
    return RecoveryPlan(
        trace=trace,
        faulty=faulty,
        spared=spared,
        again=_chosen(keys, again),
        kept=_chosen(keys, ~again & ~lost),
        dropped=_chosen(keys, ~again & lost),
        quarantined=derived,
        others=others,
        compensated=tuple(step.key for step in reversed(acted) if _can_be_taken_back(trace, step)),
        irreversible=tuple(
            step.key for step in acted if step.effect in ONCE and not _can_be_taken_back(trace, step)
        ),
        selection=selection,
    )


def _uses(
    trace: Trace, place: Mapping[Key, int], gone: AbstractSet[Key]
) -> tuple[np.ndarray[tuple[int], np.dtype[np.int64]], np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """Arcs from a step to the steps that use it: directly, or by a memory of the same run that is gone."""
    pairs = []
    for key, step in trace.steps.items():
        for arc in step.support:
            if arc.parent in place:
                pairs.append((place[arc.parent], place[key]))
            elif arc.parent in gone:  # of what the run wrote later it has read an earlier version
                writers = (place[writer] for writer in trace.writers.get(arc.parent, ()))
                pairs += [(writer, place[key]) for writer in writers if writer < place[key]]
    array = np.array(pairs, np.int64).reshape(-1, 2)
    return array[:, 0], array[:, 1]


def _can_be_taken_back(trace: Trace, action: Recorded) -> bool:
    known = trace.observation_of(action.key) is not None
    return known and action.effect is Effect.COMPENSATABLE_WRITE


def _is_outcome(step: Recorded, answer: Key | None) -> bool:
    if step.kind is Kind.OBSERVATION:
        return step.effect is not None and step.effect.writes
    return step.key == answer


def _chosen(keys: tuple[Key, ...], mask: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> tuple[Key, ...]:
    return tuple(keys[number] for number in np.flatnonzero(mask).tolist())
