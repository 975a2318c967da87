"""Candidates from a cascade: modes, prices, prerequisites, and a witness for all that cannot be executed."""

from __future__ import annotations

from collections import deque

import numpy as np

from memorepair.graphs.digraph import Digraph
from memorepair.graphs.order import strong_components
from memorepair.memory.artifact import SERVING, Key
from memorepair.memory.store import Store
from memorepair.repair.assignment import SUFFICIENT_SUPPORT, OperatorTable, assign
from memorepair.repair.candidates import Bar, Candidates
from memorepair.repair.cascade import Cascade
from memorepair.repair.events import RepairEvent
from memorepair.repair.history import History
from memorepair.repair.inputs import inputs_of
from memorepair.repair.modes import Mode
from memorepair.repair.pricing import Pricing

CYCLE = "cycle"
REQUIRES_BARRED = "requires barred"


def build_candidates(
    store: Store,
    cascade: Cascade,
    event: RepairEvent,
    operators: OperatorTable,
    pricing: Pricing,
    *,
    share: float = SUFFICIENT_SUPPORT,
) -> Candidates:
    """Every descendant of the event that is still withdrawn, in order of keys, with what its repair takes.

    Parameters
    ----------
    cascade
        As `read_cascade` gives it.
    share
        Of its sources, that an artifact needs to be written anew.

    Raises
    ------
    InvalidInput
        A price is not finite and >= 0 (witness: the artifact), or `share` is not in 0 .. 1.

    Notes
    -----
    A barred candidate keeps its mode: it is in D+, has an operator that is missing, is on a cycle of E_req,
    or requires such a one. Of several ways to a barred one the witness names a shortest. O(members + arcs).
    """
    members = cascade.open
    keys = tuple(member.key for member in members)
    recipes = store.recipes(keys)
    inputs = inputs_of(cascade, event, _superseded(store, event))
    assigned = assign(cascade, event, inputs, recipes, operators, share=share)
    modes = tuple(one.mode for one in assigned)
    names = tuple(
        None if one.operator is None else f"{one.operator.name}@{one.operator.version}" for one in assigned
    )

    kept = np.array([mode is not Mode.REMOVE for mode in modes], np.bool_)
    tails, heads = inputs.affected.tails(), inputs.affected.heads
    within = kept[tails] & kept[heads]
    prerequisites = Digraph.from_arcs(len(keys), tails[within], heads[within])

    bars = [one.bar for one in assigned]
    _bar_cycles(prerequisites, keys, bars)
    _bar_dependents(prerequisites, keys, modes, bars)

    sizes = np.array([member.size for member in members], np.float64)
    input_sizes = inputs.size + np.bincount(
        tails[within], weights=sizes[heads[within]], minlength=len(keys)
    ).astype(np.float64)
    value, cost = pricing.prices(
        members,
        modes,
        names,
        input_sizes=input_sizes,
        recipes=recipes,
        history=History(store.operator_costs(), unit=pricing.unit),
    )
    return Candidates(
        keys=keys,
        modes=modes,
        operators=names,
        executable=np.array([bar is None for bar in bars], np.bool_),
        value=value,
        cost=cost,
        unit=pricing.unit,
        prerequisites=prerequisites,
        bars=tuple(bars),
    )


def _superseded(store: Store, event: RepairEvent) -> frozenset[Key]:
    """Roots in whose place an artifact of another key is served."""
    return frozenset(root for root, key in event.instead.items() if store.describe(key).state in SERVING)


def _bar_cycles(prerequisites: Digraph, keys: tuple[Key, ...], bars: list[Bar | None]) -> None:
    """Bar what is on a cycle of E_req; all of a strong component share one cycle as witness."""
    component = strong_components(prerequisites)
    tails = prerequisites.tails()
    inner = np.flatnonzero(component[tails] == component[prerequisites.heads])
    nodes, first = np.unique(tails[inner], return_index=True)
    step = dict(zip(nodes.tolist(), prerequisites.heads[inner[first]].tolist(), strict=True))
    cycles: dict[int, Bar] = {}
    for node in step:
        label = int(component[node])
        if label not in cycles:
            # Every step stays inside the component and every node there has one: the walk must come back.
            seen: dict[int, int] = {}
            here = node
            while here not in seen:
                seen[here] = len(seen)
                here = step[here]
            cycle = tuple(keys[place] for place in list(seen)[seen[here] :])
            cycles[label] = Bar(reason=CYCLE, witness=cycle)
        bars[node] = bars[node] or cycles[label]


def _bar_dependents(
    prerequisites: Digraph, keys: tuple[Key, ...], modes: tuple[Mode, ...], bars: list[Bar | None]
) -> None:
    """Bar what requires a barred candidate; the witness is the next one on a shortest way, and the origin."""
    reverse = prerequisites.reverse()
    origin = {
        place: keys[place]
        for place, bar in enumerate(bars)
        if bar is not None and modes[place] is not Mode.REMOVE
    }
    frontier = deque(origin)
    while frontier:
        place = frontier.popleft()
        for dependent in reverse.successors(place).tolist():
            if dependent not in origin:
                origin[dependent] = origin[place]
                frontier.append(dependent)
                witness = dict.fromkeys((keys[place], origin[place]))
                bars[dependent] = Bar(reason=REQUIRES_BARRED, witness=tuple(witness))
