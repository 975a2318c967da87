"""Readers beside repairs: whether any door ever gives out what had been withdrawn.

    python -m bench.readers [--seconds 60] [--json] [--save]

Four processes knock at every door: get, a derivation's read, search by text and by vector, list, history,
explain, statistics, the picture of a case, and export. Beside them one process declares events
and repairs: 200 times in 60 seconds, in proportion for fewer seconds (`repairs` says how many were done).

How a reader can tell, without a race: every root's content holds a word of its own, its canary, and
everything derived from it repeats the canary. When `delete` or `correct` has returned, the withdrawal is
committed; only then the canary is marked on a board in shared memory, with the number the board's clock
gets by it. A reader notes the clock before the read, reads, then looks up each canary in what it was given:
one marked at or before the noted number was withdrawn by a transaction that had committed before the read
took its snapshot, so the read must not have shown it. No repair brings a marked canary back: a correction
replaces it, a deletion forbids it. Where a withdrawal is undone, its canaries are taken off the board
before the undo begins; that can only hide a mark, never invent one.

``open_barrier_ratio``: reads per CPU second of the readers with a third of the roots withdrawn against the
same with none, the writer idle in both, in alternating stretches. An export costs as much as three hundred
gets, so the rates are those of one and the same mix, a round of `DOORS` at what a read through each door cost
in the phase: else chance would decide by how many exports fell into a stretch. What they do while the writer
works is told on standard error. With ``--json`` the last line of standard output is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from ctypes import c_int64
from dataclasses import dataclass, field
from io import BytesIO
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from multiprocessing.sharedctypes import Synchronized, SynchronizedArray
from pathlib import Path
from random import Random

from bench.registry import machine, note, save
from memorepair.adapters.jsonl import export_jsonl
from memorepair.errors import UnknownId, Withdrawn
from memorepair.facade import Memory
from memorepair.graphs.terms import Kind
from memorepair.memory.artifact import Draft, Key, Read, Recipe
from memorepair.picture import picture_of

READERS = 4
REPAIRS_A_MINUTE = 200
TREES = 60
DERIVED = 6
ROUNDS = 4
WARM_UP = 2.0
"""Seconds between stretches that are not counted: the first `explain` after a change plans the case."""

_CANARY = re.compile(r"kanarie(\d{6})x")
_SPAWN = multiprocessing.get_context("spawn")

WARM, DOWN, UP, WORK, STOP = range(5)
"""Phases; what is read in the first is not counted."""

PHASES = (DOWN, UP, WORK)


class Board:
    """Which canaries have been withdrawn, since when by the board's own clock; and the phase."""

    def __init__(self, canaries: int, trees: int) -> None:
        self._clock: Synchronized[int] = _SPAWN.Value(c_int64, 0)
        self._since: SynchronizedArray[int] = _SPAWN.Array(c_int64, canaries)
        self._phase: Synchronized[int] = _SPAWN.Value(c_int64, WARM)
        self._generations: SynchronizedArray[int] = _SPAWN.Array(c_int64, trees)

    def mark(self, canary: int) -> None:
        """It has been withdrawn, by a transaction that has committed."""
        self._since[canary] = self._clock.value + 1
        self._clock.value += 1  # there is one writer

    def clear(self, canary: int) -> None:
        """It may be served again from now on."""
        self._since[canary] = 0

    def now(self) -> int:
        """The clock."""
        return self._clock.value

    def seen(self, text: str, before: int) -> list[int]:
        """Canaries in a text that were marked when the clock stood at `before`, and still are."""
        found = {int(digits) for digits in _CANARY.findall(text)}
        return [canary for canary in sorted(found) if 0 < self._since[canary] <= before]

    @property
    def phase(self) -> int:
        """What is going on."""
        return self._phase.value

    @phase.setter
    def phase(self, phase: int) -> None:
        self._phase.value = phase

    def generation(self, tree: int) -> int:
        """How many times the root of a tree has been deleted."""
        return self._generations[tree]

    def plant(self, tree: int) -> int:
        """A new generation of a tree; its number."""
        self._generations[tree] += 1
        return self._generations[tree]


