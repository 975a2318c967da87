"""Workloads with known provenance: texts that were made from texts, and every arc with them."""

from __future__ import annotations

import json
import lzma
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from memorepair.adapters import toolbench as toolbench_files
from memorepair.adapters.tau_bench.importer import read_import
from memorepair.graphs.terms import Kind, Relation
from memorepair.memory.artifact import Draft, Key
from memorepair.repair.audit.corpus import Item
from memorepair.repair.operators.operator import Input
from memorepair.repair.operators.regen import ExtractiveSummariser, Limits, Request

Arc = tuple[int, int]

DEPTH = 19
"""Summaries on a chain: the length at which missing arcs cost what the paper measured."""

_WRITER = ExtractiveSummariser()
_SCOPES = 8
_CHAINS = 3
_SHARED_RECORDS = 25
_SIDE_BRANCHES = 10
_ANSWERS = 14
_SENTENCES = 9
_KEPT = (6, 3)
_JOINED = 0.6
_SYLLABLES = ("ka", "lo", "mi", "ta", "re", "vo", "su", "ne", "pi", "ha", "do", "ri")
_FACTS = (
    "{a} shipped {n} items to {b} before the deadline.",
    "The order of {a} came to ${n} after the discount.",
    "The {b} office reported {n} units for the quarter.",
    "{a} handed contract {n} over to {b} without changes.",
    "{b} paid {a} the sum of {n} for repairs.",
)
_SYNONYMS: Mapping[str, Sequence[str]] = {
    "shipped": ("sent", "delivered"),
    "items": ("goods", "pieces"),
    "order": ("purchase", "request"),
    "office": ("branch", "bureau"),
    "reported": ("announced", "stated"),
    "contract": ("agreement", "deal"),
    "paid": ("gave", "transferred"),
    "repairs": ("maintenance", "fixes"),
    "deadline": ("date", "limit"),
    "discount": ("reduction", "rebate"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """Artifacts in order of birth with all arcs that are true.

    `roots` are where events begin, `circular` the arcs that were themselves told from content.
    """

    name: str
    items: tuple[Item, ...]
    arcs: tuple[Arc, ...]
    roots: tuple[int, ...]
    circular: frozenset[Arc] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewriting:
    """Share of the words that change when a sentence is taken over; `twins`: the roots are near copies.

    `extractive`: the embedded generator of repairs writes every derived text, and nothing is reworded.
    """

    replaced: float
    twins: bool = False
    extractive: bool = False


DEEP: Mapping[str, Rewriting] = {
    "light": Rewriting(replaced=0.08),
    "heavy": Rewriting(replaced=0.45),
    "dup": Rewriting(replaced=0.08, twins=True),
    "extractive": Rewriting(replaced=0.0, extractive=True),
}


def deep(
    family: str = "light", *, seed: int = 0, scopes: int = _SCOPES, requests: Sequence[str] = ()
) -> Workload:
    """Chains of extractive summaries with side branches and answers at their ends; no ids in the texts.

    Parameters
    ----------
    family
        Of `DEEP`.
    requests
        Sentences of real users, of which a third of the records consists; none where there are none.

    Notes
    -----
    The order of the draws is part of the contract: the same arguments give the same workload for ever.
    """
    return _Deep(DEEP[family], random.Random(f"{family} {seed}"), requests).made(f"deep {family}", scopes)


class _Deep:
    def __init__(self, rewriting: Rewriting, draw: random.Random, requests: Sequence[str]) -> None:
        self._rewriting = rewriting
        self._draw = draw
        self._requests = requests
        self._texts: list[list[str]] = []
        self._items: list[Item] = []
        self._arcs: list[Arc] = []
        self._roots: list[int] = []

    def made(self, name: str, scopes: int) -> Workload:
        for scope in range(scopes):
            self._scope(f"scope-{scope}")
        return Workload(name=name, items=tuple(self._items), arcs=tuple(self._arcs), roots=tuple(self._roots))

    def _scope(self, scope: str) -> None:
        draw = self._draw
        names = ["".join(draw.choices(_SYLLABLES, k=3)) for _ in range(30)]
        pool = [self._record(scope, self._fresh(names)) for _ in range(_SHARED_RECORDS)]
        first = self._fresh(names)
        tips = []
        for _ in range(_CHAINS):
            copy = [*first[:-1], self._sentence(names)] if self._rewriting.twins else self._fresh(names)
            tips.append(self._record(scope, copy))
        self._roots += tips
        sides = set(draw.sample(range(DEPTH * _CHAINS), _SIDE_BRANCHES))
        for step in range(DEPTH):
            for chain in draw.sample(range(_CHAINS), _CHAINS):
                parents = [tips[chain]]
                if draw.random() < _JOINED:
                    parents.append(draw.choice(pool))
                tips[chain] = self._derived(scope, "summary", parents)
                if step * _CHAINS + chain in sides:
                    self._derived(scope, "summary", [tips[chain], draw.choice(pool)])
        for tip in tips:
            for _ in range(_ANSWERS):
                self._derived(scope, "answer", [tip], most=(4,))

    def _fresh(self, names: Sequence[str]) -> list[str]:
        return [self._sentence(names) for _ in range(_SENTENCES)]

    def _sentence(self, names: Sequence[str]) -> str:
        draw = self._draw
        if self._requests and draw.random() < 1 / 3:
            return draw.choice(self._requests)
        number = f"{int(10 ** draw.uniform(1, 5)):,}"
        return draw.choice(_FACTS).format(a=draw.choice(names), b=draw.choice(names), n=number)

    def _record(self, scope: str, sentences: list[str]) -> int:
        return self._add(Item(scope=scope, kind="record", text=" ".join(sentences), original=True), sentences)

    def _derived(self, scope: str, kind: str, parents: list[int], most: Sequence[int] = _KEPT) -> int:
        if self._rewriting.extractive:
            return self._extracted(scope, kind, parents, most)
        taken = []
        for parent, kept in zip(parents, most, strict=False):
            there = self._texts[parent]
            taken += self._draw.sample(there, min(kept, len(there)))
        said = [self._rewritten(sentence) for sentence in taken]
        self._arcs += [(parent, len(self._items)) for parent in parents]
        return self._add(Item(scope=scope, kind=kind, text=" ".join(said), derived=True), said)

    def _extracted(self, scope: str, kind: str, parents: list[int], most: Sequence[int]) -> int:
        sources = tuple(
            Input(
                key=Key((scope,), str(parent)),
                version=1,
                kind=Kind.SUMMARY if self._items[parent].derived else Kind.RECORD,
                relation=Relation.DERIVE,
                content=self._items[parent].text,
            )
            for parent in parents
        )
        limits = Limits() if most is _KEPT else Limits(sentences=most[0])
        text = _WRITER.generate(Request(instruction="", sources=sources, limits=limits)).text
        self._arcs += [(parent, len(self._items)) for parent in parents]
        return self._add(Item(scope=scope, kind=kind, text=text, derived=True), [])

    def _rewritten(self, sentence: str) -> str:
        words = []
        for word in sentence.replace(",", "").split():
            bare = word.strip(".$").lower()
            if bare in _SYNONYMS and self._draw.random() < 0.3:
                word = self._draw.choice(_SYNONYMS[bare])
            elif self._draw.random() < self._rewriting.replaced and not any(map(str.isdigit, word)):
                word = "".join(self._draw.choices(_SYLLABLES, k=2))
            words.append(word)
        return " ".join(words)

    def _add(self, item: Item, sentences: list[str]) -> int:
        self._items.append(item)
        self._texts.append(sentences)
        return len(self._items) - 1


def requests_of(folder: Path) -> list[str]:
    """Sentences of the ToolBench queries under a folder, in order; none where the folder is not there."""
    found: dict[str, None] = {}
    for file in sorted((folder / "queries").glob("G*.json.xz")):
        with lzma.open(file, "rt", encoding="utf-8") as stream:
            for one in json.load(stream):
                for sentence in re.split(r"(?<=[.?!])\s+", one.get("query", "")):
                    if 30 < len(sentence) < 160:
                        found[sentence] = None
    return list(found)


def tau_bench(folder: Path, *, runs: int | None = None) -> Workload:
    """Recorded airline runs as our adapter imports them; messages that state results are circular.

    Parameters
    ----------
    runs
        Only the first so many; all where it is None.
    """
    drafts = read_import(folder).drafts
    named = list(dict.fromkeys(run for draft in drafts if (run := _run_of(draft.key)) is not None))
    kept = set(named if runs is None else named[:runs])
    chosen = [draft for draft in drafts if (run := _run_of(draft.key)) is None or run in kept]
    position = {draft.key: place for place, draft in enumerate(chosen)}
    arcs = {(position[read.key], position[draft.key]) for draft in chosen for read in draft.reads}
    told = {position[draft.key] for draft in chosen if draft.metadata.get("provenance") == "inferred"}
    rows = {u for u, v in arcs if _run_of(chosen[u].key) is None and _run_of(chosen[v].key) is not None}
    return Workload(
        name="tau-bench",
        items=tuple(_item(draft) for draft in chosen),
        arcs=tuple(sorted(arcs)),
        roots=tuple(sorted(row for row in rows if "@" not in chosen[row].key.id)),
        circular=frozenset(arc for arc in arcs if arc[1] in told),
    )


def toolbench(folder: Path) -> Workload:
    """Solution trees as their importer reads them; an entry is a scope, what tools promise is shared.

    Links from a query, an interface and a thought to the call right below are recorded. Which earlier
    result a call repeats was told from content (`circular`); what a thought or an answer reads, from
    position.
    """
    recording = toolbench_files.read(folder / "answers.jsonl.xz")
    position = {item.id: place for place, item in enumerate(recording.items)}
    told = {
        (position[link.tail], position[link.head])
        for link in recording.links
        if link.rule == toolbench_files.REPEATS
    }
    arcs = {(position[link.tail], position[link.head]) for link in recording.links}
    return Workload(
        name="toolbench",
        items=tuple(
            Item(
                scope="" if item.what == "interfaces" else item.id.partition("/")[0],
                kind=item.what,
                text=item.content,
                given=json.dumps(dict(item.recipe.params)) if item.recipe.params else "",
                original=item.what in ("interfaces", "queries"),
                derived=item.what not in ("interfaces", "queries"),
            )
            for item in recording.items
        ),
        arcs=tuple(sorted(arcs)),
        roots=tuple(sorted({u for u, _ in arcs})),
        circular=frozenset(told),
    )


def _run_of(key: Key) -> str | None:
    run, slash, _ = key.id.partition("/")
    return run if slash and run.startswith("run-") else None


def _item(draft: Draft) -> Item:
    tool = draft.metadata.get("tool")
    parts = [draft.kind.name.lower()]
    if isinstance(tool, str):
        parts.append(tool)
    elif draft.kind is Kind.SUMMARY:
        parts.append(draft.key.id.rpartition("/")[2].partition("-")[0])
    elif _run_of(draft.key) is None:
        parts.append(draft.key.id.partition("/")[0] if "/" in draft.key.id else "interface")
    return Item(
        scope=_run_of(draft.key) or "",
        kind=":".join(parts),
        text=draft.content,
        given=json.dumps(dict(draft.recipe.params)) if draft.recipe.params else "",
        original=_run_of(draft.key) is None,
        derived=draft.kind is not Kind.RECORD,
    )


def _deep_of(family: str) -> Callable[[int, Path], Workload]:
    return lambda seed, data: deep(family, seed=seed, requests=requests_of(data / "traces-toolbench"))


FAMILIES: Mapping[str, Callable[[int, Path], Workload]] = {
    **{f"deep-{family}": _deep_of(family) for family in DEEP},
    "tau-bench": lambda seed, data: tau_bench(data / "traces-tau-bench", runs=68),
    "toolbench": lambda seed, data: toolbench(data / "traces-toolbench"),
}
"""Families by name: (seed, folder of the data) -> workload; recorded ones are the same for every seed."""
