"""No statement reaches content past the barrier, except the engine reads listed here with their reason."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from memorepair.memory import barrier

CONTENT = re.compile(r"\b(?:FROM|JOIN)\s+(?:content|vector|recipe|fts|image)\b")
JOINS = ("SERVED", "PAST", "CARRIED", "HITS", "READ", "NEAR")
ROOM = Path(barrier.__file__).parent

ENGINE_READS = {
    "engine._INSPECT": "what `inspect` and `former` read",
    "engine._text": "what `before_image` and `staged_content` read",
    "engine._FORMER_RECIPE": "how to make again what `history` shows; `drafts` looks at the barrier first",
    "engine.recipes": "how to make it again; never served",
    "publication._TEXT": "what would be published becomes a digest at once",
    "cases._bury": "what the roots of a deletion have said becomes digests at once",
    "erasure._KEPT": "whether there is content; ids alone",
    "erasure._TEXTS": "what is erased becomes digests at once",
    "export._SIGNED": "a full backup, which a person signs; content of what its journal entry names",
    "statistics._SPACES": "counts",
    "statistics._TEXT": "lengths",
    "statistics.take": "counts and lengths",
    "check._CONTENT": "content becomes a digest at once",
    "spaces._LACKING": "whether there is a vector; ids alone",
    "spaces._FIRST": "the name of a space",
    "vectorindex._ROWS": "numbers, for a file that names versions; what they are comes through NEAR",
    "vectorindex._COUNT": "counts",
    "vectorindex.prepare": "a number",
    "spaces.require_way_back": "whether there is a vector",
    "upkeep._keep_vectors": "a vector of the former version becomes the next one's",
    "index.add": "the index is given the text",
    "index.add_from": "the index is given the text",
    "index.remove": "the index must be given the text it was given before",
    "schema.MIGRATIONS": "the view the index is checked against",
}

CONTENT_READERS = {
    "inspect": "an entry of its own: a person reviews",
    "before_image": "an entry of its own: an operator reads the version it carries over",
    "former": "the repair entry of its case: repair compares a successor with what it replaces",
    "staged_content": "the stage entry of the successor: a validation reads what this repair has made",
}
"""Functions of `engine` that let content out, each with what the journal has of it."""


def statements() -> Iterator[tuple[str, str]]:
    """Every SELECT of the room that touches content: who states it, and its text with names for its parts."""
    for path in sorted(ROOM.glob("*.py")):
        tree = ast.parse(path.read_text())
        owners: list[ast.stmt] = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        owners += [node for node in tree.body if isinstance(node, ast.Assign | ast.AnnAssign)]
        for owner in owners:
            for node in ast.walk(owner):
                text = _text(node)
                if text is not None and "SELECT" in text and (CONTENT.search(text) or _joined(text)):
                    yield f"{path.stem}.{_name(owner)}", text


def _text(node: ast.AST) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(
            str(part.value)
            if isinstance(part, ast.Constant)
            else "{" + ast.unparse(part).strip("f'{}\"") + "}"
            for part in node.values
        )
    return None


def _joined(text: str) -> bool:
    return any("{" + name + "}" in text for name in JOINS)


def _name(owner: ast.stmt) -> str:
    if isinstance(owner, ast.FunctionDef):
        return owner.name
    target = owner.targets[0] if isinstance(owner, ast.Assign) else getattr(owner, "target", None)
    return target.id if isinstance(target, ast.Name) else ""


def test_content_is_reached_through_the_barrier_or_by_a_listed_engine_read() -> None:
    found = list(statements())
    past_the_barrier = {owner for owner, text in found if not _joined(text)}
    assert past_the_barrier == set(ENGINE_READS)
    assert {owner for owner, text in found if _joined(text)} >= {
        "doors._GET",
        "doors._GET_MANY",
        "doors._HISTORY",
        "doors._SCAN",
        "doors._FIND",
        "doors._NEAR",
        "doors._GET_NEAR",
        "export._OPEN",
        "merging._HERE",
        "survey._ROWS",
        "survey._VECTORS",
    }


def test_each_engine_read_of_content_is_journalled_or_says_what_stands_for_it() -> None:
    functions = [
        node for node in ast.parse((ROOM / "engine.py").read_text()).body if isinstance(node, ast.FunctionDef)
    ]
    used = {
        function.name: {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
        for function in functions
    }
    readers = {name for name, names in used.items() if names & {"_INSPECT", "_text"}}
    assert readers == set(CONTENT_READERS)
    own = {name for name in readers if "journal" in used[name]}
    assert own == {name for name, what in CONTENT_READERS.items() if what.startswith("an entry of its own")}


def test_every_join_to_content_asks_the_barrier_of_the_same_version() -> None:
    for name in JOINS:
        text = getattr(barrier, name)
        assert not re.search(r"JOIN fts\b", text)
        (vid,) = set(re.findall(r"barrier b ON b\.vid = (\S+)", text))
        joins = re.findall(r"JOIN (?:content|vector|recipe) (\w) ON (.*?)(?= LEFT| JOIN|\n|$)", text)
        assert joins
        for alias, condition in joins:
            assert condition.removeprefix("x.given = 1 AND ") == f"{alias}.vid = {vid} AND b.vid IS NULL"


def test_content_is_never_overwritten() -> None:
    # The journal's rows are before-images only because of this; and secure_delete reaches no moved cell.
    for path in ROOM.glob("*.py"):
        assert not re.search(r"UPDATE\s+(content|vector|recipe)\b", path.read_text())
        assert not re.search(r"REPLACE\s+INTO", path.read_text())