def word(canary: int) -> str:
    """The canary as it stands in texts."""
    return f"kanarie{canary:06d}x"


def scope(tree: int) -> tuple[str, ...]:
    """The scope of a tree."""
    return ("user", str(tree))


def root(tree: int, generation: int) -> Key:
    """The root of a tree."""
    return Key(scope(tree), f"root-{generation}")


def sentence(canary: int) -> str:
    """A root's content."""
    return f"The harbour of {word(canary)} lies in the north."


def grown(tree: int, generation: int, canary: int) -> list[Draft]:
    """A root, and a chain derived from it."""
    above = root(tree, generation)
    drafts = [Draft(key=above, content=sentence(canary))]
    for number in range(DERIVED):
        key = Key(scope(tree), f"note-{generation}-{number}")
        drafts.append(
            Draft(
                key=key,
                content=sentence(canary),
                kind=Kind.SUMMARY,
                reads=(Read(key=above),),
                recipe=Recipe(operator="summarise"),
            )
        )
        if number % 2:
            above = key
    return drafts


# doors -----------------------------------------------------------------------------------------------------


def _derive(memory: Memory, key: Key, _: Random) -> object:
    with memory.deriving(kind="summary") as derivation:
        return derivation.read(key)


def _search(memory: Memory, key: Key, random: Random) -> object:
    query = random.choice(("harbour", "kanarie", "lies in the north", "no"))
    return memory.search(query, scope=key.scope)


def _near(memory: Memory, key: Key, _: Random) -> object:
    return memory.search("where the harbour lies", scope=key.scope, by="vector")


def _picture(memory: Memory, _: Key, random: Random) -> object:
    return picture_of(memory, random.choice(memory.store.cases()))


def _export(memory: Memory, _: Key, __: Random) -> object:
    lines = BytesIO()
    export_jsonl(memory, lines)
    return lines.getvalue().decode()


DOORS: Mapping[str, tuple[int, Callable[[Memory, Key, Random], object]]] = {
    "get": (250, lambda memory, key, _: memory.get(key)),
    "derive": (20, _derive),
    "search text": (50, _search),
    "search vector": (20, _near),
    "list": (15, lambda memory, key, _: memory.list(scope=key.scope)),
    "history": (30, lambda memory, key, _: memory.history(key)),
    "explain": (20, lambda memory, key, _: memory.explain(key)),
    "status": (2, lambda memory, _, __: memory.status()),
    "statistics": (2, lambda memory, _, __: memory.statistics()),
    "picture": (1, _picture),
    "export": (1, _export),
}
"""Each with how often it comes in a round of reads: in all phases the same, so that their costs compare."""


@dataclass(slots=True)
class Tally:
    """What a reader did, by phase; `told` counts canaries it was given."""

    reads: Counter[int] = field(default_factory=Counter)
    doors: Counter[tuple[int, str]] = field(default_factory=Counter)
    door_cpu: Counter[tuple[int, str]] = field(default_factory=Counter)
    told: int = 0
    seen: list[tuple[str, str]] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Add another's."""
        self.reads.update(other.reads)
        self.doors.update(other.doors)
        self.door_cpu.update(other.door_cpu)
        self.told += other.told
        self.seen += other.seen


def knock(memory: Memory, board: Board, random: Random, tally: Tally, name: str) -> None:
    """One read through one door, checked."""
    tree = random.randrange(TREES)
    generation = random.randint(0, board.generation(tree))
    place = random.randrange(-1, DERIVED)
    key = root(tree, generation) if place < 0 else Key(scope(tree), f"note-{generation}-{place}")
    phase = board.phase
    begin = time.process_time_ns()
    before = board.now()
    try:
        given: object = DOORS[name][1](memory, key, random)
    except (Withdrawn, UnknownId) as refusal:  # a refusal must not tell either
        given = (str(refusal), refusal.witness)
    text = repr(given)
    told = board.seen(text, before)
    spent = time.process_time_ns() - begin
    tally.reads[phase] += 1
    tally.doors[phase, name] += 1
    tally.door_cpu[phase, name] += spent
    tally.told += len(_CANARY.findall(text))
    tally.seen += [(name, word(canary)) for canary in told]


