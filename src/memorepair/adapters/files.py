"""Files as other systems leave them, plain or compressed with xz."""

from __future__ import annotations

import lzma
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from memorepair.errors import InvalidFile, InvalidInput
from memorepair.memory.artifact import Json
from memorepair.repair.jsontext import parse

T = TypeVar("T")

LARGEST = 1 << 30
"""Bytes that a file may hold once decompressed: a small file must not fill the memory."""


def locate(folder: Path, name: str) -> Path:
    """Path of `name` or `name`.xz in `folder`; InvalidFile with the missing name otherwise."""
    for path in (folder / name, folder / f"{name}.xz"):
        if path.is_file():
            return path
    raise InvalidFile(f"{folder} holds neither {name} nor {name}.xz", witness=str(folder / name))


def read_text(path: Path) -> str:
    """The whole text of a file, decompressed where its name ends in .xz; InvalidFile where it has none."""
    try:
        with lzma.open(path) if path.suffix == ".xz" else path.open("rb") as file:
            raw = file.read(LARGEST + 1)
        if len(raw) > LARGEST:
            raise InvalidFile(f"{path} holds more than {LARGEST} bytes", witness=str(path))
        return raw.decode("utf-8")
    except (OSError, EOFError, lzma.LZMAError, UnicodeDecodeError) as error:
        raise InvalidFile.cannot("read", path, error) from error


@contextmanager
def inside(where: str) -> Iterator[None]:
    """Whatever is wrong with the values read inside becomes an InvalidFile that names the place."""
    try:
        yield
    except InvalidFile:
        raise
    except InvalidInput as error:
        raise InvalidFile(f"{where}: {error.message}", witness=f"{where}: {error.witness}") from error


def parsed(text: str, where: str, read: Callable[[Json], T]) -> T:
    """`read` of a JSON text; whatever is wrong becomes an InvalidFile that names the place."""
    with inside(where):
        return read(parse(text, unique=True))


def read_json(path: Path, read: Callable[[Json], T]) -> T:
    """`read` of the file's JSON; whatever is wrong becomes an InvalidFile that names file and field."""
    return parsed(read_text(path), path.name, read)


def read_lines(path: Path, read: Callable[[Json], T]) -> Iterator[T]:
    """`read` of every non-empty line's JSON; whatever is wrong becomes an InvalidFile that names the line."""
    # Not splitlines(): JSON may hold U+2028 and its like, which end no line here.
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if line.strip():
            yield parsed(line, f"{path.name}:{number}", read)


def files_in(path: Path, endings: tuple[str, ...]) -> list[Path]:
    """`path` itself where it is a file; all files below with one of the endings, also with .xz, in order.

    Raises
    ------
    InvalidFile
        There is nothing of the kind.
    """
    if not path.is_dir():
        return [path]
    ends = (*endings, *(f"{ending}.xz" for ending in endings))
    found = sorted(file for file in path.rglob("*") if file.name.endswith(ends) and file.is_file())
    if not found:
        raise InvalidFile(f"{path} holds no file that ends in {' or '.join(endings)}", witness=str(path))
    return found


def named(path: Path) -> str:
    """The name of a file without its endings, to name what is in it."""
    name = path.name.removesuffix(".xz")
    return name.removesuffix(Path(name).suffix) or name
