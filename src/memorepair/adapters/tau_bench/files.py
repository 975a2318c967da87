"""The files of a tau-bench folder, plain or compressed with xz."""

from __future__ import annotations

import lzma
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from memorepair.errors import InvalidFile, InvalidInput
from memorepair.memory.artifact import Json
from memorepair.repair.jsontext import parse

T = TypeVar("T")


def locate(folder: Path, name: str) -> Path:
    """Path of `name` or `name`.xz in `folder`; InvalidFile with the missing name otherwise."""
    for path in (folder / name, folder / f"{name}.xz"):
        if path.is_file():
            return path
    raise InvalidFile(f"{folder} holds neither {name} nor {name}.xz", witness=str(folder / name))


def read_text(path: Path) -> str:
    """The whole text of a file, decompressed where its name ends in .xz."""
    try:
        raw = path.read_bytes()
        return (lzma.decompress(raw) if path.suffix == ".xz" else raw).decode("utf-8")
    except (OSError, lzma.LZMAError, UnicodeDecodeError) as error:
        raise InvalidFile(f"{path} cannot be read: {error}", witness=str(path)) from error


def _parsed(text: str, where: str, read: Callable[[Json], T]) -> T:
    try:
        return read(parse(text))
    except InvalidInput as error:
        raise InvalidFile(f"{where}: {error.message}", witness=f"{where}: {error.witness}") from error


def read_json(path: Path, read: Callable[[Json], T]) -> T:
    """`read` of the file's JSON; whatever is wrong becomes an InvalidFile that names file and field."""
    return _parsed(read_text(path), path.name, read)


def read_lines(path: Path, read: Callable[[Json], T]) -> Iterator[T]:
    """`read` of every non-empty line's JSON; whatever is wrong becomes an InvalidFile that names the line."""
    # Not splitlines(): JSON may hold U+2028 and its like, which end no line here.
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if line.strip():
            yield _parsed(line, f"{path.name}:{number}", read)