def reader(file: Path, board: Board, seed: int, answer: Connection) -> None:
    """Knock until the board says stop, then send the tally."""
    random, tally = Random(seed), Tally()
    with Memory.open(file, readonly=True) as memory:
        answer.send("ready")
        while board.phase != STOP:
            round_of_doors = [name for name, (times, _) in DOORS.items() for _ in range(times)]
            random.shuffle(round_of_doors)
            for name in round_of_doors:
                knock(memory, board, random, tally, name)
                if board.phase == STOP:
                    break
    answer.send(tally)


class Crowd:
    """Reader processes; leaving the block stops them and gathers their tallies in `tally`."""

    def __init__(self, file: Path, board: Board, readers: int) -> None:
        self._board = board
        pipes = [_SPAWN.Pipe(duplex=False) for _ in range(readers)]
        self._pipes = [receiving for receiving, _ in pipes]
        self._processes: list[SpawnProcess] = []
        self.tally = Tally()
        for seed, (_, sending) in enumerate(pipes):
            process = _SPAWN.Process(target=reader, args=(file, board, seed, sending))
            process.start()
            sending.close()  # so that a reader that dies ends the pipe
            self._processes.append(process)

    def __enter__(self) -> Crowd:
        for pipe in self._pipes:
            assert pipe.recv() == "ready"
        return self

    def __exit__(self, *_: object) -> None:
        self._board.phase = STOP
        for pipe, process in zip(self._pipes, self._processes, strict=True):
            with suppress(EOFError):
                self.tally.add(pipe.recv())
            process.join()
            assert process.exitcode == 0, "a reader died"


# the writer ------------------------------------------------------------------------------------------------


class Writer:
    """Declares events, marks what they withdrew, repairs."""

    def __init__(self, memory: Memory, board: Board, seed: int) -> None:
        self._memory = memory
        self._board = board
        self._random = Random(seed)
        self._canaries = [0] * TREES
        self._next = 1

    def fill(self) -> None:
        """The trees at first."""
        drafts = []
        for tree in range(TREES):
            self._canaries[tree] = self._draw()
            drafts += grown(tree, 0, self._canaries[tree])
        self._memory.ingest(drafts)

    def _draw(self) -> int:
        self._next += 1
        return self._next - 1

    def declare(self) -> int:
        """Correct or delete a root at random; when this returns its canary is marked. The case."""
        tree = self._random.randrange(TREES)
        key = root(tree, self._board.generation(tree))
        old, new = self._canaries[tree], self._draw()
        self._canaries[tree] = new
        if self._random.random() < 0.5:
            case = self._memory.correct(key, sentence(new), reason="moved", actor="bench")
            self._board.mark(old)
            return case.id
        case = self._memory.delete(key, reason="asked", actor="bench")
        self._board.mark(old)
        self._memory.ingest(grown(tree, self._board.generation(tree) + 1, new))
        self._board.plant(tree)
        return case.id

    def bar(self) -> int:
        """Withdraw every third tree; the case."""
        trees = range(0, TREES, 3)
        roots = [root(tree, self._board.generation(tree)) for tree in trees]
        case = self._memory.delete(roots, reason="measured", actor="bench")
        for tree in trees:
            self._board.mark(self._canaries[tree])
        return case.id

    def lift(self, case: int) -> None:
        """Take `bar` back."""
        for tree in range(0, TREES, 3):
            self._board.clear(self._canaries[tree])
        self._memory.undo(case, actor="bench", reason="measured")


