"""Evidence: which members of a cascade stay, because they stand on support that the fault has not reached."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from memorepair.errors import InvalidInput
from memorepair.graphs.digraph import Digraph
from memorepair.graphs.reach import reach
from memorepair.graphs.support import POLICIES, Policy, weigh
from memorepair.graphs.terms import PROPAGATING
from memorepair.memory.artifact import Key
from memorepair.memory.store import Store


def check_policy(policy: str) -> None:
    """Refuse what is no evidence policy."""
    if policy not in POLICIES:
        raise InvalidInput(f"no evidence policy {policy!r}: one of {', '.join(POLICIES)}", witness=policy)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lineage:
    """A cascade with what spares some of its members.

    Attributes
    ----------
    members
        C(F), roots included, in order of keys.
    spared
        Those that stay -> what they stand on: the members of one support group.
    """

    members: tuple[Key, ...]
    spared: Mapping[Key, tuple[Key, ...]]


def read_lineage(
    store: Store,
    roots: Sequence[Key],
    policy: Policy,
    *,
    every_version: bool = False,
    same_origin: Sequence[Sequence[Key]] = (),
) -> Lineage:
    """The cascade of `roots` as the store has it now, and what of it `policy` spares; O(members + arcs).

    Parameters
    ----------
    policy
        See `memorepair.graphs.weigh`; groups are alternatives.
    every_version
        The event concerns the former versions of its roots too.
    same_origin
        Sets of artifacts that say the same because one was copied from another: each counts as one source.

    Raises
    ------
    UnknownId
        A root does not exist.
    InvalidInput
        There is no such policy.
    """
    check_policy(policy)
    members = sorted(store.reached(roots, every_version=every_version))
    if policy == "none":
        return Lineage(members=tuple(members), spared=MappingProxyType({}))
    arcs = [arc for arc in store.support(members) if arc.relation in PROPAGATING]
    keys = [*members, *sorted({arc.parent for arc in arcs} - set(members))]
    place = {key: number for number, key in enumerate(keys)}
    tails = np.array([place[arc.parent] for arc in arcs], np.int64)
    heads = np.array([place[arc.child] for arc in arcs], np.int64)
    digraph = Digraph.from_arcs(len(keys), tails, heads)
    order = np.argsort(tails, kind="stable")  # arcs are numbered by tail
    group = np.array([arc.group for arc in arcs], np.int64)[order]

    # What is out of service already justifies nothing; what the event reaches through former versions alone
    # is as faulty as a root, for the arcs between current versions do not tell.
    faulty = np.zeros(len(keys), np.bool_)
    faulty[[place[root] for root in roots]] = True
    faulty[[place[arc.parent] for arc in arcs if not arc.parent_served]] = True
    faulty[: len(members)] |= ~reach(digraph, faulty)[: len(members)]
    evidence = weigh(
        digraph,
        group,
        faulty,
        policy=policy,
        same_origin=[[place[key] for key in same if key in place] for same in same_origin],
    )
    stands: dict[Key, list[Key]] = {}
    for arc in arcs:
        number = place[arc.child]
        if evidence.spared[number] and evidence.group[number] == arc.group:
            stands.setdefault(arc.child, []).append(arc.parent)
    return Lineage(
        members=tuple(members),
        spared=MappingProxyType({key: tuple(dict.fromkeys(on)) for key, on in sorted(stands.items())}),
    )
