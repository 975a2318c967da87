"""Where every error meant for a user ends: its message, its witness, its exit code."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

import typer

from memorepair.cli.output import mute, report, say
from memorepair.errors import InvalidFile, MemoRepairError

Arguments = ParamSpec("Arguments")

CLEAN, PROBLEMS, BAD_INPUT, UNTOLD, INTERRUPTED, CUT_OFF = 0, 1, 2, 74, 130, 141
"""Exit codes; the last three are those of sysexits (EX_IOERR) and of a shell for SIGINT and SIGPIPE."""


def command(group: typer.Typer, name: str) -> Callable[[Callable[Arguments, int]], Callable[Arguments, int]]:
    """Register a function that returns its exit code; its parameter `as_json` says how errors are told."""

    def register(function: Callable[Arguments, int]) -> Callable[Arguments, int]:
        @wraps(function)
        def guarded(*args: Arguments.args, **kwargs: Arguments.kwargs) -> None:
            as_json = kwargs.get("as_json") is True
            try:
                try:
                    code = function(*args, **kwargs)
                except MemoRepairError as error:
                    report(error, as_json=as_json)
                    # A note tells what was done all the same, as a barrier that stands.
                    code = PROBLEMS if hasattr(error, "__notes__") else BAD_INPUT
                sys.stdout.flush()  # here, where a failure can still be told
            except KeyboardInterrupt:
                code = INTERRUPTED
            except SystemExit as end:
                if not isinstance(end.__context__, BrokenPipeError):  # Rich makes of it an exit with 1
                    raise
                code = CUT_OFF
            except OSError as error:
                code = _failed(error, as_json=as_json)
            raise typer.Exit(code)

        group.command(name)(guarded)
        return function

    return register


def _failed(error: OSError, *, as_json: bool) -> int:
    if error.filename is not None:
        name = str(error.filename)
        report(InvalidFile(f"{name}: {error.strerror}", witness=name), as_json=as_json)
        return BAD_INPUT
    mute()
    if isinstance(error, BrokenPipeError):
        return CUT_OFF
    say(f"error: what was done could not be told: {error.strerror}", style="red", error=True)
    return UNTOLD
