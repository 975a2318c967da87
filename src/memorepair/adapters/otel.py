"""OpenTelemetry GenAI spans as a recording: what a model was given, what it said, which tools ran.

Source: OpenTelemetry semantic conventions for generative AI, https://opentelemetry.io/docs/specs/semconv/gen-ai/;
OTLP JSON, https://opentelemetry.io/docs/specs/otlp/.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from memorepair.adapters.files import files_in, inside, read_json, read_lines
from memorepair.adapters.recording import Item, Recorder, Recording
from memorepair.adapters.shapes import Row, as_list, as_object, as_text, list_of, text_of
from memorepair.errors import InvalidInput
from memorepair.graphs.terms import Kind, Relation
from memorepair.memory.artifact import Json, Recipe, Source
from memorepair.repair.jsontext import canonical, parse

SAME_TEXT = "a message in a model's input is the earlier output with the same text"


def read(path: Path) -> Recording:
    """Spans of an OTLP ``.json`` or ``.jsonl`` file, or of all such files of a folder.

    Parameters
    ----------
    path
        Plain or with ``.xz``; ``resourceSpans`` at the top, of a line or of the file.

    Raises
    ------
    InvalidFile
        The witness names file, line and field.

    Notes
    -----
    What a span of a model was given is recorded: its input messages name the results by the id of their call.
    Spans without captured content are told as missing.
    """
    recorder = Recorder("otel-genai")
    for file in files_in(path, (".json", ".jsonl")):
        if ".jsonl" in file.suffixes:
            roots = list(read_lines(file, lambda value: as_object(value, "spans")))
        else:
            roots = [read_json(file, lambda value: as_object(value, "spans"))]
        with inside(file.name):
            spans = [span for root in roots for span in _spans(root)]
            spans.sort(
                key=lambda span: (str(span.get("traceId")), str(span.get("startTimeUnixNano")).zfill(20))
            )
            trace = _Traces(recorder)
            for span in spans:
                trace.add(span)
    return recorder.finish()


def _spans(root: Row) -> Iterator[Row]:
    for resource in list_of(root, "resourceSpans", "root"):
        for scope in list_of(as_object(resource, "resourceSpans"), "scopeSpans", "resourceSpans"):
            for span in list_of(as_object(scope, "scopeSpans"), "spans", "scopeSpans"):
                yield as_object(span, "span")


def _attributes(span: Row, where: str) -> dict[str, str]:
    """Attributes that are texts."""
    found: dict[str, str] = {}
    for one in as_list(span.get("attributes", []), f"{where}.attributes"):
        row = as_object(one, f"{where}.attributes")
        value = row.get("value")
        if isinstance(value, dict) and isinstance(value.get("stringValue"), str):
            found[text_of(row, "key", where)] = str(value["stringValue"])
    return found


class _Traces:
    """The steps of traces, whose spans come in the order they began."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._calls: dict[tuple[str, str], str] = {}  # trace, id of a call -> its action
        self._results: dict[tuple[str, str], str] = {}
        self._texts: dict[tuple[str, str, str], str] = {}  # trace, role, text -> its step

    def add(self, span: Row) -> None:
        trace = text_of(span, "traceId", "span")
        self._recorder.begin(trace)
        id = f"{trace}/{text_of(span, 'spanId', 'span')}"
        given = _attributes(span, id)
        match given.get("gen_ai.operation.name"):
            case "chat" | "generate_content" | "text_completion":
                self._model(trace, id, given)
            case "execute_tool":
                self._tool(trace, id, given)
            case _:
                self._recorder.miss("spans that are no call of a model or a tool, left out", id)

    def _tool(self, trace: str, id: str, given: dict[str, str]) -> None:
        call = given.get("gen_ai.tool.call.id", id)
        action = self._calls.get((trace, call))
        if action is None:
            arguments = given.get("gen_ai.tool.call.arguments", "")
            action = self._action(trace, id, call, given.get("gen_ai.tool.name", "tool"), arguments)
        result = given.get("gen_ai.tool.call.result")
        if result is None:
            self._recorder.miss("tool spans without a captured result", id)
        self._result(trace, f"{id}/result", call, result or "")

    def _model(self, trace: str, id: str, given: dict[str, str]) -> None:
        read = [
            one
            for message in _messages(given, "gen_ai.input.messages", id)
            for one in self._given(trace, id, message)
        ]
        said = _messages(given, "gen_ai.output.messages", id)
        if not said:
            self._recorder.miss("model spans without captured messages", id)
        for place, message in enumerate(said):
            text, calls, _ = _parts(message, id)
            step = f"{id}/{place}"
            kind = Kind.PLAN if calls else Kind.ANSWER
            what = "plans" if calls else "answers"
            self._recorder.add(Item(id=step, what=what, content=text, kind=kind))
            self._texts.setdefault((trace, "assistant", text), step)
            for source, relation, rule in read:
                self._recorder.link(source, step, relation, rule=rule)
            for call in calls:
                name, arguments = str(call.get("name", "tool")), call.get("arguments")
                written = arguments if isinstance(arguments, str) else canonical(arguments)
                action = self._action(trace, f"{step}/{name}", str(call.get("id", step)), name, written)
                self._recorder.link(step, action, Relation.PRODUCE)

    def _given(self, trace: str, id: str, message: Row) -> Iterator[tuple[str, Relation, str | None]]:
        """What a message in a model's input is, each made where it is seen first."""
        role = str(message.get("role", ""))
        text, _, results = _parts(message, id)
        for result in results:
            call = str(result.get("id", ""))
            if (trace, call) not in self._results:
                told = result.get("response", result.get("result"))
                content = told if isinstance(told, str) else canonical(told)
                self._result(trace, f"{id}/result-{call}", call, content)
            yield self._results[trace, call], Relation.SUPPORT, None
        if not text:
            return
        known = self._texts.get((trace, role, text))
        if known is None:
            user = role == "user"
            known = self._texts[trace, role, text] = f"{id}/{role}-{len(self._texts)}"
            kind, source = (Kind.USER_INPUT, Source.USER) if user else (Kind.RECORD, Source.SYSTEM)
            self._recorder.add(Item(id=known, what="inputs", content=text, kind=kind, source=source))
        said = role == "assistant"
        yield known, Relation.SUPPORT if said else Relation.INITIATE, SAME_TEXT if said else None

    def _action(self, trace: str, id: str, call: str, tool: str, arguments: str) -> str:
        action = f"{id}/call"
        content = canonical({"tool": tool, "arguments": _told(arguments)})
        self._recorder.add(Item(id=action, what="calls", content=content, kind=Kind.ACTION))
        self._calls[trace, call] = action
        return action

    def _result(self, trace: str, id: str, call: str, content: str) -> None:
        if (trace, call) in self._results:
            return
        self._results[trace, call] = id
        self._recorder.add(
            Item(
                id=id,
                what="results",
                content=content,
                kind=Kind.OBSERVATION,
                source=Source.TOOL,
                recipe=Recipe(observed=True),
            )
        )
        if (trace, call) in self._calls:
            self._recorder.link(self._calls[trace, call], id, Relation.PRODUCE)
        else:
            self._recorder.miss("results without a call", id)


def _told(arguments: str) -> Json:
    """Arguments as an object, as a recorded call has them; as they are where they are no JSON."""
    try:
        return parse(arguments)
    except InvalidInput:
        return arguments


def _messages(given: dict[str, str], name: str, where: str) -> list[Row]:
    value: Json = parse(given[name]) if name in given else []
    return [as_object(one, f"{where}.{name}") for one in as_list(value, f"{where}.{name}")]


def _parts(message: Row, where: str) -> tuple[str, list[Row], list[Row]]:
    """Text, tool calls and tool results of a message."""
    parts = [as_object(one, f"{where}.parts") for one in as_list(message.get("parts", []), f"{where}.parts")]
    texts = [as_text(one.get("content", ""), f"{where}.parts") for one in parts if one.get("type") == "text"]
    calls = [one for one in parts if one.get("type") == "tool_call"]
    return "\n".join(texts), calls, [one for one in parts if one.get("type") == "tool_call_response"]
