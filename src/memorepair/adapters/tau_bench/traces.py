"""Recorded runs: the tool calls with their results, the texts said between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from memorepair.adapters.files import locate, read_lines
from memorepair.adapters.shapes import (
    as_int,
    as_list,
    as_object,
    as_text,
    field,
    list_of,
    object_of,
    text_of,
)
from memorepair.errors import InvalidFile, InvalidInput
from memorepair.memory.artifact import Json
from memorepair.repair.jsontext import parse

RUNS = "gpt-4o-airline.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call with its recorded result; `message` is the position of the call's message in the run."""

    message: int
    tool: str
    arguments: Mapping[str, Json]
    result: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A text by the user or the assistant at its position in the run."""

    message: int
    text: str
    by_assistant: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run. `steps` are in the order of the conversation; the system prompt is not among them."""

    task: int
    trial: int
    steps: tuple[ToolCall | Said, ...]

    @property
    def name(self) -> str:
        """``run-<task>-<trial>``, unique in an import."""
        return f"run-{self.task}-{self.trial}"


def read_runs(folder: Path) -> tuple[Run, ...]:
    """Read every run of a folder.

    Raises
    ------
    InvalidFile
        A missing file, a malformed line (witness: file and line), a run told twice.
    """
    path = locate(folder, RUNS)
    runs: dict[str, Run] = {}
    for run in read_lines(path, _run):
        if run.name in runs:
            raise InvalidFile(f"{path.name}: {run.name} is told twice", witness=run.name)
        runs[run.name] = run
    return tuple(runs.values())


def _run(value: Json) -> Run:
    told = as_object(value, "run")
    steps: list[ToolCall | Said] = []
    asked: tuple[int, str, Mapping[str, Json]] | None = None  # a call that waits for its result
    for position, item in enumerate(list_of(told, "traj", "run")):
        where = f"traj[{position}]"
        message = as_object(item, where)
        role = text_of(message, "role", where)
        if (role == "tool") != (asked is not None):
            raise InvalidInput(f"{where}: a call and its result stand side by side", witness=where)
        if asked is not None:
            at, tool, arguments = asked
            if text_of(message, "name", where) != tool:
                raise InvalidInput(f"{where} is not the result of {tool}", witness=where)
            result = text_of(message, "content", where)
            steps.append(ToolCall(message=at, tool=tool, arguments=arguments, result=result))
            asked = None
            continue
        if role == "system":
            continue
        if role not in ("user", "assistant"):
            raise InvalidInput(f"{where} has the unknown role {role!r}", witness=where)
        content = field(message, "content", where)
        if content is not None:
            text = as_text(content, f"{where}.content")
            steps.append(Said(message=position, text=text, by_assistant=role == "assistant"))
        calls = message.get("tool_calls")
        if calls is not None:
            asked = (position, *_function(as_list(calls, f"{where}.tool_calls"), f"{where}.tool_calls"))
    if asked is not None:
        raise InvalidInput(f"the call of {asked[1]} has no result", witness=f"traj[{asked[0]}]")
    return Run(
        task=as_int(field(told, "task_id", "run"), "task_id"),
        trial=as_int(field(told, "trial", "run"), "trial"),
        steps=tuple(steps),
    )


def _function(calls: list[Json], where: str) -> tuple[str, Mapping[str, Json]]:
    if len(calls) != 1:
        raise InvalidInput(f"{where} must hold one call, the only one that was made", witness=where)
    function = object_of(as_object(calls[0], where), "function", where)
    written = text_of(function, "arguments", where)
    try:
        arguments = parse(written)
    except InvalidInput as error:
        raise InvalidInput(f"{where}: arguments: {error.message}", witness=where) from error
    return text_of(function, "name", where), as_object(arguments, f"{where}.arguments")
