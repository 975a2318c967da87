"""DIMACS maximum-flow files, ``p max``: a network between a source and a sink.

Source: D. S. Johnson, C. C. McGeoch (editors), Network Flows and Matching: First DIMACS Implementation
Challenge, 1993. Beyond it, parallel arcs, loops and capacities of 64 bits are read and written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Final

import numpy as np

from memorepair.errors import InvalidFile, InvalidInput
from memorepair.formats.format import Content
from memorepair.formats.linear import check_counted, plain_names
from memorepair.formats.text import count, fault, integer, place, read_text, write_text
from memorepair.graphs.digraph import Int64
from memorepair.graphs.network import VALUE_LIMIT, MinCutNetwork
from memorepair.problems import SelectionInstance
from memorepair.problems.integers import digits, exact_total, fraction
from memorepair.problems.profits import profits

_BLOCK: Final = 1 << 16
_NOT_PLAIN = re.compile(r"[^a0-9 \t\r]|[0-9]{19}")  # 18 digits fit int64


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
    rows = text.rstrip().split("\n")
    head = _Head()
    done = head.read(rows)
    tables = [np.zeros((0, 3), np.int64)]
    found = 0
    for start in range(done, len(rows), _BLOCK):
        block = rows[start : start + _BLOCK]
        table = _plain_arcs(block, head, head.m - found)
        tables.append(_arcs(block, start + 1, head, head.m - found) if table is None else table)
        found += len(tables[-1])
    if found < head.m or len(head.ends) < 2:
        ends = f"{len(head.ends)} of 2 ends and {found} of {max(head.m, 0)} arcs"
        raise fault(len(rows), f"the file ends with {ends}")
    table = np.concatenate(tables)
    try:
        return MinCutNetwork(
            n=head.n,
            tails=(table[:, 0] - 1).astype(np.int32),
            heads=(table[:, 1] - 1).astype(np.int32),
            capacities=np.ascontiguousarray(table[:, 2]),
            source=head.ends["s"],
            sink=head.ends["t"],
        )
    except InvalidInput as error:
        raise fault(len(rows), f"the file ends, and the network is none: {error}") from error


@dataclass(slots=True)
class _Head:
    """What stands before the arcs."""

    n: int = -1
    m: int = -1
    ends: dict[str, int] = field(default_factory=dict)

    def read(self, rows: list[str]) -> int:
        """Read up to the first arc; the number of rows read."""
        for line, row in enumerate(rows, 1):
            fields = row.split()
            if not fields or _is_comment(fields):
                continue
            kind = fields[0]
            if kind == "p":
                if self.n >= 0 or len(fields) != 4 or fields[1] != "max":
                    raise fault(line, "expected one problem line, 'p max NODES ARCS'")
                self.n = count(fields[2], line, "number of nodes")
                self.m = count(fields[3], line, "number of arcs")
            elif self.n < 0:
                raise fault(line, "the problem line, 'p max NODES ARCS', must come first")
            elif kind == "n":
                if len(fields) != 3 or fields[2] not in ("s", "t") or fields[2] in self.ends:
                    raise fault(line, "expected 'n NODE s' and 'n NODE t', once each")
                self.ends[fields[2]] = place(fields[1], line, "node", 1, self.n)
            elif len(self.ends) < 2:
                raise fault(line, "expected 'n NODE s' and 'n NODE t' before the arcs")
            else:
                return line - 1
        return len(rows)


def _plain_arcs(block: list[str], head: _Head, left: int) -> Int64 | None:
    """Tails, heads, capacities of rows that are all arcs, (rows, 3); None where one is anything else."""
    joined = " ".join(block)
    if not joined.isascii() or _NOT_PLAIN.search(joined) or not all(row.startswith("a ") for row in block):
        return None
    # Each row begins with an "a" of its own. There are as many as rows and one in each four words: so four
    # words make a row.
    words = joined.split()
    if len(words) != 4 * len(block) or words[::4].count("a") != len(block) or len(block) > left:
        return None
    table = np.array([int(word) for place, word in enumerate(words) if place % 4], np.int64).reshape(-1, 3)
    ends = table[:, :2]
    return table if ends.min() >= 1 and ends.max() <= head.n else None


def _arcs(block: list[str], first: int, head: _Head, left: int) -> Int64:
    """The same of any rows, one by one: the first fault is named."""
    arcs: list[tuple[int, int, int]] = []
    for line, row in enumerate(block, first):
        fields = row.split()
        if not fields or _is_comment(fields):
            continue
        if fields[0] != "a" or len(fields) != 4:
            raise fault(line, f"expected 'a TAIL HEAD CAPACITY', not {row.strip()[:40]!r}")
        if len(arcs) == left:
            raise fault(line, f"more than the {head.m} arcs announced")
        capacity = integer(fields[3], line, "capacity")
        if not 0 <= capacity <= VALUE_LIMIT:
            raise fault(line, f"capacity {capacity} is outside 0 .. {VALUE_LIMIT}")
        ends = [place(fields[at], line, what, 1, head.n) + 1 for at, what in ((1, "tail"), (2, "head"))]
        arcs.append((ends[0], ends[1], capacity))
    return np.array(arcs, np.int64).reshape(-1, 3)


def _is_comment(fields: list[str]) -> bool:
    return fields[0].startswith("c")


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
        The instance has a budget, or costs that no tradeoff counts, which the file would lose; or its profits
        are no integers below 2^62 in a common unit.
    """
    if instance.budget is not None:
        raise InvalidFile("a network cannot hold a budget", witness="budget")
    check_counted(instance)
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
        *_folded(instance),
        f"capacities are in units of 1/({digits(priced.scale)})",
        f"positive profits add up to {exact_total(profit[gains])}",
        f"uncuttable is {uncuttable}: a cut of that much says that no closure is feasible",
    ]
    return network, comments


def _folded(instance: SelectionInstance) -> list[str]:
    """What a reader of the file must know of costs and names, which it holds nowhere else."""
    words = []
    if instance.cost.any():
        price = digits(fraction(instance.tradeoff))
        words.append(f"a profit is value - {price} cost: value and cost alone are not in this file")
    return [*words, *(f"node {node} is {name}" for node, name in enumerate(plain_names(instance), 1))]
