"""Crashes: a memory's whole life, killed at every point and at random instants.

    python -m bench.crash [--trials N] [--quick] [--json]

One process each: killed by SIGKILL at every stop that the life passes (a statement that writes, a step of the
journal, a begin, a commit, an operator), and N times at a random instant. After each death the file is
opened again, and must be as before or after the step that died: nothing withdrawn or erased readable through
any door (`exposed`), no committed text, before-image or seal gone (`lost`), and the rest of the life comes to
the same end (`stuck`). `points` counts the stops, each of them one crash point; `trials` the random deaths.
``--quick`` takes every 23rd stop.

With ``--json`` the last line of standard output is one JSON object; progress goes to standard error.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias

import memorepair as mr
from memorepair.drills import Stop, kill, rehearse, striking
from memorepair.errors import MemoRepairError
from memorepair.facade import Memory
from memorepair.graphs.terms import Kind
from memorepair.memory.artifact import Case, CaseStatus, Draft, Embedding, Erasure, Key, Read, Recipe
from memorepair.repair.events import Interface
from memorepair.repair.operators.operator import Call

SCOPE = ("user", "1")
A, B, C, TOOL, S1, S2, S3, COUNT, ABOVE, STRICT, ROW, LATE = (
    Key(SCOPE, name)
    for name in ("a", "b", "c", "tool", "s1", "s2", "s3", "count", "above", "strict", "row", "late")
)
_EVERY = 23  # stops a quick run takes
_LONGEST = 60.0  # seconds a child may take


@mr.operator(name="joined")
def joined(call: Call) -> str:
    """What its inputs say, one after another."""
    return "joined of " + " ".join(source.content for source in call.inputs)


@mr.operator(name="counted")
def counted(call: Call) -> str:
    """How many inputs there are: the same whatever they say."""
    return f"counted of {len(call.inputs)}"


def opened(path: Path) -> Memory:
    """The memory at `path`, with nothing kept longer than it must."""
    return Memory.open(path, operators=[joined, counted], retention_days=0.0)


# a life ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Something a user does, and how one who comes after a crash sees that it is done.

    `opens`: the memory is closed before it and opened for it.
    """

    name: str
    act: Callable[[Memory], object]
    done: Callable[[Memory], bool]
    opens: bool = False


def _known(memory: Memory, key: Key, version: int = 1) -> bool:
    return any(one.key == key for one in memory.list()) and len(memory.history(key)) >= version


def _record(memory: Memory) -> None:
    vector = Embedding(vector=(0.5, 0.25), model="m", revision="1", normalised=False)
    memory.ingest(
        [
            Draft(key=A, content="of alpha one", metadata={"note": "first"}, embedding=vector),
            Draft(key=B, content="of Bravo-77 secret"),
            Draft(key=C, content="of charlie"),
            Draft(key=TOOL, content="of tool v1"),
        ]
    )


def _derive(memory: Memory) -> None:
    def draft(key: Key, operator: str, text: str, *reads: Key, kind: Kind = Kind.CACHE) -> Draft:
        return Draft(
            key=key,
            content=text,
            kind=kind,
            recipe=Recipe(operator=operator, schema={"type": "object"} if key == STRICT else None),
            reads=tuple(Read(key=read) for read in reads),
        )

    one, two, three = "of alpha one", "of Bravo-77 secret", "of charlie"
    memory.ingest(
        [
            draft(S1, "joined", f"joined of {one} {two}", A, B),
            draft(S2, "joined", f"joined of joined of {one} {two}", S1),
            draft(S3, "summarise", f"{one}. {three}. {two}.", A, C, B, kind=Kind.SUMMARY),
            draft(COUNT, "counted", "counted of 1", A),
            draft(ABOVE, "joined", "joined of counted of 1", COUNT),
            draft(STRICT, "joined", '{"of": "alpha one"}', A),
            draft(ROW, "joined", "joined of of tool v1", TOOL),
        ]
    )


