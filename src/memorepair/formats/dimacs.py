"""DIMACS maximum-flow files, ``p max``: a network between a source and a sink.

Source: D. S. Johnson, C. C. McGeoch (editors), Network Flows and Matching: First DIMACS Implementation
Challenge, 1993. Beyond it, parallel arcs, loops and capacities of 64 bits are read and written.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import numpy as np

from memorepair.errors import InvalidFile, InvalidInput
from memorepair.formats.format import Content
from memorepair.formats.text import count, fault, integer, lines, place, read_text, write_text
from memorepair.graphs.network import VALUE_LIMIT, MinCutNetwork
from memorepair.integers import exact_total, profits
from memorepair.problems import SelectionInstance


class Dimacs:
    """DIMACS ``p max``."""

    name: ClassVar[str] = "dimacs"
    suffixes: ClassVar[tuple[str, ...]] = (".max",)

    def read(self, path: Path, /) -> MinCutNetwork:
        """The network; its nodes count from 0, one less than in the file."""
        return parse_network(read_text(path))

    def write(self, content: Content, path: Path, /) -> None:
        """A network as it is; an instance as the network whose minimum cut is its closure."""
        if isinstance(content, SelectionInstance):
            network, comments = closure_network(content)
        else:
            network, comments = content, []
        write_text(path, format_network(network, comments))


def parse_network(text: str) -> MinCutNetwork:
    """The network that `text` spells.

    Raises
    ------
    InvalidFile
        A line is not in the format, out of its order, or one line too many (witness: its number); a line is
        missing (witness: the last number).
    """
    n = m = -1
    ends: dict[str, int] = {}
    arcs: list[tuple[int, int, int]] = []
    line = 0
    for line, content in lines(text):
        kind, *fields = content.split()
        if kind == "c" or (kind[0] == "c" and n < 0):
            continue
        if kind == "p":
            if n >= 0 or len(fields) != 3 or fields[0] != "max":
                raise fault(line, "expected one problem line, 'p max NODES ARCS'")
            n, m = count(fields[1], line, "number of nodes"), count(fields[2], line, "number of arcs")
        elif n < 0:
            raise fault(line, "the problem line, 'p max NODES ARCS', must come first")
        elif kind == "n":
            if len(fields) != 2 or fields[1] not in ("s", "t") or fields[1] in ends or arcs:
                raise fault(line, "expected 'n NODE s' and 'n NODE t', once each, before the arcs")
            ends[fields[1]] = place(fields[0], line, "node", 1, n)
        elif kind == "a":
            if len(fields) != 3 or len(ends) < 2:
                raise fault(line, "expected 'a TAIL HEAD CAPACITY', after source and sink")
            if len(arcs) == m:
                raise fault(line, f"more than the {m} arcs announced")
            capacity = integer(fields[2], line, "capacity")
            if not 0 <= capacity <= VALUE_LIMIT:
                raise fault(line, f"capacity {capacity} is outside 0 .. {VALUE_LIMIT}")
            arcs.append(
                (place(fields[0], line, "tail", 1, n), place(fields[1], line, "head", 1, n), capacity)
            )
        else:
            raise fault(line, f"unknown kind of line {kind[:20]!r}")
    if len(ends) < 2 or len(arcs) < m:
        raise fault(line, f"the file ends with {len(ends)} of 2 ends and {len(arcs)} of {max(m, 0)} arcs")
    table = np.array(arcs, np.int64).reshape(-1, 3)
    try:
        return MinCutNetwork(
            n=n,
            tails=table[:, 0].astype(np.int32),
            heads=table[:, 1].astype(np.int32),
            capacities=np.ascontiguousarray(table[:, 2]),
            source=ends["s"],
            sink=ends["t"],
        )
    except InvalidInput as error:
        raise InvalidFile(f"the network is none: {error}", witness=error.witness) from error


def format_network(network: MinCutNetwork, comments: list[str]) -> str:
    """`network` as text, arcs in order, after `comments`."""
    columns = zip(
        (network.tails + np.int64(1)).tolist(),
        (network.heads + np.int64(1)).tolist(),
        network.capacities.tolist(),
        strict=True,
    )
    return "\n".join(
        [
            *(f"c {comment}" for comment in comments),
            f"p max {network.n} {network.m}",
            f"n {network.source + 1} s",
            f"n {network.sink + 1} t",
            *(f"a {tail} {head} {capacity}" for tail, head, capacity in columns),
            "",
        ]
    )


def closure_network(instance: SelectionInstance) -> tuple[MinCutNetwork, list[str]]:
    """The network whose minimum cuts are the optimal closures of `instance`, with words on how to read it.

    Candidates are the nodes 0 .. k - 1, then the source k, the sink k + 1. With P the sum of positive profits
    the source side of a minimum cut of capacity u is an optimal closure worth P - u; a cut of `uncuttable` or
    more says that there is no feasible one.

    Raises
    ------
    InvalidFile
        The instance has a budget, or its profits are no integers below 2^62 in a common unit.
    """
    if instance.budget is not None:
        raise InvalidFile("a network cannot hold a budget", witness="budget")
    priced = profits(instance.value, instance.cost, instance.tradeoff)
    if priced.loss:
        raise InvalidFile("the profits have no common unit in which they fit 62 bits", witness=priced.loss)
    profit, requires, k = priced.profit, instance.requires, instance.k
    gains, expenses = np.flatnonzero(profit > 0), np.flatnonzero(profit < 0)
    barred, required = np.flatnonzero(~instance.executable), np.flatnonzero(instance.required)
    # A feasible closure costs at most P + N, N the sum of what is negative: an arc of 1 + P + N is in no
    # minimum cut. Only one such arc leaves the source, to the first required node; a ring of uncuttable arcs
    # ties the others to it, so that the capacity out of the source, at most 1 + 2 P + N < 2^63, fits int64.
    uncuttable = 1 + exact_total(profit[gains]) - exact_total(profit[expenses])
    source, sink = np.int64(k), np.int64(k + 1)
    tails = (requires.tails(), np.full(len(gains), source), expenses, barred, required[:-1], required[1:])
    heads = (
        requires.heads,
        gains,
        np.full(len(expenses), sink),
        np.full(len(barred), sink),
        required[1:],
        required[:-1],
    )
    first = required[:1]
    hard = len(barred) + 2 * max(len(required) - 1, 0) + len(first)
    network = MinCutNetwork(
        n=k + 2,
        tails=np.concatenate((*tails, np.full(len(first), source))).astype(np.int32),
        heads=np.concatenate((*heads, first)).astype(np.int32),
        capacities=np.concatenate(
            (
                np.full(requires.m, uncuttable),
                profit[gains],
                -profit[expenses],
                np.full(hard, uncuttable),
            )
        ).astype(np.int64),
        source=k,
        sink=k + 1,
    )
    comments = [
        "maximum closure as minimum cut: the source side holds the chosen candidates",
        f"candidate i is node i + 1, the source {k + 1}, the sink {k + 2}",
        f"capacities are in units of 1/({priced.scale})",
        f"positive profits add up to {exact_total(profit[gains])}",
        f"uncuttable is {uncuttable}: a cut of that much says that no closure is feasible",
    ]
    return network, comments
