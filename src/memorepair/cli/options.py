"""Options that several commands share."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer

from memorepair.adapters.embedders.named import from_environment
from memorepair.errors import InvalidInput
from memorepair.facade import Memory
from memorepair.memory.artifact import Key, Scope
from memorepair.problems.integers import fraction

Db = Annotated[Path, typer.Option("--db", envvar="MEMOREPAIR_DB", help="The memory's file.", dir_okay=False)]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON document on standard output, nothing else.")]
KeyText = Annotated[str, typer.Argument(metavar="KEY", help="An artifact, written like user/42::home.")]
Actor = Annotated[str, typer.Option(envvar="MEMOREPAIR_ACTOR", help="Who does it; goes into the journal.")]
Reason = Annotated[str, typer.Option(help="Why; goes into the journal.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would happen; change nothing.")]
ScopeText = Annotated[
    str, typer.Option("--scope", help="A scope, written like user/42; empty for the root scope.")
]
MaybeScope = Annotated[str | None, typer.Option("--scope", help="Only this scope, written like user/42.")]
Suspected = Annotated[
    float | None,
    typer.Option(min=0.0, max=1.0, help="Follow suspected influence arcs from this probability on too."),
]
Wait = Annotated[float, typer.Option(min=0.0, help="Seconds to wait for a repair that is running.")]
Evidence = Annotated[
    str, typer.Option(help="What other support may keep in service: none, direct, grounded.")
]
SameOrigin = Annotated[
    list[str] | None,
    typer.Option(
        help="Keys that count as one source, with a space between; repeat it for another such set.",
        metavar="'KEY KEY...'",
    ),
]
CaseNumber = Annotated[int, typer.Argument(metavar="CASE", help="Number of the case.")]
Tradeoff = Annotated[float | None, typer.Option(help="Price: value per unit of cost.")]
Budget = Annotated[
    str | None, typer.Option(help="The most that the chosen may cost together.", metavar="NUMBER")
]
FromFormat = Annotated[
    str | None, typer.Option("--from", help="Format of the file read, where its name does not say it.")
]
Ties = Annotated[str, typer.Option(help="Of several optima the smallest (fewest) or the largest (most).")]
Solver = Annotated[str, typer.Option(help="Name of the solver.")]


def amount(text: str, what: str) -> Fraction:
    """The number that an option's text spells, no digit lost."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        number = Decimal("nan")
    if not number.is_finite():
        raise InvalidInput(f"{what} is a finite number, not {text[:40]!r}", witness=text)
    return fraction(number)


def opened(db: Path) -> Memory:
    """The memory in a file that must be there."""
    return Memory.open(db, create=False, embedder=from_environment())


def as_scope(text: str) -> Scope:
    """The scope written `text`, checked as a key's is."""
    return Key(tuple(text.split("/")) if text else (), "any").scope
