"""Directed graphs as arrays, which know nothing of memory or repair.

=========== ==========================================================================================
module      what it holds
=========== ==========================================================================================
digraph     `Digraph`, two read-only arrays; `arc_order` for attributes that follow the arcs
terms       `Kind`, `Arch`, `Relation`, and the relations a cascade follows, `PROPAGATING`
provenance  `ProvenanceGraph` with its `ProvenanceBuilder`: influence, semantic similarity, births
support     `weigh`, what affected nodes stand on beside: `Evidence` by a `Policy` and a `SupportForm`;
            `POLICIES` and `FORMS` list them
reach       `reach` forward, `slice_to` backward, `node_mask` for sets given either way
order       `waves` of prerequisites, `strong_components`, `find_cycle`
closure     `least_closed_superset`, `greatest_closed_subset`, `is_closed`, `violated_arc`
network     `MinCutNetwork`, and `Cut`, which carries the flow that proves it minimum
convert     to and from networkx, SciPy
generate    `generate`, seeded families of instances; `FAMILIES` lists them
=========== ==========================================================================================

Nodes are numbered 0 .. n - 1, arcs 0 .. m - 1 grouped by tail, both in int32. A set of nodes is a boolean
mask of shape (n,). Everything is linear in n + m, without recursion on the depth of the data.
"""

from __future__ import annotations

from memorepair.graphs.closure import (
    greatest_closed_subset,
    is_closed,
    least_closed_superset,
    violated_arc,
)
from memorepair.graphs.convert import (
    from_networkx,
    from_sparse,
    provenance_to_networkx,
    to_coo,
    to_csr,
    to_networkx,
)
from memorepair.graphs.digraph import Digraph, arc_order
from memorepair.graphs.generate import FAMILIES, GeneratedInstance, generate
from memorepair.graphs.network import Cut, MinCutNetwork
from memorepair.graphs.order import find_cycle, strong_components, waves
from memorepair.graphs.provenance import ProvenanceBuilder, ProvenanceGraph
from memorepair.graphs.reach import node_mask, reach, slice_to
from memorepair.graphs.support import FORMS, POLICIES, Evidence, Policy, SupportForm, weigh
from memorepair.graphs.terms import PROPAGATING, Arch, Kind, Relation

__all__ = [
    "FAMILIES",
    "FORMS",
    "POLICIES",
    "PROPAGATING",
    "Arch",
    "Cut",
    "Digraph",
    "Evidence",
    "GeneratedInstance",
    "Kind",
    "MinCutNetwork",
    "Policy",
    "ProvenanceBuilder",
    "ProvenanceGraph",
    "Relation",
    "SupportForm",
    "arc_order",
    "find_cycle",
    "from_networkx",
    "from_sparse",
    "generate",
    "greatest_closed_subset",
    "is_closed",
    "least_closed_superset",
    "node_mask",
    "provenance_to_networkx",
    "reach",
    "slice_to",
    "strong_components",
    "to_coo",
    "to_csr",
    "to_networkx",
    "violated_arc",
    "waves",
    "weigh",
]
