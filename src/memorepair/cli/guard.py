"""Where every error meant for a user ends: its message, its witness, exit code 2."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

import typer

from memorepair.cli.output import report
from memorepair.errors import MemoRepairError

Arguments = ParamSpec("Arguments")

CLEAN, PROBLEMS, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130
"""Exit codes."""


def command(group: typer.Typer, name: str) -> Callable[[Callable[Arguments, int]], Callable[Arguments, int]]:
    """Register a function that returns its exit code; its parameter `as_json` says how errors are told."""

    def register(function: Callable[Arguments, int]) -> Callable[Arguments, int]:
        @wraps(function)
        def guarded(*args: Arguments.args, **kwargs: Arguments.kwargs) -> None:
            try:
                code = function(*args, **kwargs)
            except MemoRepairError as error:
                report(error, as_json=kwargs.get("as_json") is True)
                code = BAD_INPUT
            except KeyboardInterrupt:
                code = INTERRUPTED
            raise typer.Exit(code)

        group.command(name)(guarded)
        return function

    return register
