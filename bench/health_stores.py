"""Stores for the bench of the check-up: of FEBRL originals, memory texts of other systems and tau-bench."""

from __future__ import annotations

import csv
import io
import json
import lzma
import shutil
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np

from bench.registry import note
from memorepair import Memory
from memorepair.memory.artifact import Draft, Key
from memorepair.memory.vectors import HashedNgrams

EMBEDDER = HashedNgrams()
COPIES = 101
"""Of so many rows of a store that grows one is a misspelt copy of the one before it in its scope."""

_SHORT, _LONG = 20, 400
_PART = 20_000
SOURCES = ("memory-cognee-evals", "memory-memtrust-cases", "memory-letta-agent-files", "traces-tau-bench")
ORIGINALS = ("dataset4a", "dataset2", "dataset1")


def records(data: Path, name: str) -> list[tuple[str, dict[str, str]]]:
    """(record id, fields) of a FEBRL data set."""
    text = lzma.decompress((data / "dedup-febrl" / f"{name}.csv.xz").read_bytes()).decode()
    rows: list[tuple[str, dict[str, str]]] = []
    for record in csv.DictReader(io.StringIO(text)):
        fields = {field.strip(): value.strip() for field, value in record.items()}
        rows.append((fields.pop("rec_id"), fields))
    return rows


def said(fields: dict[str, str]) -> str:
    """A record as the text of a memory."""
    return ", ".join(f"{name}: {value}" for name, value in fields.items() if value)


def strings(data: Path) -> Iterator[str]:
    """Texts of the other systems' files, each once."""
    seen: set[str] = set()
    for folder in SOURCES:
        for path in sorted((data / folder).rglob("*.json")):
            todo: list[object] = [json.loads(path.read_text(encoding="utf-8"))]
            while todo:
                here = todo.pop()
                if isinstance(here, dict):
                    todo += list(here.values())
                elif isinstance(here, list):
                    todo += here
                elif isinstance(here, str) and _SHORT <= len(here) <= _LONG and here not in seen:
                    seen.add(here)
                    yield here


def originals(data: Path) -> list[dict[str, str]]:
    """The persons of FEBRL, without their duplicates."""
    return [fields for name in ORIGINALS for id, fields in records(data, name) if id.endswith("org")]


def persons(people: Sequence[dict[str, str]], n: int, seed: int = 0) -> Iterator[str]:
    """n persons whose fields are drawn from those of `people`, each with a number of its own."""
    rng = np.random.default_rng(seed)
    names = sorted({name for fields in people for name in fields} - {"soc_sec_id"})
    columns = [[fields.get(name, "") for fields in people] for name in names]
    for start in range(0, n, _PART):
        size = min(_PART, n - start)
        drawn = rng.integers(len(people), size=(size, len(names))).tolist()
        numbers = rng.integers(10**6, 10**7, size=size).tolist()
        for places, number in zip(drawn, numbers, strict=True):
            values = [column[place] for column, place in zip(columns, places, strict=True)]
            yield said(dict(zip(names, values, strict=True)) | {"soc_sec_id": str(number)})


def texts(data: Path, n: int) -> list[str]:
    """n texts: as many of each source as there are, persons filling up."""
    people = originals(data)
    found = list(islice(strings(data), n // 3))
    found += [said(fields) for fields in people[: n - len(found)]]
    return found + list(persons(people, n - len(found)))


def build(path: Path, drafts: Iterator[Draft]) -> None:
    """A memory of drafts, written a part at a time."""
    done = 0
    with Memory.open(path, embedder=EMBEDDER) as memory:
        while part := list(islice(drafts, _PART)):
            memory.ingest(part)
            done += len(part)
            if done > _PART:
                note(f"  {path.name}: {done} written")


def separate(contents: Sequence[str]) -> Iterator[Draft]:
    """Records, fifty a user."""
    for n, text in enumerate(contents):
        yield Draft(key=Key(("user", str(n // 50)), f"k{n}"), content=text)


def mixed(contents: Sequence[str]) -> Iterator[Draft]:
    """Every other record in a scope that all share, where blocks fill; the rest fifty a user; with copies."""
    for n, text in enumerate(contents):
        scope = ("shared",) if n % 2 else ("user", str(n // 100))
        if n % COPIES == COPIES - 1:
            text = contents[n - 2]
            text = text[: len(text) // 2] + text[len(text) // 2 + 1 :]
        yield Draft(key=Key(scope, f"k{n}"), content=text)


def growing(data: Path, n: int, folder: Path) -> Path:
    """The store of n records in a folder: that which is there, else a new one."""
    path = folder / f"growing-{n}.db"
    if not path.exists():
        unfinished = folder / f"unfinished-{n}.db"
        remove(unfinished)
        build(unfinished, mixed(texts(data, n)))
        for file in files(unfinished):
            file.rename(path.with_name(path.name + file.name.removeprefix(unfinished.name)))
    return path


def files(path: Path) -> list[Path]:
    """A store's own and those beside it; its own is the last."""
    return sorted(path.parent.glob(f"{path.name}*"), reverse=True)


def copy(path: Path, to: Path) -> None:
    """A closed store under another name."""
    for file in files(path):
        shutil.copy(file, to.with_name(to.name + file.name.removeprefix(path.name)))


def remove(path: Path) -> None:
    """A store with all that lies beside it."""
    for file in files(path):
        file.unlink()