def _late(memory: Memory) -> None:
    draft = Draft(key=LATE, content="of a late alpha one", reads=(Read(key=A, version=1),))
    memory.store.write([draft], act="derive", quarantine=True)


def _half(memory: Memory) -> None:
    """What a repair leaves that dies after it has staged something."""
    case = _case(memory, "corrected").id
    memory.store.begin_repair(case, "a plan")
    memory.store.stage(case, Draft(key=STRICT, content="of a half done repair"))


def _case(memory: Memory, reason: str) -> Case:
    return next(case for case in memory.store.cases() if case.reason == reason)


def _declared(reason: str) -> Callable[[Memory], bool]:
    return lambda memory: any(case.reason == reason for case in memory.store.cases())


def _over(reason: str) -> Callable[[Memory], bool]:
    def over(memory: Memory) -> bool:
        case = _case(memory, reason)
        finished = case.status in (CaseStatus.CLOSED, CaseStatus.CLOSED_PARTIAL)
        return finished and case.erasure in (None, Erasure.DONE)

    return over


def _undone(reason: str) -> Callable[[Memory], bool]:
    return lambda memory: _case(memory, reason).status is CaseStatus.UNDONE


def _repair(reason: str) -> Callable[[Memory], object]:
    return lambda memory: memory.repair(_case(memory, reason), tradeoff=0.0)


def _never(memory: Memory) -> bool:
    return False


STEPS: tuple[Step, ...] = (
    Step(name="create", act=lambda memory: None, done=_never),
    Step(name="record", act=_record, done=lambda memory: _known(memory, A)),
    Step(name="derive", act=_derive, done=lambda memory: _known(memory, S1)),
    Step(
        name="update",
        act=lambda memory: memory.record("of charlie again", id="c", scope=SCOPE),
        done=lambda memory: _known(memory, C, 2),
    ),
    Step(name="use", act=lambda memory: [memory.get(key) for key in (A, S1, S3)], done=_never),
    Step(
        name="correct",
        act=lambda memory: memory.correct(A, "of alpha two", actor="ada", reason="corrected"),
        done=_declared("corrected"),
    ),
    Step(
        name="inspect",
        act=lambda memory: memory.inspect(A, version=1, actor="ada", reason="reviewed"),
        done=_never,
    ),
    Step(name="repair the correction", act=_repair("corrected"), done=_over("corrected")),
    Step(name="commit late", act=_late, done=lambda memory: _known(memory, LATE)),
    Step(name="die half way", act=_half, done=lambda memory: _case(memory, "corrected").attempts > 0),
    Step(name="recover", act=lambda memory: None, done=_never, opens=True),
    Step(
        name="delete to erase",
        act=lambda memory: memory.delete(B, actor="ada", reason="asked to", erase=True),
        done=_declared("asked to"),
    ),
    Step(name="repair and erase", act=_repair("asked to"), done=_over("asked to")),
    Step(
        name="migrate",
        act=lambda memory: memory.migrate(
            TOOL, Interface(key=TOOL, content="of tool v2"), actor="ada", reason="migrated"
        ),
        done=_declared("migrated"),
    ),
    Step(name="repair the migration", act=_repair("migrated"), done=_over("migrated")),
    Step(
        name="undo the migration",
        act=lambda memory: memory.undo(_case(memory, "migrated"), actor="ada", reason="reviewed"),
        done=_undone("migrated"),
    ),
    Step(
        name="delete",
        act=lambda memory: memory.delete(C, actor="ada", reason="deleted"),
        done=_declared("deleted"),
    ),
    Step(
        name="erase at once",
        act=lambda memory: memory.erase(_case(memory, "deleted"), actor="ada", reason="reviewed"),
        done=_over("deleted"),
    ),
    Step(name="prune", act=lambda memory: memory.prune(0.0, actor="ada", reason="reviewed"), done=_never),
)


