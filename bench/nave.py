"""The nave on real input: three repair events on 136 recorded tau-bench runs.

    python -m bench.nave [--json] [--data DIR]

With ``--json`` the last line of standard output is one JSON object; progress goes to standard error.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from memorepair.adapters.tau_bench.answers import departures
from memorepair.adapters.tau_bench.events import declare, three_events
from memorepair.adapters.tau_bench.importer import Import, read_import
from memorepair.errors import MemoRepairError, Withdrawn
from memorepair.facade import Memory
from memorepair.memory.artifact import Draft, Key
from memorepair.repair.events import RepairEvent
from memorepair.repair.soundness import is_sound_publication

_WORD = re.compile(r"[\w.@-]{3,}")
_WORDS_TRIED = 3
_EXPLAINED = 20
"""`explain` may plan the whole case, so it is asked of so many members, spread over the cascade."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What an event did; counts of artifacts.

    `exposed` were readable behind the barrier, or are after the repair although they stay withdrawn.
    `cutoff` were released without execution, `unchanged` executed with the content they had. `cost_ratio` is
    the executed cost over that of all executable candidates, None where that is 0.
    """

    cascade: int
    exposed: int
    republished: int
    cutoff: int
    unchanged: int
    cost_ratio: float | None
    sound: bool


def _note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _step(what: str, done: int, of: int) -> None:
    if done == of or done % 50 == 0:
        _note(f"  {what}: {done} of {of}")


def readable(memory: Memory, members: Mapping[Key, Draft], corpus: Sequence[Draft]) -> set[Key]:
    """Members of a cascade whose imported version any serving verb still gives out."""
    told: set[Key] = set()
    for key in members:
        told.update(key for version in _given(memory, key) if version == 1)
        if any(past.version == 1 and past.content is not None for past in memory.history(key)):
            told.add(key)
    scopes = {key.scope for key in members}
    words = _rare_words(members, corpus)
    for scope in scopes:
        for word in words:
            hits = memory.search(word, scope=scope, limit=len(corpus))
            told |= {
                it.artifact.key for it in hits if it.artifact.key in members and it.artifact.version == 1
            }
        told |= {
            it.key for it in memory.list(scope=scope) if it.key in members and _tells(it, members[it.key])
        }
    keys = sorted(members)
    for key in keys[:: max(1, len(keys) // _EXPLAINED)]:
        if _tells(memory.explain(key), members[key]):
            told.add(key)
    for whole in (memory.status(), *(memory.plan(case).rows() for case in memory.status().open_cases)):
        text = repr(whole)
        told |= {key for key, draft in members.items() if _shows(text, draft)}
    return told


def _given(memory: Memory, key: Key) -> Iterator[int]:
    """Versions that a reader and a derivation are given."""
    with suppress(Withdrawn):
        yield memory.get(key).version
    with suppress(Withdrawn), memory.deriving(kind="summary") as derivation:
        yield derivation.read(key).version


def _tells(value: object, draft: Draft) -> bool:
    """Whether the content shows in a value that must hold none; shorter contents show by chance."""
    return _shows(repr(value), draft)


def _shows(text: str, draft: Draft) -> bool:
    return len(draft.content) > 8 and repr(draft.content)[1:-1] in text


def _rare_words(members: Mapping[Key, Draft], corpus: Sequence[Draft]) -> list[str]:
    """Of each member the words that the fewest artifacts hold: the searches most likely to find it."""
    spread = Counter(word for draft in corpus for word in set(_WORD.findall(draft.content)))
    found: set[str] = set()
    for draft in members.values():
        words = sorted(set(_WORD.findall(draft.content)), key=lambda word: (spread[word], word))
        found.update(words[:_WORDS_TRIED])
    return sorted(found)


def _copied(file: Path, name: str) -> Path:
    """A fresh copy of a closed memory with all that lies beside its file."""
    copy = file.parent / name / file.name
    copy.parent.mkdir()
    for part in file.parent.glob(f"{file.name}*"):
        shutil.copy2(part, copy.parent / part.name)
    return copy


def _event(file: Path, made: Import, event: RepairEvent) -> Figures:
    drafts = {draft.key: draft for draft in made.drafts}
    with Memory.open(file, create=False) as memory:
        before = memory.store.snapshot()
        case = declare(memory, event)
        members = {member.key: drafts[member.key] for member in memory.store.members(case.id)}
        _note(f"  withdrawn: {case.withdrawn}; knocking at every door")
        exposed = readable(memory, members, made.drafts)
        report = memory.repair(case, progress=_step)
        left = {member.key: members[member.key] for member in report.still_withdrawn}
        _note(f"  left withdrawn: {len(left)}; knocking again")
        exposed |= readable(memory, left, made.drafts)
        return Figures(
            cascade=case.withdrawn,
            exposed=len(exposed),
            republished=len(report.republished),
            cutoff=len(report.released),
            unchanged=len(report.unchanged),
            cost_ratio=report.cost_ratio,
            sound=is_sound_publication(before, event, memory.store.snapshot()),
        )


def run(folder: Path, workshop: Path) -> dict[str, object]:
    """All figures; files are made in the empty folder `workshop`."""
    _note("reading the runs")
    made = read_import(folder, progress=_step)
    file = workshop / "runs.db"
    with Memory.open(file) as memory:
        memory.ingest(made.drafts)
    figures: dict[str, Figures] = {}
    events = three_events(made.drafts)
    for name, event in events.items():
        _note(f"{name} {', '.join(map(str, event.roots))}")
        figures[name] = _event(_copied(file, name), made, event)
    _note("migrate, repairing all")
    with Memory.open(_copied(file, "all"), create=False) as memory:
        case = declare(memory, events["migrate"])
        memory.repair(case, solver="repair-all", progress=_step)
        departed = departures(memory, case, made.drafts, folder)
        for key, why in departed:
            _note(f"  {key} {why}")
    return {
        "artifacts": made.report.artifacts,
        "arcs": made.report.arcs,
        "read_agreement": made.report.reads.share,
        "migration_exact": not departed,
        "events": {name: asdict(one) for name, one in figures.items()},
    }


def _show(result: Mapping[str, object], figures: Mapping[str, Mapping[str, object]]) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    for name, value in result.items():
        if name != "events":
            console.print(f"{name}: {value}")
    table = Table("", *figures)
    for name in next(iter(figures.values())):
        cells = (one[name] for one in figures.values())
        table.add_row(
            name.replace("_", " "), *(f"{it:.3f}" if isinstance(it, float) else str(it) for it in cells)
        )
    console.print(table)


def main() -> int:
    """Print the figures; 2 where the input cannot be used."""
    data = Path(os.environ.get("MEMOREPAIR_DATA", Path(__file__).parents[2] / "shared" / "data"))
    parser = argparse.ArgumentParser(prog="python -m bench.nave", description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object as the last line")
    parser.add_argument("--data", type=Path, default=data / "traces-tau-bench", help="the tau-bench folder")
    chosen = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory() as workshop:
            result = run(chosen.data, Path(workshop))
    except MemoRepairError as error:
        _note(f"{error} (witness: {error.witness})")
        return 2
    if chosen.json:
        print(json.dumps(result))
    else:
        events = result["events"]
        assert isinstance(events, dict)
        _show(result, events)
    return 0


if __name__ == "__main__":
    sys.exit(main())
