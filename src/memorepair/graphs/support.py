"""Support: which of the affected nodes stand on evidence that the fault has not reached."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from memorepair.errors import InvalidInput
from memorepair.graphs.digraph import Digraph, Index, Mask, read_only
from memorepair.graphs.reach import node_mask, reach

SupportForm: TypeAlias = Literal["alternatives", "requirements"]
"""How the support groups of a node are read."""

Policy: TypeAlias = Literal["none", "direct", "grounded"]
"""What evidence may spare of the affected."""

FORMS: tuple[SupportForm, ...] = ("alternatives", "requirements")
"""The forms of support, see `weigh`."""

POLICIES: tuple[Policy, ...] = ("none", "direct", "grounded")
"""The evidence policies, from the one that spares nothing to the one that spares most; see `weigh`."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evidence:
    """What a fault reaches, and what of it stays.

    Attributes
    ----------
    affected : (n,) bool
        A0: what the roots reach, themselves left out.
    spared : (n,) bool
        Those of `affected` that stay.
    group : (n,) int32
        The support group that keeps a spared node, under alternatives; -1 elsewhere. Under ``grounded`` these
        groups are well-founded: following them back ends outside the affected nodes, never in a circle.
    """

    affected: Mask
    spared: Mask
    group: Index

    def __post_init__(self) -> None:
        for array in (self.affected, self.spared, self.group):
            read_only(array)


def weigh(
    digraph: Digraph,
    group: npt.NDArray[np.integer],
    roots: npt.ArrayLike,
    *,
    policy: Policy,
    form: SupportForm = "alternatives",
    justifies: Mask | None = None,
    same_origin: Sequence[Sequence[int]] = (),
) -> Evidence:
    """Which nodes affected by a fault stay, for the support that the fault has left them.

    Parameters
    ----------
    digraph
        n nodes, m arcs from support to what it supports; cycles, parallel arcs allowed.
    group : (m,) integers
        Arcs with equal head and equal number form one support group of that head.
    roots : (n,) bool, or (k,) integers
        F, which never stays.
    policy
        ``none``: nothing stays, any affected supporter is one too many. ``direct``: what F + A0 leaves enough
        support by itself. ``grounded``: what stays may itself support others.
    form
        How groups are read. ``alternatives``: every arc of a group is needed, one group is enough.
        ``requirements``: one arc of a group is enough, every group is needed.
    justifies : (m,) bool
        Arcs that are support; the others only carry the fault on. All, unless given.
    same_origin
        Sets of nodes that say the same because one was copied from another, or both from a third. Such a set
        counts as one source, gone as soon as one of it is. Sets with a node in common are one.

    Returns
    -------
    Evidence
        A node without any support of its own never stays. ``grounded`` spares all that ``direct`` spares. A
        larger F never spares a node that the smaller one withdraws.

    Raises
    ------
    InvalidInput
        Arrays of other lengths, nodes outside the graph, an unknown policy or form.

    Notes
    -----
    Both forms are one rule, that a node joins a set once one of its groups lies inside: what stands under
    alternatives, what goes under requirements, either the least set that the rule closes. So among
    alternatives two that only support each other fall together, for a reason must not rest on itself; among
    requirements two that need each other stay together, for nothing they need is gone.

    O(n + m log m) time, linear memory, no recursion.

    Source: W. F. Dowling, J. H. Gallier, Linear-time algorithms for testing the satisfiability of
    propositional Horn formulae, 1984; J. Doyle, A truth maintenance system, 1979.
    """
    n, m = digraph.n, digraph.m
    if policy not in POLICIES:
        raise InvalidInput(f"no evidence policy {policy!r}: one of {', '.join(POLICIES)}", witness=policy)
    if form not in FORMS:
        raise InvalidInput(f"no support form {form!r}", witness=form)
    support = np.ones(m, np.bool_) if justifies is None else justifies
    if group.shape != (m,) or support.shape != (m,):
        raise InvalidInput("group and justifies have one entry an arc", witness=(group.shape, support.shape))
    faulty = node_mask(digraph, roots)
    affected = reach(digraph, faulty) & ~faulty
    kept_by = np.full(n, -1, np.int32)
    if policy == "none" or not affected.any():
        return Evidence(affected=affected, spared=np.zeros(n, np.bool_), group=kept_by)

    rules = _rules(digraph, group, affected, support, form, same_origin)
    supported = np.zeros(rules.n, np.bool_)
    supported[rules.head] = True
    unsupported = affected & ~supported[:n]
    stands = form == "alternatives"
    inside = np.zeros(rules.n, np.bool_)
    if stands:
        inside[:n] = ~faulty & ~affected
    else:
        inside[:n] = faulty | (affected if policy == "direct" else unsupported)
    by = _step(rules, inside, n) if policy == "direct" else _close(rules, inside)

    fired = by[:n] >= 0
    spared = affected & (fired if stands else ~fired) & ~unsupported
    if stands:
        kept_by[spared] = rules.number[by[:n][spared]]
    return Evidence(affected=affected, spared=spared, group=kept_by)


