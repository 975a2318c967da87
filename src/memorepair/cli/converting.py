"""The command that carries an instance from one kind of file to another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memorepair.cli.guard import CLEAN, command
from memorepair.cli.options import AsJson, FromFormat
from memorepair.cli.output import emit, say
from memorepair.cli.text import some
from memorepair.errors import InvalidInput
from memorepair.formats import format_of, get_format
from memorepair.problems import SelectionInstance


def add_to(app: typer.Typer) -> None:
    """Register convert."""
    command(app, "convert")(convert)


def convert(
    source: Annotated[Path, typer.Argument(metavar="IN", help="The file to read (docs/formats.md).")],
    target: Annotated[
        Path, typer.Argument(metavar="OUT", help="The file to write; replaced if it is there.")
    ],
    read_as: FromFormat = None,
    write_as: Annotated[
        str | None, typer.Option("--to", help="Format of the file written, where its name does not say it.")
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Read a file, write what it holds in another format; what that cannot hold is refused."""
    reader = format_of(source) if read_as is None else get_format(read_as)
    writer = format_of(target) if write_as is None else get_format(write_as)
    if source.resolve() == target.resolve():
        raise InvalidInput("a file is not converted onto itself", witness=str(target))
    content = reader.read(source)
    writer.write(content, target)
    if isinstance(content, SelectionInstance):
        held = {"candidates": content.k, "prerequisites": content.requires.m}
    else:
        held = {"nodes": content.n, "arcs": content.m}
    if as_json:
        emit({"read": reader.name, "written": writer.name, **held})
    else:
        counts = ", ".join(some(number, what.removesuffix("s")) for what, number in held.items())
        say(f"{source} ({reader.name}) -> {target} ({writer.name}): {counts}")
    return CLEAN
