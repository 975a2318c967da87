"""Letta agent files as a recording: agents, and the blocks, tools, skills, messages that they stand on.

Source: the agent file format, https://github.com/letta-ai/agent-file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from memorepair.adapters.files import files_in, inside, named, parsed, read_json
from memorepair.adapters.recording import Item, Recorder, Recording
from memorepair.adapters.shapes import Row, as_list, as_object, as_text, object_of, text_of
from memorepair.errors import InvalidInput
from memorepair.graphs.terms import Kind, Relation
from memorepair.memory.artifact import Json, Recipe, Source
from memorepair.repair.jsontext import canonical

_REFERENCES = ("block_ids", "tool_ids", "in_context_message_ids", "source_ids", "folder_ids", "group_ids")
"""Members of an agent that name what it stands on."""

_ROLES = {
    "system": (Kind.RECORD, Source.SYSTEM, "instructions"),
    "user": (Kind.USER_INPUT, Source.USER, "inputs"),
    "assistant": (Kind.CLAIM, Source.LOG, "claims"),
    "approval": (Kind.CLAIM, Source.LOG, "approvals"),
    "tool": (Kind.OBSERVATION, Source.TOOL, "results"),
}


def read(path: Path) -> Recording:
    """Agents of an ``.af`` or ``.json`` file, or of all such files of a folder.

    Parameters
    ----------
    path
        Plain or with ``.xz``; a file may hold its JSON as a text.

    Raises
    ------
    InvalidFile
        The witness names file and field.

    Notes
    -----
    All links are recorded ones: an agent stands on the blocks, tools, messages in context, sources and groups
    that it names, and a tool's result on the call with its id. What is named and not there is told by name;
    the rest is taken over. Code of tools and skills is content like any other: it is never run.
    """
    recorder = Recorder("letta")
    for file in files_in(path, (".af", ".json")):
        name = named(file).removesuffix(".af")
        with inside(name):
            _File(recorder, name).add(_document(read_json(file, lambda value: value), name))
    return recorder.finish()


def _document(value: Json, name: str) -> Row:
    if isinstance(value, str):
        value = parsed(value, name, lambda inner: inner)
    row = as_object(value, name)
    if "agents" not in row:
        raise InvalidInput(f"{name} has no agents", witness=f"{name}.agents")
    return row


class _File:
    """One file under way; an id is the file's name and its own."""

    def __init__(self, recorder: Recorder, name: str) -> None:
        self._recorder = recorder
        self._name = name

    def add(self, document: Row) -> None:
        adders: dict[str, Callable[[Row, str], None]] = {
            "blocks": self._block,
            "tools": self._tool,
            "skills": self._skill,
            "files": self._described("files"),
            "sources": self._described("sources"),
            "groups": self._described("groups"),
            "agents": self._agent,
        }
        for what, adder in adders.items():
            for row, where in self._rows(document, what):
                adder(row, where)
        # References last: a member may be named before it comes.
        for row, where in self._rows(document, "agents"):
            self._link_agent(row, where)
        for row, where in self._rows(document, "groups"):
            self._refer(self._id(row, where), row, "agent_ids", where)

    def _rows(self, document: Row, what: str) -> Iterator[tuple[Row, str]]:
        listed = as_list(document.get(what) or [], f"{self._name}.{what}")
        for place, one in enumerate(listed):
            where = f"{self._name}.{what}[{place}]"
            yield as_object(one, where), where

    def _id(self, row: Row, where: str) -> str:
        return f"{self._name}/{text_of(row, 'id', where)}"

    # items -----------------------------------------------------------------------------------------

    def _block(self, row: Row, where: str) -> None:
        label, value = _optional(row, "label", where), as_text(row.get("value") or "", f"{where}.value")
        self._recorder.add(
            Item(
                id=self._id(row, where),
                what="blocks",
                content=value if value.strip() else f"({label or 'block'}: empty)",
                source=Source.EXTRACTION,
                metadata={"label": label, "read_only": bool(row.get("read_only"))},
            )
        )

    def _tool(self, row: Row, where: str) -> None:
        told = {name: row.get(name) for name in ("name", "description", "json_schema", "source_code")}
        content = canonical({name: value for name, value in told.items() if value is not None})
        self._recorder.add(
            Item(
                id=self._id(row, where),
                what="tools",
                content=content,
                source=Source.SYSTEM,
                metadata={"name": _optional(row, "name", where)},
            )
        )

    def _skill(self, row: Row, where: str) -> None:
        name = text_of(row, "name", where)
        files = canonical(object_of(row, "files", where)) if row.get("files") is not None else name
        self._recorder.add(
            Item(id=f"{self._name}/skill-{name}", what="skills", content=files, source=Source.SYSTEM)
        )

    def _described(self, what: str) -> Callable[[Row, str], None]:
        def add(row: Row, where: str) -> None:
            self._recorder.add(
                Item(id=self._id(row, where), what=what, content=canonical(row), source=Source.SYSTEM)
            )

        return add

    def _agent(self, row: Row, where: str) -> None:
        name = text_of(row, "name", where)
        system = _optional(row, "system", where)
        self._recorder.add(
            Item(
                id=self._id(row, where),
                what="agents",
                content=system if system.strip() else name,
                kind=Kind.SUMMARY,
                source=Source.SYSTEM,
                metadata={"name": name},
            )
        )
        for place, one in enumerate(as_list(row.get("messages") or [], f"{where}.messages")):
            self._message(as_object(one, f"{where}.messages[{place}]"), f"{where}.messages[{place}]")

    def _message(self, row: Row, where: str) -> None:
        role = text_of(row, "role", where)
        if role not in _ROLES:
            raise InvalidInput(f"{where} has the unknown role {role!r}", witness=f"{where}.role")
        kind, source, what = _ROLES[role]
        calls = as_list(row.get("tool_calls") or [], f"{where}.tool_calls")
        said = _said(row.get("content"), where)
        if calls:
            kind, what = Kind.ACTION, "calls"
            said = "\n".join(filter(None, (said, canonical(calls))))
        self._recorder.add(
            Item(
                id=self._id(row, where),
                what=what,
                content=said,
                kind=kind,
                source=source,
                recipe=Recipe(observed=kind is Kind.OBSERVATION),
            )
        )

    # references ------------------------------------------------------------------------------------

    def _link_agent(self, row: Row, where: str) -> None:
        agent = self._id(row, where)
        for member in _REFERENCES:
            self._refer(agent, row, member, where)
        calls: dict[str, str] = {}
        for place, one in enumerate(as_list(row.get("messages") or [], f"{where}.messages")):
            at = f"{where}.messages[{place}]"
            message = as_object(one, at)
            id = self._id(message, at)
            for call in as_list(message.get("tool_calls") or [], f"{at}.tool_calls"):
                if isinstance(given := as_object(call, f"{at}.tool_calls").get("id"), str):
                    calls[given] = id
            answered = message.get("tool_call_id")
            if isinstance(answered, str):
                if answered in calls:
                    self._recorder.link(calls[answered], id, Relation.PRODUCE)
                else:
                    self._recorder.miss("results without a call", id)

    def _refer(self, head: str, row: Row, member: str, where: str) -> None:
        for one in as_list(row.get(member) or [], f"{where}.{member}"):
            tail = f"{self._name}/{as_text(one, f'{where}.{member}')}"
            if tail in self._recorder:
                self._recorder.link(tail, head, Relation.SUPPORT)
            else:
                self._recorder.miss(f"{member} that name what is not in the file", f"{tail} -> {head}")


def _optional(row: Row, name: str, where: str) -> str:
    given = row.get(name)
    return "" if given is None else as_text(given, f"{where}.{name}")


def _said(content: Json, where: str) -> str:
    """A message's text; of parts those that are texts."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    parts = (as_object(one, f"{where}.content") for one in as_list(content, f"{where}.content"))
    return "\n".join(as_text(one["text"], f"{where}.content") for one in parts if "text" in one)