# the rule
# ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Rules:
    """Groups as Horn rules: `head` joins once every `tail` of its rule is inside.

    Nodes are the n of the graph, after them one for each set of one origin.
    """

    n: int
    head: npt.NDArray[np.int64]
    number: npt.NDArray[np.int64]
    tail: npt.NDArray[np.int64]
    rule: npt.NDArray[np.int64]


def _rules(
    digraph: Digraph,
    group: npt.NDArray[np.integer],
    affected: Mask,
    support: Mask,
    form: SupportForm,
    same_origin: Sequence[Sequence[int]],
) -> _Rules:
    kept = support & affected[digraph.heads]
    tail = digraph.tails()[kept].astype(np.int64)
    head = digraph.heads[kept].astype(np.int64)
    number = group[kept].astype(np.int64)
    n = digraph.n
    origin = _origins(digraph, same_origin)
    if origin is not None:
        copies = np.flatnonzero(origin >= 0)
        own = np.where(origin[tail] >= 0, n + origin[tail], tail)
        tail = np.concatenate((own, copies))
        head = np.concatenate((head, n + origin[copies]))
        # What stands needs all copies standing, one rule; what is gone needs one copy gone, a rule each.
        number = np.concatenate((number, copies if form == "requirements" else np.zeros(len(copies), int)))
        n += int(origin.max()) + 1
    order = np.lexsort((number, head))
    sorted_head, sorted_number = head[order], number[order]
    first = np.ones(len(order), np.bool_)
    first[1:] = (sorted_head[1:] != sorted_head[:-1]) | (sorted_number[1:] != sorted_number[:-1])
    return _Rules(
        n=n,
        head=sorted_head[first],
        number=sorted_number[first],
        tail=tail[order],
        rule=np.cumsum(first) - 1,
    )


def _origins(digraph: Digraph, same_origin: Sequence[Sequence[int]]) -> npt.NDArray[np.int64] | None:
    """Number of the set each node belongs to, -1 for those that are in none; None where there is no set."""
    members = [np.flatnonzero(node_mask(digraph, one)) for one in same_origin]
    pairs = [one for one in members if len(one) > 1]
    if not pairs:
        return None
    first = np.concatenate([np.repeat(one[:1], len(one)) for one in pairs])
    every = np.concatenate(pairs)
    joined = csr_array((np.ones(len(every)), (first, every)), shape=(digraph.n, digraph.n))
    _, label = connected_components(joined, directed=False)
    origin = np.full(digraph.n, -1, np.int64)
    _, origin[np.unique(every)] = np.unique(label[np.unique(every)], return_inverse=True)
    return origin


def _missing(rules: _Rules, inside: Mask) -> npt.NDArray[np.int64]:
    """How many tails of each rule are not inside."""
    return np.bincount(rules.rule[~inside[rules.tail]], minlength=len(rules.head))


def _step(rules: _Rules, inside: Mask, n: int) -> npt.NDArray[np.int64]:
    """The rule by which each node joins in one step, -1 where none does; origins, which are names, before."""
    by = np.full(rules.n, -1, np.int64)
    origins = np.flatnonzero((rules.head >= n) & (_missing(rules, inside) == 0))
    inside[rules.head[origins]] = True
    full = np.flatnonzero((rules.head < n) & (_missing(rules, inside) == 0))
    by[rules.head[full[::-1]]] = full[::-1]  # of several rules the first
    return by


def _close(rules: _Rules, inside: Mask) -> npt.NDArray[np.int64]:
    """The rule by which each node joins the least set that the rules close, -1 where none does."""
    by = np.full(rules.n, -1, np.int64)
    missing = _missing(rules, inside)
    full = np.flatnonzero((missing == 0) & ~inside[rules.head])
    by[rules.head[full[::-1]]] = full[::-1]
    joined = np.unique(rules.head[full])
    waiting = ~inside[rules.tail]
    uses = Digraph.from_arcs(
        max(rules.n, len(rules.head)), rules.tail[waiting], rules.rule[waiting]
    )  # from a node to the rules that wait for it; parallel arcs count as often as `missing` counts them
    # Plain lists and a loop over what joins: a step at a time in numpy would cost a call per step of a chain.
    offsets, rule_of = uses.offsets.tolist(), uses.heads.tolist()
    left, head_of, joined_by = missing.tolist(), rules.head.tolist(), by.tolist()
    taken = inside.tolist()
    queue = joined.tolist()
    for node in queue:
        taken[node] = True
    for node in queue:
        for rule in rule_of[offsets[node] : offsets[node + 1]]:
            left[rule] -= 1
            head = head_of[rule]
            if left[rule] == 0 and not taken[head]:
                taken[head] = True
                joined_by[head] = rule
                queue.append(head)
    return np.array(joined_by, np.int64)
