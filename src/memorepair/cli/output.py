"""What a command says: one JSON document on standard output, or tables for a person."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn
from rich.table import Table

from memorepair.cli.plain import document, plain
from memorepair.cli.text import visible
from memorepair.errors import MemoRepairError

_KEY_SHARE = 0.4
_EXCERPT = 160
_MOST = 20

Step = Callable[[str, int, int], None]
"""What long work calls: what it does, how many are done, of how many."""


def mute() -> None:
    """Give up standard output: what is still to be written goes nowhere, without a word at the exit."""
    with suppress(OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def say(line: str, *, style: str | None = None, error: bool = False) -> None:
    """A line for a person."""
    text = visible(line)
    if style is not None:
        text.stylize(style)
    Console(stderr=error, highlight=False, soft_wrap=True).print(text)


def content(body: str) -> None:
    """Stored content, its lines kept, everything else in it shown as it is."""
    Console(highlight=False, soft_wrap=True).print(visible(body, lines=True))


def excerpt(body: str | None) -> str:
    """The beginning of stored content, for a cell."""
    if body is None or len(body) <= _EXCERPT:
        return body or ""
    return body[:_EXCERPT] + "…"


def emit(value: object) -> None:
    """The JSON document of a command."""
    sys.stdout.write(document(value) + "\n")


def rows(
    title: str, columns: Sequence[str], lines: Iterable[Sequence[object]], *, wide: str | None = None
) -> None:
    """A table; numbers stand to the right, the column `wide` takes what room is left, keys wrap last.

    A column that holds a float shows all its numbers as floats are shown. No line is ``none``.
    """
    found = [[_cell(one) for one in line] for line in lines]
    console = Console(highlight=False)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for place, column in enumerate(columns):
        numeric = bool(found) and all(isinstance(line[place], int | float) for line in found)
        if numeric and any(isinstance(line[place], float) for line in found):
            for line in found:
                cell = line[place]
                line[place] = cell if isinstance(cell, str) else _number(cell)
        longest = max((len(str(line[place])) for line in found), default=0)
        table.add_column(
            column,
            min_width=min(longest, int(_KEY_SHARE * console.width)) if column == "key" else None,
            justify="right" if numeric else "left",
            overflow="fold",
            ratio=1 if column == wide else None,
        )
    for line in found:
        table.add_row(*(visible(_number(one) if isinstance(one, float) else str(one)) for one in line))
    console.print(visible(title), style="italic")  # not the table's own, which breaks at its width
    console.print(table if found else "none")


def first_rows(title: str, columns: Sequence[str], lines: Sequence[Sequence[object]]) -> None:
    """The table's first rows, and how many there are more."""
    rows(title, columns, lines[:_MOST])
    if (more := len(lines) - _MOST) > 0:
        say(f"and {more:,} more; --json lists all")


def pairs(about: Mapping[str, object]) -> None:
    """Names and values, one a line."""
    table = Table.grid(padding=(0, 2))
    for name, value in about.items():
        if value not in (None, "", [], (), {}):
            table.add_row(visible(name), visible(str(_cell(value))))
    Console(highlight=False).print(table)


def report(error: MemoRepairError, *, as_json: bool) -> None:
    """Message, witness and notes of an error: on standard error, as JSON also on standard output."""
    notes: list[str] = getattr(error, "__notes__", [])
    if as_json:
        told = {"type": type(error).__name__, "message": error.message, "witness": error.witness}
        emit({"error": {**told, "notes": notes} if notes else told})
        sys.stdout.flush()  # where its reader has gone, nobody is told twice
    say(f"error: {error.message}", style="red", error=True)
    if error.witness is not None:
        say(f"witness: {_cell(error.witness)}", error=True)
    for note in notes:
        say(f"note: {_cell(note)}", error=True)


@contextmanager
def progress(*, quiet: bool) -> Iterator[Step | None]:
    """A progress bar on standard error, only on a terminal and not `quiet`; None where there is none."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, TaskID] = {}

        def step(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=total)
            bar.update(tasks[what], completed=done, total=total)

        yield step


def _cell(value: object) -> int | float | str:
    bare = plain(value)
    if bare is None:
        return ""
    if isinstance(bare, bool):
        return "yes" if bare else "no"
    if isinstance(bare, int | float | str):
        return bare
    if isinstance(bare, list) and all(isinstance(one, int | float | str) for one in bare):
        return ", ".join(str(one) for one in bare)
    return document(bare)


def _number(value: float) -> str:
    if isinstance(value, int) and abs(value) >= 1_000:  # of any size, which a float is not
        return f"{value:,}"
    if abs(value) >= 1_000:
        return f"{value:,.0f}"
    # Two decimals, unless so few would hide a small number.
    return f"{value:,.2f}" if abs(value) >= 1 or round(value, 2) == value else f"{value:.3g}"
