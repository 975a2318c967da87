"""The five workloads of the experiment as worlds: three recorded ones, two that are generated."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from bench.cascade.supports import with_supports
from bench.cascade.tasks import tasks
from bench.cascade.world import REPLAYED, World, replayed, revised, with_children
from bench.workloads import Workload, deep, requests_of
from memorepair.adapters import swe_agent as swe_agent_files
from memorepair.adapters import toolbench as toolbench_files
from memorepair.adapters.tau_bench.database import interface_id
from memorepair.adapters.tau_bench.events import with_state
from memorepair.adapters.tau_bench.importer import key as tau_key
from memorepair.adapters.tau_bench.importer import read_import
from memorepair.adapters.tau_bench.operators import PROVINCE_TO_STATE
from memorepair.adapters.tau_bench.statements import values_of_result, values_of_text
from memorepair.adapters.words import telling
from memorepair.graphs.terms import Kind, Relation
from memorepair.memory.artifact import Draft, Key, Read, Recipe, Source
from memorepair.repair.operators.recompute import FunctionOperator

_REPLAY = Recipe(operator=REPLAYED)
_INTERFACE = "interface"


def tau_bench(data: Path, seed: int, *, quick: bool) -> World:
    """Recorded airline runs: tools are replayed over the rows they looked at; only texts are written anew."""
    del seed  # recorded
    drafts = read_import(data / "traces-tau-bench").drafts
    if quick:
        drafts = _first_runs(drafts, 24)
    drafts = with_supports(
        drafts,
        states=lambda draft: values_of_text(draft.content),
        brings=lambda draft: values_of_result(draft.content),
        replaceable=lambda draft, read: draft.kind is Kind.SUMMARY and "/call-" in read.id,
    )
    used = with_children(drafts)
    rows = [one.key for one in drafts if "/" in one.key.id and "@" not in one.key.id and used[one.key]]
    shared = tuple(key for key in rows if not key.id.startswith("run-"))
    calls = tuple(one.key for one in drafts if one.key.id.startswith("run-") and one.kind is Kind.CACHE)
    users = tau_key(interface_id("users"))
    return World(
        name="tau-bench",
        drafts=drafts,
        deletable=(*shared, *calls),
        correctable=shared,
        migratable=(users,),
        rows=PROVINCE_TO_STATE,
        revise=revised,
        renew=lambda content, draw: with_state(content),
        renewed=lambda key: tau_key(interface_id("users", 2)) if key == users else key,
    )


def _first_runs(drafts: tuple[Draft, ...], count: int) -> tuple[Draft, ...]:
    """What the first runs hold, and of the database what they looked at."""
    runs = list(dict.fromkeys(run for one in drafts if (run := _run(one.key)) is not None))[:count]
    kept = {one.key for one in drafts if _run(one.key) in runs}
    needed = {read.key for one in drafts if one.key in kept for read in one.reads} | kept
    interfaces = {read.key for one in drafts if one.key in needed for read in one.reads}
    return tuple(one for one in drafts if one.key in needed | interfaces)


def _run(key: Key) -> str | None:
    run, slash, _ = key.id.partition("/")
    return run if slash and run.startswith("run-") else None


def toolbench(data: Path, seed: int, *, quick: bool) -> World:
    """Recorded solution trees; the web answers as recorded, with what its inputs changed (`replayed`)."""
    del seed, quick
    recording = toolbench_files.read(data / "traces-toolbench" / "answers.jsonl.xz")
    drafts = tuple(
        replace(draft, recipe=_REPLAY) if draft.recipe.observed else draft
        for draft in recording.drafts(("toolbench",))
    )
    results = {one.key for one in drafts if one.metadata["what"] == "results"}
    drafts = with_supports(
        drafts,
        states=lambda draft: telling(_told(draft)),
        brings=lambda draft: telling(draft.content),
        replaceable=lambda draft, read: read in results and draft.metadata["what"] in ("results", "answers"),
    )
    return World(
        name="toolbench",
        drafts=drafts,
        operators=(replayed(drafts),),
        deletable=tuple(one.key for one in drafts if one.kind is Kind.CACHE),
        correctable=tuple(one.key for one in drafts if one.metadata["what"] in ("queries", "results")),
        migratable=tuple(one.key for one in drafts if one.metadata["what"] == "interfaces"),
        revise=revised,
        renew=revised,
    )


def _told(draft: Draft) -> str:
    """The arguments of a call, the text of anything else."""
    return json.dumps(dict(draft.recipe.params)) if draft.kind is Kind.CACHE else draft.content


def swe_agent(data: Path, seed: int, *, quick: bool) -> World:
    """Recorded trajectories; looks are replayed as recorded, edits and patches never.

    A record a command stands for its interface, which the files do not hold.
    """
    del seed, quick
    scope = ("swe-agent",)
    recording = swe_agent_files.read(data / "traces-swe-agent")
    found = recording.drafts(scope)
    text = {draft.key: draft.content for draft in found}
    edits = {
        link.tail for link in recording.links if link.rule in (swe_agent_files.EDITS, swe_agent_files.SUBMITS)
    }
    commands: dict[str, Draft] = {}
    drafts: list[Draft] = []
    for draft in found:
        if draft.metadata["what"] == "observations":
            action = Key(scope, draft.key.id.removesuffix("observation") + "action")
            word = (text[action].rstrip().splitlines() or ["nothing"])[-1].split()
            name = f"command/{word[0] if word and word[0].isalpha() else 'shell'}"
            contract = f"{name} takes one line and prints what it found."
            known = Draft(key=Key(scope, name), content=contract, source=Source.SYSTEM)
            commands.setdefault(name, known)
            reads = (*draft.reads, Read(key=known.key, relation=Relation.PRODUCE))
            recipe = draft.recipe if draft.key.id in edits else _REPLAY
            draft = replace(draft, reads=reads, recipe=recipe)
        drafts.append(draft)
    repeated = {
        (Key(scope, link.head), Key(scope, link.tail))
        for link in recording.links
        if link.rule == swe_agent_files.REPEATS
    }
    whole = with_supports(
        (*commands.values(), *drafts),
        states=lambda draft: telling(draft.content),
        brings=lambda draft: telling(draft.content),
        replaceable=lambda draft, read: (draft.key, read) in repeated,
    )
    looks = tuple(one.key for one in drafts if one.recipe.operator == REPLAYED)
    return World(
        name="swe-agent",
        drafts=whole,
        operators=(replayed(whole),),
        deletable=looks,
        correctable=(*(one.key for one in drafts if one.metadata["what"] == "issues"), *looks),
        migratable=tuple(one.key for one in commands.values()),
        revise=revised,
        renew=revised,
    )


_SPELLED = FunctionOperator(
    name="bench.spelled",
    function=lambda call: (call.own or "").replace("$", "EUR "),
    reads_own_version=True,
)


def deep_chains(data: Path, seed: int, *, quick: bool) -> World:
    """The deep single-path family; its texts come from the extractive generator, so a repair writes alike."""
    made = deep(
        "extractive", seed=seed, scopes=3 if quick else 8, requests=requests_of(data / "traces-toolbench")
    )
    return deep_world(made)


def deep_world(made: Workload) -> World:
    """A deep workload as a world; the first records of a scope follow an interface of their own."""
    keys = [Key((item.scope,), f"{item.kind}-{place}") for place, item in enumerate(made.items)]
    reads: list[list[Read]] = [[] for _ in keys]
    for parent, child in made.arcs:
        reads[child].append(Read(key=keys[parent]))
    scopes = list(dict.fromkeys(item.scope for item in made.items))
    interfaces = {
        scope: Draft(key=Key((scope,), _INTERFACE), content='{"currency": "dollars"}', source=Source.SYSTEM)
        for scope in scopes
    }
    for root in made.roots:
        reads[root].append(Read(key=interfaces[made.items[root].scope].key, relation=Relation.SUPPORT))
    drafts = [
        Draft(
            key=key,
            content=item.text,
            kind=Kind.SUMMARY if item.derived else Kind.RECORD,
            recipe=Recipe(operator="summarise", params=_LIMITS[item.kind]) if item.derived else Recipe(),
            reads=tuple(reads[place]),
        )
        for place, (key, item) in enumerate(zip(keys, made.items, strict=True))
    ]
    records = tuple(key for key, item in zip(keys, made.items, strict=True) if item.original)
    return World(
        name="deep",
        drafts=(*interfaces.values(), *drafts),
        operators=(_SPELLED,),
        deletable=records,
        correctable=records,
        migratable=tuple(draft.key for draft in interfaces.values()),
        rows="bench.spelled@1",
        revise=revised,
        renew=lambda content, draw: content.replace("dollars", "euros"),
    )


_LIMITS = {"summary": {"characters": 600}, "answer": {"sentences": 4}}


WORLDS: Mapping[str, Callable[..., World]] = {
    "tau-bench": tau_bench,
    "toolbench": toolbench,
    "swe-agent": swe_agent,
    "deep": deep_chains,
    "tasks": lambda data, seed, *, quick: tasks(seed, 6 if quick else 20),
}


def make(name: str, data: Path, seed: int, *, quick: bool) -> World:
    """The world of a workload."""
    return WORLDS[name](data, seed, quick=quick)
