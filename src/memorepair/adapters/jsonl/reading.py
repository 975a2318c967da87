"""From a JSONL file into a memory; the file is not trusted."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from io import TextIOBase
from pathlib import Path
from typing import BinaryIO

from memorepair.adapters.jsonl.lines import item_of, read_header
from memorepair.errors import InvalidFile, InvalidInput
from memorepair.facade import Memory
from memorepair.memory.artifact import Key
from memorepair.memory.exchange import Carried, MergeReport
from memorepair.memory.values import TEXT_LIMIT
from memorepair.repair.jsontext import parse

LINE_LIMIT = 8 * TEXT_LIMIT
"""Bytes of a line: a content of `TEXT_LIMIT` fits, each of its bytes escaped."""

_STEP = 1_000

Progress = Callable[[str, int, int], None]


def import_jsonl(
    memory: Memory,
    source: str | Path | BinaryIO,
    *,
    update: bool = False,
    actor: str | None = None,
    reason: str | None = None,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> MergeReport:
    """Take over a memory that `export_jsonl` wrote: new keys with their past, nothing here changed unasked.

    Importing again changes nothing. No state in the file lifts a barrier here: a key that is out of service,
    content that an event took out, and what stands on either is refused and named. What differs is refused
    too, or gets its next version with `update`. One transaction.

    Raises
    ------
    InvalidFile
        A line that is no version (witness: its number), a count that is not there, a read of what is not in
        the file. Nothing is stored.
    """
    items = read_jsonl(source, progress=progress)
    return memory.store.merge(items, update=update, actor=actor, reason=reason, dry_run=dry_run)


def read_jsonl(source: str | Path | BinaryIO, *, progress: Progress | None = None) -> list[Carried]:
    """The versions in a JSONL file, checked one by one and against each other; errors of `import_jsonl`."""
    if isinstance(source, TextIOBase):
        raise InvalidInput("an import reads bytes, not text", witness=type(source).__name__)
    if not isinstance(source, str | Path):
        return _read(source, progress)
    try:
        with Path(source).open("rb") as stream:
            return _read(stream, progress)
    except OSError as error:
        raise InvalidFile(f"{source} cannot be read: {error.strerror}", witness=str(source)) from error


def _read(stream: BinaryIO, progress: Progress | None) -> list[Carried]:
    lines = _lines(stream)
    number, text = next(lines, (1, ""))
    with _naming(number):
        artifacts, versions = read_header(parse(text, unique=True))
    items: list[Carried] = []
    seen: set[tuple[Key, int]] = set()
    keys: set[Key] = set()
    current: set[Key] = set()
    for number, text in lines:
        with _naming(number):
            item = item_of(parse(text, unique=True))
            _check_follows(item, items[-1] if items else None, keys)
            if item.current and item.key in current:
                raise InvalidInput(f"{item.key} has a second current version", witness="current")
        seen.add((item.key, item.version))
        keys.add(item.key)
        if item.current:
            current.add(item.key)
        items.append(item)
        if progress is not None and (len(items) % _STEP == 0 or len(items) == versions):
            progress("lines", len(items), versions)
    if (len(keys), len(items)) != (artifacts, versions):
        raise InvalidFile(
            f"line 1: {artifacts} artifacts and {versions} versions are announced, "
            f"{len(keys)} and {len(items)} are there",
            witness=1,
        )
    for number, item in enumerate(items, start=2):
        with _naming(number):
            _check_ends(item, seen, keys)
            if item.key not in current:
                raise InvalidInput(f"{item.key} has no current version", witness="current")
    return items


def _check_follows(item: Carried, last: Carried | None, keys: Collection[Key]) -> None:
    """Numbers rise; they have gaps where an undone case had brought a version."""
    before = last if last is not None and last.key == item.key else None
    if (item.key in keys) if before is None else (item.version <= before.version):
        raise InvalidInput(f"the versions of {item.key} must follow each other, each once", witness="version")


def _check_ends(item: Carried, seen: Collection[tuple[Key, int | None]], keys: Collection[Key]) -> None:
    for read in item.reads:
        if (read.key, read.version) not in seen:
            raise InvalidInput(f"{item.key} read what is not in the file", witness=str(read.key))
    for near in item.semantic:
        if near not in keys:
            raise InvalidInput(f"{item.key} is similar to what is not in the file", witness=str(near))


def _lines(stream: BinaryIO) -> Iterator[tuple[int, str]]:
    """The lines with their numbers; only a line feed ends one."""
    number = 0
    while raw := stream.readline(LINE_LIMIT + 1):
        number += 1
        with _naming(number):
            if len(raw) > LINE_LIMIT:
                raise InvalidInput(f"longer than {LINE_LIMIT} bytes", witness="line")
            try:
                yield number, raw.decode("utf-8")
            except UnicodeDecodeError as error:
                raise InvalidInput(f"no UTF-8 at byte {error.start}", witness="line") from error


@contextmanager
def _naming(number: int) -> Iterator[None]:
    """Whatever is wrong inside is wrong with this line."""
    try:
        yield
    except InvalidFile:
        raise
    except InvalidInput as error:
        raise InvalidFile(f"line {number}: {error.message}", witness=number) from error