def live(path: Path, steps: Sequence[Step], told: Callable[[int], object] = lambda place: None) -> None:
    """Take the steps that are not done yet, opening the memory where one begins; `told` has their places."""
    place = 0
    while place < len(steps):
        told(place)
        with opened(path) as memory:
            while True:
                step = steps[place]
                if not step.done(memory):
                    step.act(memory)
                place += 1
                if place == len(steps) or steps[place].opens:
                    break
                told(place)


# what is there -----------------------------------------------------------------------------------------

Shown: TypeAlias = frozenset[tuple[str, Key, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """What every door shows, what every version holds, where the cases stand."""

    shown: Shown
    kept: frozenset[tuple[Key, str]]
    cases: tuple[tuple[str | None, str], ...]


def picture(memory: Memory) -> Picture:
    """Look through every door, and, as an engine may, behind the barrier."""
    shown: set[tuple[str, Key, str]] = set()
    kept: set[tuple[Key, str]] = set()
    served = memory.store.served([one.key for one in memory.list()])
    for listing in memory.list():
        key = listing.key
        if key in served:
            shown.add(("get", key, served[key].content))
        for past in memory.history(key):
            if past.content is not None:
                shown.add(("history", key, past.content))
            there = memory.store.former([(key, past.version)])
            kept |= {(key, one.content) for one in there.values()}
    for door, query in (("search", "alpha"), ("search", "bravo-77"), ("search", "charlie"), ("scan", "of")):
        for hit in memory.search(query, scope=SCOPE, limit=100):
            shown.add((f"{door} {query}", hit.artifact.key, hit.artifact.content))
    cases = tuple((case.reason, case.status.value) for case in memory.store.cases())
    return Picture(shown=frozenset(shown), kept=frozenset(kept), cases=cases)


NOTHING = Picture(shown=frozenset(), kept=frozenset(), cases=())


# deaths ------------------------------------------------------------------------------------------------


@dataclass(slots=True, kw_only=True)
class Figures:
    """What is printed; `exposed`, `lost` and `stuck` count deaths after which the law was broken."""

    trials: int = 0
    points: int = 0
    exposed: int = 0
    lost: int = 0
    stuck: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A life without a fault: what there is after each step, the file before it, the stops it passes."""

    folder: Path
    after: tuple[Picture, ...]
    stops: tuple[tuple[Stop, ...], ...]

    def before(self, place: int) -> Picture:
        """What there is before a step."""
        return self.after[place - 1] if place else NOTHING

    def copy(self, place: int, to: Path) -> Path:
        """The files as they are before a step, in a new folder; where the memory is."""
        shutil.copytree(self.folder / str(place), to)
        return to / "agent.db"


def reference(folder: Path) -> Reference:
    """Live once, step by step."""
    after: list[Picture] = []
    stops: list[tuple[Stop, ...]] = []
    here = folder / "0"
    here.mkdir(parents=True)
    for place in range(len(STEPS)):
        there = folder / str(place + 1)
        shutil.copytree(here, there)
        stops.append(rehearse(partial(live, there / "agent.db", STEPS[place : place + 1])))
        # A step that leaves work for the next opening is looked at as that opening leaves it.
        look = shutil.copytree(there, folder / "look")
        with opened(look / "agent.db") as memory:
            after.append(picture(memory))
        shutil.rmtree(look)
        here = there
    return Reference(folder=folder, after=tuple(after), stops=tuple(stops))


def die_at(path: str, place: int, point: str, nth: int) -> None:
    """Take one step in this process, and be killed on the way."""
    with striking(Stop(point=point, nth=nth), kill):
        live(Path(path), STEPS[place : place + 1])


def live_on(path: str, log: str) -> None:
    """Take all the steps in this process, noting the place of each before it."""
    handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    live(Path(path), STEPS, lambda place: os.write(handle, bytes([place])))
    os.write(handle, bytes([len(STEPS)]))


def judge(path: Path, there: Reference, place: int, figures: Figures, what: str) -> None:
    """Open the file that a death in step `place` has left, and go on living."""
    before, after = there.before(place), there.after[min(place, len(STEPS) - 1)]
    exposed = lost = stuck = False
    try:
        with opened(path) as memory:
            now, faults = picture(memory), memory.store.check()
        exposed = bool(now.shown - before.shown - after.shown)
        whole = now.shown in (before.shown, after.shown)
        lost = bool(faults) or bool((before.kept & after.kept) - now.kept) or not (whole or exposed)
        live(path, STEPS[place:])
        with opened(path) as memory:
            end, faults = picture(memory), memory.store.check()
        stuck = end.shown != there.after[-1].shown or end.cases != there.after[-1].cases or bool(faults)
        exposed |= _left(path)
    except MemoRepairError as error:
        stuck = True
        print(f"{what}: {error!r}", file=sys.stderr, flush=True)
    if exposed or lost or stuck:
        print(f"{what}: exposed {exposed}, lost {lost}, stuck {stuck}", file=sys.stderr, flush=True)
    figures.exposed += exposed
    figures.lost += lost
    figures.stuck += stuck


def _left(path: Path) -> bool:
    """Whether a byte of what was erased is in any file."""
    return any(b"Bravo-77" in file.read_bytes() for file in path.parent.iterdir())


def measure(folder: Path, *, trials: int, every: int, seed: int) -> Figures:
    """Kill at each stop (of `every` so many), and at `trials` random instants."""
    context = multiprocessing.get_context("fork")  # no connection is open in this process meanwhile
    there, figures = reference(folder / "reference"), Figures(trials=trials)
    stops = [(place, stop) for place, passed in enumerate(there.stops) for stop in passed][::every]
    for done, (place, stop) in enumerate(stops):
        path = there.copy(place, folder / "trial")
        child = context.Process(target=die_at, args=(str(path), place, stop.point, stop.nth))
        child.start()
        child.join(_LONGEST)
        what = f"{STEPS[place].name}, {stop.point} {stop.nth}"
        if child.exitcode != -9:
            raise RuntimeError(f"{what}: the child was not killed but ended with {child.exitcode}")
        figures.points += 1
        judge(path, there, place, figures, what)
        shutil.rmtree(path.parent)
        if done % 50 == 0:
            print(f"  stop {done} of {len(stops)}", file=sys.stderr, flush=True)
    chance = random.Random(seed)
    longest = 0.0
    for trial in range(trials):
        path, log = folder / "trial" / "agent.db", folder / "trial" / "log"
        path.parent.mkdir()
        child = context.Process(target=live_on, args=(str(path), str(log)))
        began = time.monotonic()
        child.start()
        if trial:  # the first one lives, and says how long a life is
            child.join(longest * chance.random())
            child.kill()
        child.join(_LONGEST)
        longest = longest or time.monotonic() - began
        places = log.read_bytes() if log.exists() else b""
        judge(path, there, places[-1] if places else 0, figures, f"random {trial}")
        shutil.rmtree(path.parent)
        if trial % 50 == 0:
            print(f"  random {trial} of {trials}", file=sys.stderr, flush=True)
    return figures


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures; 1 where a law was broken."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.crash", description=(__doc__ or "").split("\n", 1)[0]
    )
    parser.add_argument("--trials", type=int, default=500, help="deaths at random instants")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help=f"every {_EVERY}rd stop only")
    parser.add_argument("--json", action="store_true", help="one JSON object on the last line")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(
            Path(folder), trials=given.trials, every=_EVERY if given.quick else 1, seed=given.seed
        )
    if given.json:
        print(json.dumps(asdict(figures)))
    else:
        for name, value in asdict(figures).items():
            print(f"{name:>8} {value}")
    return int(bool(figures.exposed or figures.lost or figures.stuck))


if __name__ == "__main__":
    raise SystemExit(main())