def run(folder: Path, seconds: float) -> tuple[dict[str, object], dict[str, object]]:
    """The figures asked for, and all figures."""
    file = folder / "readers.db"
    target = max(1, round(REPAIRS_A_MINUTE * seconds / 60))
    board = Board(TREES + target + 1, TREES)
    with Memory.open(file) as memory:
        writer = Writer(memory, board, seed=0)
        writer.fill()
        writer.lift(writer.bar())  # so that there is a case to draw
        with Crowd(file, board, READERS) as crowd:
            time.sleep(WARM_UP)
            _idle(writer, board, seconds / 3)
            _work(writer, memory, board, target, seconds * 2 / 3)
        assert memory.store.check() == []
    tally = crowd.tally
    costs = {
        name: {
            phase: tally.door_cpu[phase, name] / max(1, tally.doors[phase, name]) / 1e6 for phase in PHASES
        }
        for name in DOORS
    }
    a_round = sum(times for times, _ in DOORS.values())
    rate = {
        phase: 1e3 * a_round / sum(times * costs[name][phase] for name, (times, _) in DOORS.items())
        for phase in PHASES
    }
    note(
        f"reads a CPU second: barrier down {rate[DOWN]:.0f}, up {rate[UP]:.0f}, beside the writer"
        f" {rate[WORK]:.0f} ({rate[WORK] / rate[DOWN]:.3f} of down)"
    )
    for name, cost in costs.items():
        count = sum(tally.doors[phase, name] for phase in range(STOP))
        note(
            f"  {name}: {count} reads, CPU ms each {cost[DOWN]:.3f} down, {cost[UP]:.3f} up, {cost[WORK]:.3f}"
            " beside the writer"
        )
    note(f"{tally.told} canaries told")
    for name, canary in tally.seen[:20]:
        note(f"SEEN: {name} told {canary} after its withdrawal")
    summary: dict[str, object] = {
        "reads": tally.reads.total(),
        "repairs": target,
        "seen_withdrawn": len(tally.seen),
        "open_barrier_ratio": round(rate[UP] / rate[DOWN], 3),
    }
    details: dict[str, object] = {
        "seconds": seconds,
        "readers": READERS,
        "reads_a_cpu_second": {"down": rate[DOWN], "up": rate[UP], "beside_the_writer": rate[WORK]},
        "cpu_ms_a_read": {
            name: {"down": cost[DOWN], "up": cost[UP], "beside_the_writer": cost[WORK]}
            for name, cost in costs.items()
        },
        "canaries_told": tally.told,
    }
    return summary, details


def _idle(writer: Writer, board: Board, seconds: float) -> None:
    """Nobody writes: in turns with the barrier down and up."""
    for _ in range(ROUNDS):
        board.phase = DOWN
        time.sleep(seconds / ROUNDS / 2)
        board.phase = WARM
        case = writer.bar()
        time.sleep(WARM_UP)
        board.phase = UP
        time.sleep(seconds / ROUNDS / 2)
        board.phase = WARM
        writer.lift(case)
        time.sleep(WARM_UP)


def _work(writer: Writer, memory: Memory, board: Board, repairs: int, seconds: float) -> None:
    """Events and repairs, spread over the time; longer where it is too short."""
    begin = time.monotonic()
    board.phase = WORK
    for done in range(repairs):
        time.sleep(max(0.0, begin + seconds * done / repairs - time.monotonic()))
        memory.repair(writer.declare())
        if (done + 1) % 25 == 0:
            note(f"  {done + 1} of {repairs} repairs, {time.monotonic() - begin:.0f} s")


def main() -> int:
    """Print the figures; 1 where something withdrawn was seen."""
    parser = argparse.ArgumentParser(prog="python -m bench.readers", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long it takes, about")
    parser.add_argument("--json", action="store_true", help="one JSON object as the last line")
    parser.add_argument("--save", action="store_true", help="write the figures to bench/results")
    chosen = parser.parse_args()
    about = machine()
    with tempfile.TemporaryDirectory() as folder:
        summary, details = run(Path(folder), chosen.seconds)
    if chosen.save:
        figures = {"machine": about, "summary": summary, "details": details}
        note(f"written: {save('readers', figures).name}")
    if chosen.json:
        print(json.dumps(summary))
    else:
        for name, value in summary.items():
            print(f"{name}: {value}")
    return 1 if summary["seen_withdrawn"] else 0


if __name__ == "__main__":
    sys.exit(main())
