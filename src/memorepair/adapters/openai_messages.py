"""OpenAI-style message lists as a recording: inputs, plans, tool calls with their results, answers.

Source: the Chat Completions message format, https://platform.openai.com/docs/api-reference/chat.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from memorepair.adapters.files import files_in, inside, named, parsed, read_json, read_lines
from memorepair.adapters.recording import Item, Recorder, Recording
from memorepair.adapters.shapes import Row, as_list, as_object, as_text, object_of, text_of
from memorepair.adapters.words import telling
from memorepair.errors import InvalidFile, InvalidInput
from memorepair.graphs.terms import Kind, Relation
from memorepair.memory.artifact import Json, Recipe, Source
from memorepair.repair.jsontext import canonical

QUOTES = "a step repeats a telling word that an earlier step brought first"
REPLIES = "an assistant replies to the last message of the user"
FOLLOWS = "a result without an id belongs to the last open call of its name"


def read(path: Path) -> Recording:
    """Conversations of a ``.json`` or ``.jsonl`` file, or of all such files of a folder.

    Parameters
    ----------
    path
        Plain or with ``.xz``. A conversation is a list of messages, or an object that has one as ``messages``
        or ``traj``; a recorded exchange has ``request`` and ``response``, and is read with its answer.

    Raises
    ------
    InvalidFile
        The witness names file, line and field.

    Notes
    -----
    Recorded are the links from a message to the calls it makes, and from a call to the result with its id.
    The rest is inferred, none of it from order alone.
    """
    recorder = Recorder("openai-messages")
    for name, messages in _conversations(path, recorder):
        with inside(name):
            recorder.begin(name)
            _Conversation(recorder, name).add(messages)
    return recorder.finish()


def _conversations(path: Path, recorder: Recorder) -> Iterator[tuple[str, list[Json]]]:
    for file in files_in(path, (".json", ".jsonl")):
        if ".jsonl" in file.suffixes:
            rows = enumerate(read_lines(file, lambda value: value), start=1)
            values = [(f"{named(file)}-{number}", value) for number, value in rows]
        else:
            values = [(named(file), read_json(file, lambda value: value))]
        for name, value in values:
            with inside(name):
                yield from _found(name, value, recorder)


def _found(name: str, value: Json, recorder: Recorder) -> Iterator[tuple[str, list[Json]]]:
    if isinstance(value, list):
        if value and all(isinstance(one, dict) and "role" in one for one in value):
            yield name, value
            return
        for number, one in enumerate(value):
            row = as_object(one, f"{name}[{number}]")
            yield from _found(str(row.get("cassette", f"{name}-{number}")), row, recorder)
        return
    row = as_object(value, name)
    if isinstance(row.get("interactions"), list):
        for number, one in enumerate(as_list(row["interactions"], f"{name}.interactions")):
            yield from _found(f"{name}-{number}", one, recorder)
        return
    if "request" in row:
        request = object_of(row, "request", name)
        messages = request.get("messages")
        if not isinstance(messages, list):
            recorder.miss("exchanges without a list of messages, left out", name)
            return
        yield name, [*messages, *_response(name, row.get("response"), recorder)]
        return
    messages = row.get("messages", row.get("traj"))
    if not isinstance(messages, list):
        raise InvalidInput(f"{name} has no list of messages", witness=name)
    yield name, messages


def _response(name: str, response: Json, recorder: Recorder) -> list[Json]:
    """The message of a recorded response; a stream is not put together."""
    if isinstance(response, str):
        try:
            response = parsed(response, name, lambda value: value)
        except InvalidFile:
            recorder.miss("responses that are streams, left out", name)
            return []
    choices = as_list(as_object(response, f"{name}.response").get("choices", []), f"{name}.choices")
    return [object_of(as_object(one, f"{name}.choices"), "message", name) for one in choices[:1]]


class _Conversation:
    """One conversation under way."""

    def __init__(self, recorder: Recorder, name: str) -> None:
        self._recorder = recorder
        self._name = name
        self._known: set[str] = set()
        self._first: dict[str, str] = {}  # word -> the step that brought it
        self._asked: str | None = None
        self._calls: dict[str, str] = {}  # id of a call -> its action
        self._open: list[tuple[str, str]] = []  # tool, action

    def add(self, messages: list[Json]) -> None:
        rows = [as_object(one, f"{self._name}[{place}]") for place, one in enumerate(messages)]
        said = [
            place for place, row in enumerate(rows) if row.get("role") == "assistant" and row.get("content")
        ]
        final = said[-1] if said and not rows[said[-1]].get("tool_calls") else None
        if final is None:
            self._recorder.miss("conversations without a final answer", self._name)
        for place, row in enumerate(rows):
            self._add(f"{self._name}/{place}", row, final=place == final)

    def _add(self, id: str, row: Row, *, final: bool) -> None:
        role, text = text_of(row, "role", id), _text(row, id)
        if role in ("system", "developer"):
            self._step(id, "instructions", text, Kind.RECORD, Source.SYSTEM)
        elif role == "user":
            self._step(id, "inputs", text, Kind.USER_INPUT, Source.USER)
            self._asked = id
        elif role in ("tool", "function"):
            self._result(id, row, text)
        elif role == "assistant":
            self._assistant(id, row, text, final=final)
        else:
            raise InvalidInput(f"{id} has the unknown role {role!r}", witness=f"{id}.role")

    def _assistant(self, id: str, row: Row, text: str, *, final: bool) -> None:
        calls = as_list(row.get("tool_calls") or [], f"{id}.tool_calls")
        if text or not calls:
            kind = Kind.ANSWER if final else Kind.PLAN if calls else Kind.CLAIM
            self._step(id, "answers" if final else "plans" if calls else "claims", text, kind, Source.LOG)
            self._quoting(id, text)
        for number, raw in enumerate(calls):
            call = as_object(raw, f"{id}.tool_calls[{number}]")
            function = object_of(call, "function", f"{id}.tool_calls[{number}]")
            tool = text_of(function, "name", f"{id}.tool_calls[{number}]")
            arguments = as_text(function.get("arguments", "{}"), f"{id}.tool_calls[{number}].arguments")
            action = f"{id}/call-{number}"
            said = canonical({"tool": tool, "arguments": _told(arguments)})
            self._step(action, "calls", said, Kind.ACTION, Source.LOG)
            if text:
                self._recorder.link(id, action, Relation.PRODUCE)
            self._quoting(action, arguments)
            if isinstance(given := call.get("id"), str):
                self._calls[given] = action
            self._open.append((tool, action))

    def _result(self, id: str, row: Row, text: str) -> None:
        given = row.get("tool_call_id")
        action = self._calls.get(given) if isinstance(given, str) else None
        rule = None
        if action is None:
            tool, rule = row.get("name"), FOLLOWS
            action = next((one for name, one in reversed(self._open) if tool in (None, name)), None)
        self._step(id, "results", text, Kind.OBSERVATION, Source.TOOL)
        if action is None:
            self._recorder.miss("results without a call", id)
            return
        self._open = [one for one in self._open if one[1] != action]
        self._recorder.link(action, id, Relation.PRODUCE, rule=rule)

    def _quoting(self, id: str, text: str) -> None:
        if self._asked is not None:
            self._recorder.link(self._asked, id, Relation.INITIATE, rule=REPLIES)
        for earlier in sorted({self._first[word] for word in telling(text) if word in self._first} - {id}):
            self._recorder.link(earlier, id, Relation.SUPPORT, rule=QUOTES)

    def _step(self, id: str, what: str, text: str, kind: Kind, source: Source) -> None:
        observed = Recipe(observed=kind is Kind.OBSERVATION)
        self._recorder.add(Item(id=id, what=what, content=text, kind=kind, source=source, recipe=observed))
        words = telling(text)
        for word in words - self._known:
            self._first[word] = id
        self._known |= words


def _told(arguments: str) -> Json:
    """Arguments as an object, as a recorded call has them; as they are where they are no JSON."""
    try:
        return parsed(arguments, "arguments", lambda value: value)
    except InvalidFile:
        return arguments


def _text(row: Row, where: str) -> str:
    """A message's text; of blocks those that are texts."""
    content = row.get("content")
    if content is None:
        return ""
    if isinstance(content, list):
        blocks = (as_object(one, f"{where}.content") for one in content)
        return "\n".join(as_text(one["text"], f"{where}.content") for one in blocks if "text" in one)
    return as_text(content, f"{where}.content")
