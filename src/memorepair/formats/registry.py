"""Registry of formats: a name, where the class is, one line each."""

from __future__ import annotations

from pathlib import Path

from memorepair.errors import InvalidInput, UnknownId
from memorepair.formats.dimacs import Dimacs
from memorepair.formats.format import Content, Format
from memorepair.formats.instance_json import InstanceJson
from memorepair.formats.lp import Lp
from memorepair.formats.minelib import Cpit, Upit
from memorepair.formats.mps import Mps
from memorepair.formats.node_link import NodeLink
from memorepair.formats.npz import Npz

_FORMATS: dict[str, Format] = {
    format.name: format
    for format in (InstanceJson(), NodeLink(), Npz(), Dimacs(), Lp(), Mps(), Upit(), Cpit())
}


def formats() -> tuple[str, ...]:
    """Names of all formats, our own first."""
    return tuple(_FORMATS)


def get_format(name: str) -> Format:
    """The format called `name`.

    Raises
    ------
    UnknownId
        There is none (the message suggests names).
    """
    if not isinstance(name, str) or name not in _FORMATS:
        raise UnknownId.among("format", name, _FORMATS)
    return _FORMATS[name]


def format_of(path: Path | str) -> Format:
    """The format that the end of a file's name means; the longest end decides.

    Raises
    ------
    InvalidInput
        It means none (witness: the path).
    """
    name = Path(path).name.lower()
    meant = [(suffix, format) for format in _FORMATS.values() for suffix in format.suffixes]
    for suffix, format in sorted(meant, key=lambda pair: -len(pair[0])):
        if name.endswith(suffix):
            return format
    known = ", ".join(sorted(suffix for suffix, _ in meant))
    raise InvalidInput(f"what is {Path(path).name}? Name its format, or end it in {known}", witness=str(path))


def read(path: Path | str, format: str | None = None) -> Content:
    """What the file at `path` holds.

    Parameters
    ----------
    path
        The file; MineLib keeps precedences in a second one beside it, with the suffix ``.prec``.
    format
        A name of `formats()`; where left out, the end of the file's name says it.

    Returns
    -------
    SelectionInstance, or MinCutNetwork from a DIMACS file.

    Raises
    ------
    InvalidFile
        The file is not in the format (witness: the line, or the place in the document).
    InvalidInstance
        It is, but holds no instance, such as a negative cost (witness: the id).
    UnknownId, InvalidInput
        No such format, or none that the file's name means.
    """
    return (format_of(path) if format is None else get_format(format)).read(Path(path))


def write(content: Content, path: Path | str, format: str | None = None) -> None:
    """Write `content` to the file at `path`; `format` as in `read`.

    Raises
    ------
    InvalidFile
        The format cannot say all that `content` holds (witness: what), found before anything is written; or
        the file cannot be written (witness: the path).
    UnknownId, InvalidInput
        No such format, or none that the file's name means.
    """
    (format_of(path) if format is None else get_format(format)).write(content, Path(path))
