"""Readers look for withdrawn content while repairs run and are killed."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

from memorepair.facade import Memory
from memorepair.graphs.terms import Kind
from memorepair.memory.artifact import CaseStatus, Draft, Key, Read, Recipe

TREES = 4
DERIVED = 8
ROUNDS = 4
"""A repair."""

REPAIR = """
import sys
from memorepair.facade import Memory
with Memory.open(sys.argv[1]) as memory:
    print("begun", flush=True)
    memory.repair(int(sys.argv[2]), retry=True)
"""
# A reader prints what it was given although its word had been marked before the read began. A word is marked,
# by a line in a file, when the withdrawal has returned; it is never served again. A line "round" lets every
# reader knock at all doors once: so they read while a repair runs, and their work has an end on any machine.
READER = """
import sys
import time
from pathlib import Path
from memorepair.errors import MemoRepairError
from memorepair.facade import Memory
file, board, trees = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
rounds = 0
with Memory.open(file, readonly=True) as memory:
    print("begun", flush=True)
    while True:
        lines = board.read_text().split("\\n")[:-1]
        if rounds == lines.count("round"):
            if "stop" in lines:
                print(f"rounds {rounds}", flush=True)
                raise SystemExit
            time.sleep(0.005)
            continue
        rounds += 1
        for tree in range(trees):
            marked = set(board.read_text().split("\\n")[:-1]) - {"round", "stop"}
            scope = ("user", str(tree))
            given = [memory.search("canary", scope=scope), memory.search("canary", scope=scope, by="vector")]
            for key in [one.key for one in memory.list(scope=scope)]:
                for door in (memory.get, memory.history, memory.explain):
                    try:
                        given.append(door(key))
                    except MemoRepairError as refusal:
                        given.append((str(refusal), refusal.witness))
            text = repr(given)
            for word in sorted(marked):
                if word in text:
                    print(f"SEEN {word}", flush=True)
"""


def start(script: str, *arguments: str) -> subprocess.Popen[str]:
    process = subprocess.Popen([sys.executable, "-c", script, *arguments], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    return process


def word(number: int) -> str:
    return f"canary{number:04d}x"


def tree(number: int, canary: str) -> list[Draft]:
    scope = ("user", str(number))
    keys = [Key(scope, f"n{i}") for i in range(DERIVED)]
    drafts = [Draft(key=keys[0], content=f"The {canary} sings here.")]
    drafts += [
        Draft(
            key=key,
            content=f"The {canary} sings here.",
            kind=Kind.SUMMARY,
            reads=(Read(key=keys[i // 2]),),
            recipe=Recipe(operator="summarise"),
        )
        for i, key in enumerate(keys[1:])
    ]
    return drafts


def mark(board: Path, line: str) -> None:
    with board.open("a") as file:
        file.write(f"{line}\n")


def ended(reader: subprocess.Popen[str]) -> tuple[list[str], int]:
    """What it has seen, and how many rounds it made."""
    said, _ = reader.communicate(timeout=300)
    *seen, rounds = said.splitlines()
    assert reader.returncode == 0
    return seen, int(rounds.removeprefix("rounds "))


def test_a_reader_that_sees_says_so(path: Path, tmp_path: Path) -> None:
    board = tmp_path / "board"
    board.write_text(f"{word(0)}\n")  # a lie: it is served
    with Memory.open(path) as memory:
        memory.ingest(tree(0, word(0)))
    mark(board, "round")
    mark(board, "stop")
    assert ended(start(READER, str(path), str(board), "1")) == ([f"SEEN {word(0)}"], 1)


def test_no_door_tells_what_was_withdrawn_while_repairs_are_killed(path: Path, tmp_path: Path) -> None:
    board = tmp_path / "board"
    board.write_text("")
    with Memory.open(path) as memory:
        for number in range(TREES):
            memory.ingest(tree(number, word(number)))
    readers = [start(READER, str(path), str(board), str(TREES)) for _ in range(2)]
    chance = random.Random(0)
    killed = 0
    try:
        for number in range(TREES):
            root = Key(("user", str(number)), "n0")
            with Memory.open(path) as memory:
                if number % 2:
                    case = memory.delete(root, reason="asked", actor="a")
                else:
                    new = f"The {word(TREES + number)} sings here."
                    case = memory.correct(root, new, reason="wrong", actor="a")
            mark(board, word(number))
            for _ in range(ROUNDS):
                mark(board, "round")
            repair = start(REPAIR, str(path), str(case.id))
            time.sleep(chance.uniform(0, 0.1))
            repair.kill()
            repair.communicate()
            killed += repair.returncode != 0
            with Memory.open(path) as memory:
                memory.repair(case, retry=True)
    finally:
        mark(board, "stop")
    told = [ended(reader) for reader in readers]
    assert told == [([], TREES * ROUNDS)] * 2
    assert killed > 0
    with Memory.open(path) as memory:
        assert memory.store.check() == []
        assert {case.status for case in memory.store.cases()} <= {
            CaseStatus.CLOSED,
            CaseStatus.CLOSED_PARTIAL,
        }
        for number in range(0, TREES, 2):
            member = memory.get(Key(("user", str(number)), "n7"))
            assert word(TREES + number) in member.content
