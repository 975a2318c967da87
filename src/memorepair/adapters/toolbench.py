"""ToolBench solution trees as a recording: along the path of an answer, never across a pruned branch.

Source: Y. Qin et al., ToolLLM: facilitating large language models to master 16000+ real-world APIs, 2023;
https://github.com/OpenBMB/ToolBench, https://github.com/THUNLP-MT/StableToolBench.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from memorepair.adapters.files import files_in, inside, named, parsed, read_json, read_lines
from memorepair.adapters.recording import Item, Recorder, Recording
from memorepair.adapters.shapes import Row, as_list, as_object, as_text, list_of, object_of, text_of
from memorepair.adapters.words import telling
from memorepair.errors import InvalidInput
from memorepair.graphs.terms import Kind, Relation
from memorepair.memory.artifact import Json, Recipe, Source
from memorepair.repair.jsontext import canonical, parse

REPEATS = "a call repeats a value of a result above it in the tree"
READS = "a thought reads the result right above it"
ANSWERS = "an answer reads every result and thought on its path"

_FINISH = "Finish"


def read(path: Path) -> Recording:
    """Solution trees of a ``.json`` or ``.jsonl`` file, or of all such files of a folder.

    Parameters
    ----------
    path
        Plain or with ``.xz``. An entry has ``answer_generation`` and a ``tree`` or ``trys``. Lists of
        queries, which ToolBench keeps beside the trees, are told and left out of a folder.

    Raises
    ------
    InvalidFile
        The witness names file, line and field.

    Notes
    -----
    Every link runs down one path of the tree, so that nothing of a pruned branch can reach an answer, which
    is on none.
    """
    return _read(path, typed=False)


def read_runs(path: Path) -> Recording:
    """The same trees as typed runs: inputs, plans, calls with what was observed, answers; see `read`."""
    return _read(path, typed=True)


def _read(path: Path, *, typed: bool) -> Recording:
    recorder = Recorder("toolbench-runs" if typed else "toolbench")
    for name, entry in _entries(recorder, path):
        with inside(name):
            if typed:
                recorder.begin(name)
            _add_entry(recorder, name, entry, typed=typed)
    return recorder.finish()


def _entries(recorder: Recorder, path: Path) -> Iterator[tuple[str, Row]]:
    for file in files_in(path, (".json", ".jsonl")):
        if ".jsonl" in file.suffixes:
            for number, row in enumerate(read_lines(file, lambda value: as_object(value, "entry")), start=1):
                yield _name(row, f"{named(file)}-{number}"), row
        else:
            found = read_json(file, lambda value: value)
            if isinstance(found, list) and path.is_dir():
                recorder.miss("files of queries, which hold no tree", file.name)
                continue
            with inside(file.name):
                row = as_object(found, "entry")
            yield _name(row, named(file)), row


def _name(row: Row, otherwise: str) -> str:
    """The file an entry was taken from, where it says so."""
    given = row.get("_file")
    return given.removesuffix(".json") if isinstance(given, str) and given else otherwise


@dataclass(frozen=True, slots=True, kw_only=True)
class _Path:
    """What lies above a node: the path of an answer that may come below."""

    query: str
    tools: Mapping[str, str]  # name -> its interface
    typed: bool  # whether steps of a run are made, or artifacts
    pruned: bool = False
    above: str | None = None  # the thought or result right above
    results: tuple[tuple[str, frozenset[str]], ...] = ()  # with the values they brought
    thoughts: tuple[str, ...] = ()
    tool: str | None = None
    given: frozenset[str] = frozenset()


def _add_entry(recorder: Recorder, name: str, entry: Row, *, typed: bool) -> None:
    where = f"{name}.answer_generation"
    generation = object_of(entry, "answer_generation", name)
    query = f"{name}/query"
    asked = text_of(generation, "query", where)
    kind = Kind.USER_INPUT if typed else Kind.RECORD
    recorder.add(Item(id=query, what="queries", content=asked, kind=kind, source=Source.USER))
    tools: dict[str, str] = {}
    for place, raw in enumerate(as_list(generation.get("function", []), f"{where}.function")):
        tool = as_object(raw, f"{where}.function[{place}]")
        called = text_of(tool, "name", f"{where}.function[{place}]")
        tools[called] = _add_interface(recorder, name, called, canonical(tool))
    start = _Path(query=query, tools=tools, typed=typed, given=telling(asked))
    answers = 0
    if "tree" in entry:
        root = object_of(object_of(entry, "tree", name), "tree", f"{name}.tree")
        answers = _add_tree(recorder, name, root, start)
    else:
        for number, raw in enumerate(list_of(entry, "trys", name)):
            chain = list_of(as_object(raw, f"{name}.trys[{number}]"), "chain", f"{name}.trys[{number}]")
            answers += _add_chain(recorder, name, number, chain, start)
    if not answers:
        recorder.miss("entries without a final answer", name)


def _add_interface(recorder: Recorder, name: str, called: str, contract: str) -> str:
    """One interface for all entries that state the same contract."""
    for id in (f"tool/{called}", f"{name}/tool/{called}"):
        there = recorder.get(id)
        if there is None:
            recorder.add(Item(id=id, what="interfaces", content=contract, source=Source.SYSTEM))
            return id
        if there.content == contract:
            return id
    raise InvalidInput(f"{name} states two contracts of {called}", witness=f"{name}/tool/{called}")


def _add_tree(recorder: Recorder, name: str, root: Row, start: _Path) -> int:
    """Add what lies below the root, which holds nothing itself; the number of answers."""
    answers = 0
    waiting = [("0", root, start)]
    while waiting:
        place, node, path = waiting.pop()
        if place != "0":
            path, answered = _add_node(recorder, name, place, node, path)
            answers += answered
        children = as_list(node.get("children", []), f"{name}/{place}.children")
        waiting += [
            (f"{place}.{number}", as_object(child, f"{name}/{place}.{number}"), path)
            for number, child in reversed(list(enumerate(children)))
        ]
    return answers


def _add_chain(recorder: Recorder, name: str, number: int, chain: list[Json], path: _Path) -> int:
    answers = 0
    for place, raw in enumerate(chain):
        node = as_object(raw, f"{name}.trys[{number}].chain[{place}]")
        path, answered = _add_node(recorder, name, f"{number}.{place}", node, path)
        answers += answered
    return answers


def _add_node(recorder: Recorder, name: str, place: str, node: Row, path: _Path) -> tuple[_Path, bool]:
    """Add one node; the path as it is below, and whether it was an answer."""
    where = f"{name}/{place}"
    what, said = text_of(node, "node_type", where), text_of(node, "description", where)
    path = replace(path, pruned=path.pruned or node.get("pruned") is True)
    if what == "Action":
        return replace(path, tool=said), False
    if what == "Thought":
        return _add_thought(recorder, where, said, path), False
    if what != "Action Input":
        raise InvalidInput(f"{where} is a {what!r}, not a thought or an action", witness=f"{where}.node_type")
    if path.tool is None:
        raise InvalidInput(f"{where} has arguments without an action above", witness=where)
    if path.tool == _FINISH:
        return path, _add_answer(recorder, where, said, path)
    return _add_call(recorder, where, said, node, path), False


def _marks(path: _Path) -> dict[str, Json]:
    return {"pruned": True} if path.pruned else {}


def _written(path: _Path, id: str, what: str, text: str) -> Item:
    """What the model wrote: a plan or an answer of a run, or a summary that can be made again."""
    if path.typed:
        kind = Kind.ANSWER if what == "answers" else Kind.PLAN
        return Item(id=id, what=what, content=text, kind=kind, metadata=_marks(path))
    return Item(
        id=id,
        what=what,
        content=text,
        kind=Kind.SUMMARY,
        source=Source.EXTRACTION,
        recipe=Recipe(operator="summarise"),
        metadata=_marks(path),
    )


def _add_thought(recorder: Recorder, where: str, said: str, path: _Path) -> _Path:
    recorder.add(_written(path, where, "thoughts", said))
    recorder.link(path.query, where, Relation.INITIATE)
    if path.above is not None:
        recorder.link(path.above, where, Relation.SUPPORT, rule=READS)
    return replace(path, above=where, thoughts=(*path.thoughts, where))


def _add_call(recorder: Recorder, where: str, said: str, node: Row, path: _Path) -> _Path:
    tool = path.tool or ""
    result = as_text(node.get("observation", ""), f"{where}.observation")
    arguments = _arguments(recorder, where, said)
    asked = f"{where}/call" if path.typed else where  # what the links of the call lead into
    if path.typed:
        told = canonical({"tool": tool, "arguments": arguments})
        recorder.add(Item(id=asked, what="calls", content=told, kind=Kind.ACTION, metadata=_marks(path)))
    recorder.add(
        Item(
            id=where,
            what="results",
            content=result,
            kind=Kind.OBSERVATION if path.typed else Kind.CACHE,
            source=Source.TOOL,
            recipe=Recipe(params=arguments, observed=True),
            metadata={"tool": tool, **_marks(path)},
        )
    )
    recorder.link(path.query, asked, Relation.INITIATE)
    if tool in path.tools:
        recorder.link(path.tools[tool], asked, Relation.PRODUCE)
    else:
        recorder.miss("calls of a tool whose interface is not recorded", where)
    if path.above is not None and path.above in path.thoughts:
        recorder.link(path.above, asked, Relation.PRODUCE)
    used = telling(said) - path.given
    for earlier, brought in path.results:
        if used & brought:
            recorder.link(earlier, asked, Relation.SUPPORT, rule=REPEATS)
    if path.typed:
        recorder.link(asked, where, Relation.PRODUCE)
    brought = telling(result) - path.given
    return replace(path, above=where, results=(*path.results, (where, brought)), tool=None)


def _arguments(recorder: Recorder, where: str, said: str) -> Row:
    try:
        return as_object(parse(said), where)
    except InvalidInput:  # models write such things
        recorder.miss("arguments that are no JSON object, kept as they are", where)
        return {"": said}


def _add_answer(recorder: Recorder, where: str, said: str, path: _Path) -> bool:
    given = _final(said)
    if given is None:
        return False
    if path.pruned:
        recorder.miss("answers on a pruned branch, left out", where)
        return False
    recorder.add(_written(path, where, "answers", given))
    recorder.link(path.query, where, Relation.INITIATE)
    for result, _ in path.results:
        recorder.link(result, where, Relation.SUPPORT, rule=ANSWERS)
    for thought in path.thoughts:
        recorder.link(thought, where, Relation.SUPPORT, rule=ANSWERS)
    return True


def _final(said: str) -> str | None:
    """The answer that the arguments of Finish give; None where they give up."""
    try:
        told = parsed(said, "Finish", lambda value: as_object(value, "arguments"))
    except InvalidInput:
        return said if "give_answer" in said else None  # cut off, or with bare line feeds
    answer = told.get("final_answer")
    return answer if told.get("return_type") == "give_answer" and isinstance(answer, str) else None
