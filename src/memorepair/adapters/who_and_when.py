"""Who&When failure logs as a recording: questions, what agents said to each other, answers.

Source: S. Zhang et al., Which agent causes task failures and when? On automated failure attribution of LLM
multi-agent systems, ICML 2025; https://github.com/mingyin1/Agents_Failure_Attribution.
"""

from __future__ import annotations

import re
from pathlib import Path

from memorepair.adapters.files import files_in, inside, named, read_json, read_lines
from memorepair.adapters.recording import Item, Recorder, Recording
from memorepair.adapters.shapes import Row, as_list, as_object, as_text, field, text_of
from memorepair.adapters.words import telling
from memorepair.errors import InvalidInput
from memorepair.graphs.terms import Kind, Relation
from memorepair.memory.artifact import Recipe, Source

QUOTES = "a message repeats a telling word that an earlier message brought first"
ADDRESSES = "a message replies to the last one that was addressed to its author"
RUNS = "a terminal runs the code of the message right before it"

_TO = re.compile(r"\(-> (\w+)\)")
_LOOKS = re.compile(r"terminal|surfer", re.IGNORECASE)
"""Agents that say what they saw, not what they think."""

_CODE = "```"
_FAREWELL = frozenset({"", "TERMINATE"})


def read(path: Path) -> Recording:
    """Failure logs of a ``.json`` or ``.jsonl`` file, or of all such files of a folder.

    Parameters
    ----------
    path
        Plain or with ``.xz``. A log has ``question`` and ``history``, a list of messages.

    Raises
    ------
    InvalidFile
        The witness names file, line and field.

    Notes
    -----
    The logs record who spoke in which order on which question, and no provenance: all other links are
    inferred, none from order alone. A step that people marked as the decisive mistake says so in its metadata
    (``{"mistake": reason}``).
    """
    recorder = Recorder("who-and-when")
    for file in files_in(path, (".json", ".jsonl")):
        if ".jsonl" in file.suffixes:
            rows = enumerate(read_lines(file, lambda value: as_object(value, "log")), start=1)
            logs = [(_name(row, f"{named(file)}-{number}"), row) for number, row in rows]
        else:
            row = read_json(file, lambda value: as_object(value, "log"))
            logs = [(_name(row, named(file)), row)]
        for name, log in logs:
            with inside(name):
                _add_log(recorder, name, log)
    return recorder.finish()


def _name(row: Row, otherwise: str) -> str:
    """The file a log was taken from, where it says so."""
    given = row.get("_file")
    return given.removesuffix(".json") if isinstance(given, str) and given else otherwise


def _add_log(recorder: Recorder, name: str, log: Row) -> None:
    question = text_of(log, "question", name)
    asked = f"{name}/question"
    recorder.begin(name)
    recorder.add(Item(id=asked, what="questions", content=question, kind=Kind.USER_INPUT, source=Source.USER))
    history = [
        as_object(one, f"{name}.history[{place}]")
        for place, one in enumerate(as_list(field(log, "history", name), f"{name}.history"))
    ]
    texts = [text_of(one, "content", f"{name}.history[{place}]") for place, one in enumerate(history)]
    authors = [_author(one, f"{name}.history[{place}]") for place, one in enumerate(history)]
    spoken = [place for place, text in enumerate(texts) if text.strip() not in _FAREWELL]
    mistake = _mistake(log, len(history), name)
    if mistake is None:
        recorder.miss("logs without a marked mistake", name)

    first: dict[str, int] = {}  # word -> the message that brought it
    asked_for: dict[str, int] = {}  # agent -> the last message addressed to it
    known = telling(question)
    for place, (text, author) in enumerate(zip(texts, authors, strict=True)):
        id = f"{name}/{place}"
        answer = bool(spoken) and place == spoken[-1]
        marked = {"mistake": str(log.get("mistake_reason") or "")} if place == mistake else {}
        recorder.add(
            Item(
                id=id,
                what="answers" if answer else "messages",
                content=text,
                kind=Kind.ANSWER if answer else _kind(author),
                recipe=Recipe(observed=_LOOKS.search(author) is not None),
                metadata={"author": author, **marked},
            )
        )
        words = telling(text)
        for earlier in sorted({first[word] for word in words if word in first}):
            recorder.link(f"{name}/{earlier}", id, Relation.SUPPORT, rule=QUOTES)
        if (heard := asked_for.get(_agent(author))) is not None:
            recorder.link(f"{name}/{heard}", id, Relation.INITIATE, rule=ADDRESSES)
        if place and _LOOKS.search(author) and _CODE in texts[place - 1]:
            recorder.link(f"{name}/{place - 1}", id, Relation.PRODUCE, rule=RUNS)
        recorder.link(asked, id, Relation.INITIATE)
        first.update((word, place) for word in words - known)
        known |= words
        if (to := _TO.search(author)) is not None:
            asked_for[to[1]] = place


def _author(message: Row, where: str) -> str:
    given = message.get("name", message.get("role"))
    if given is None:
        raise InvalidInput(f"{where} has no author", witness=f"{where}.role")
    return as_text(given, f"{where}.role")


def _agent(author: str) -> str:
    """The agent, without what it does: ``Orchestrator (thought)`` is the orchestrator."""
    return author.partition(" ")[0]


def _kind(author: str) -> Kind:
    if _TO.search(author):
        return Kind.PLAN
    return Kind.OBSERVATION if _LOOKS.search(author) else Kind.CLAIM


def _mistake(log: Row, messages: int, name: str) -> int | None:
    """Which message people marked; the logs write its number as a text."""
    told = log.get("mistake_step")
    if told is None:
        return None
    if not str(told).isdecimal() or int(str(told)) >= messages:
        raise InvalidInput(f"{name} marks a step that is not there", witness=f"{name}.mistake_step")
    return int(str(told))
