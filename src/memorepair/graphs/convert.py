"""Doors to other libraries: networkx graphs, SciPy sparse matrices."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import numpy as np
from scipy.sparse import coo_array, coo_matrix, csc_array, csc_matrix, csr_array, csr_matrix

from memorepair.errors import InvalidInput, MissingDependency
from memorepair.graphs.digraph import Digraph
from memorepair.graphs.provenance import ProvenanceGraph
from memorepair.graphs.terms import Arch, Kind, Relation

if TYPE_CHECKING:
    import networkx as nx

Id = TypeVar("Id", bound=Hashable)
Sparse: TypeAlias = csr_array | csc_array | coo_array | csr_matrix | csc_matrix | coo_matrix


def to_networkx(digraph: Digraph, labels: Sequence[Hashable] | None = None) -> nx.DiGraph:
    """The digraph as a `networkx.DiGraph`, nodes and arcs in order.

    Parameters
    ----------
    digraph
        n nodes, m arcs. Parallel arcs become one, as a DiGraph holds no others.
    labels
        n different hashable names; the default is 0 .. n - 1.

    Raises
    ------
    InvalidInput
        The labels are not n different ones.
    MissingDependency
        networkx is not installed.
    """
    networkx = _networkx()

    names = range(digraph.n) if labels is None else labels
    if len(names) != digraph.n or len(set(names)) != digraph.n:
        raise InvalidInput(f"labels must be {digraph.n} different names", witness=len(set(names)))
    graph: nx.DiGraph = networkx.DiGraph()
    graph.add_nodes_from(names)
    arcs = zip(digraph.tails().tolist(), digraph.heads.tolist(), strict=True)
    graph.add_edges_from((names[tail], names[head]) for tail, head in arcs)
    return graph


def from_networkx(graph: nx.Graph) -> tuple[Digraph, tuple[Hashable, ...]]:
    """A directed networkx graph as a digraph with the label of each node.

    Parameters
    ----------
    graph
        A DiGraph or a MultiDiGraph; attributes are left behind.

    Returns
    -------
    Digraph
        Node k is the k-th of ``graph.nodes``; parallel arcs are kept.
    tuple
        The n labels.

    Raises
    ------
    InvalidInput
        The graph is undirected.
    """
    if not graph.is_directed():
        raise InvalidInput("an undirected graph has no arcs to follow", witness=type(graph).__name__)
    labels = tuple(graph.nodes)
    number = {label: node for node, label in enumerate(labels)}
    arcs = [(number[tail], number[head]) for tail, head in graph.edges()]
    ends = np.array(arcs, np.int64).reshape(-1, 2)
    return Digraph.from_arcs(len(labels), ends[:, 0], ends[:, 1]), labels


def provenance_to_networkx(graph: ProvenanceGraph[Id]) -> nx.MultiDiGraph:
    """A provenance graph as a `networkx.MultiDiGraph` with attributes in words.

    Nodes carry ``kind``, ``arch``, ``born``. Arcs carry ``layer``: "semantic", or "influence" with
    ``relation`` and ``group``. The graph carries ``support_form``. Kinds and relations are lower-case names.

    Raises
    ------
    MissingDependency
        networkx is not installed.
    """
    networkx = _networkx()

    result: nx.MultiDiGraph = networkx.MultiDiGraph(support_form=graph.support_form)
    ids = graph.ids
    described = zip(ids, graph.kind.tolist(), graph.arch.tolist(), graph.born.tolist(), strict=True)
    for id, kind, arch, born in described:
        result.add_node(id, kind=Kind(kind).name.lower(), arch=Arch(arch).name.lower(), born=born)
    arcs = zip(
        graph.influence.tails().tolist(),
        graph.influence.heads.tolist(),
        graph.relation.tolist(),
        graph.group.tolist(),
        strict=True,
    )
    for tail, head, relation, group in arcs:
        name = Relation(relation).name.lower()
        result.add_edge(ids[tail], ids[head], layer="influence", relation=name, group=group)
    for tail, head in zip(graph.semantic.tails().tolist(), graph.semantic.heads.tolist(), strict=True):
        result.add_edge(ids[tail], ids[head], layer="semantic")
    return result


def to_csr(digraph: Digraph) -> csr_array:
    """The adjacency matrix, (n, n) int8: an entry 1 for each arc, row its tail, column its head.

    Parallel arcs are parallel entries, in the digraph's arc order.
    The matrix has its own copy of the arrays.
    """
    shape = (digraph.n, digraph.n)
    return csr_array((np.ones(digraph.m, np.int8), digraph.heads, digraph.offsets), shape=shape, copy=True)


def to_coo(digraph: Digraph) -> coo_array:
    """The matrix of `to_csr` as coordinates: ``row`` holds the tails, ``col`` the heads."""
    shape = (digraph.n, digraph.n)
    return coo_array((np.ones(digraph.m, np.int8), (digraph.tails(), digraph.heads)), shape=shape, copy=True)


def from_sparse(matrix: Sparse) -> Digraph:
    """A digraph with an arc for each stored entry of a square sparse matrix that is not zero.

    Raises
    ------
    InvalidInput
        The matrix is not square, or too large for int32.
    """
    shape: tuple[int, ...] = matrix.shape
    if len(shape) != 2 or shape[0] != shape[1]:
        raise InvalidInput("an adjacency matrix must be square", witness=shape)
    entries = matrix.tocoo()
    stored = entries.data != 0
    return Digraph.from_arcs(shape[0], entries.row[stored], entries.col[stored])


def _networkx() -> ModuleType:
    try:
        return import_module("networkx")
    except ImportError as error:
        hint = 'pip install "memorepair[solvers]"'
        raise MissingDependency(f"networkx is not installed: {hint}", witness="networkx") from error
