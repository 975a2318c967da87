"""Worlds: memories whose provenance is known, with the operators that act in them."""

from __future__ import annotations

import json
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from memorepair.memory.artifact import Draft, Json, Key
from memorepair.repair.events import Correction, EventKind, Interface, Migration, RepairEvent
from memorepair.repair.operators.operator import Call, Operator
from memorepair.repair.operators.recompute import FunctionOperator

ACTOR = "bench"
REPLAYED = "bench.replay"
LEAST = 4
"""Members that a cascade must have for its root to be drawn."""

_PIECE = re.compile(r"\w+|\W+")
_NAMED = re.compile(r"id$|_ids?$|number|interface|table|name$", re.IGNORECASE)
_OTHER = ("amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "hazel", "indigo", "jasper")

Revise = Callable[[str, random.Random], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Artifacts as they are before an event, parents before children.

    Attributes
    ----------
    operators
        Beside the built-in ones.
    deletable, correctable, migratable
        Roots among which events are drawn.
    rows
        Operator that carries data rows to a migrated interface, None where no rows follow it.
    revise, renew
        The new content of a corrected root, and of a migrated interface, from the old.
    renewed
        The key of a migrated interface's successor; its own unless given.
    """

    name: str
    drafts: tuple[Draft, ...]
    operators: tuple[Operator, ...] = ()
    deletable: tuple[Key, ...]
    correctable: tuple[Key, ...]
    migratable: tuple[Key, ...]
    rows: str | None = None
    revise: Revise
    renew: Revise
    renewed: Callable[[Key], Key] = field(default=lambda key: key)

    def events(self, seed: int, each: int) -> tuple[RepairEvent, ...]:
        """So many deletions, corrections and migrations, drawn by seed among roots with a cascade.

        Beside them half as many deletions among roots whose cascade has members that stand on other support.
        """
        truth = Truth(self.drafts)
        content = {draft.key: draft.content for draft in self.drafts}
        found: list[RepairEvent] = []
        for kind, among in (
            (EventKind.DELETE, self.deletable),
            (EventKind.CORRECT, self.correctable),
            (EventKind.MIGRATE, self.migratable),
        ):
            draw = random.Random(f"{self.name} {kind} {seed}")
            roots = [root for root in among if len(truth.cascade([root])) >= LEAST]
            found += [
                self._event(kind, root, content[root], draw)
                for root in draw.sample(roots, min(each, len(roots)))
            ]
        drawn = {root for event in found for root in event.roots}
        draw = random.Random(f"{self.name} other support {seed}")
        roots = [root for root in self.deletable if root not in drawn and truth.carried([root])]
        found += [
            self._event(EventKind.DELETE, root, content[root], draw)
            for root in draw.sample(roots, min(-(-each // 2), len(roots)))
        ]
        return tuple(found)

    def _event(self, kind: EventKind, root: Key, content: str, draw: random.Random) -> RepairEvent:
        if kind is EventKind.DELETE:
            return RepairEvent(kind=kind, roots=(root,), reason="privacy request", actor=ACTOR)
        if kind is EventKind.CORRECT:
            new = {root: self.revise(content, draw)}
            return RepairEvent(
                kind=kind,
                roots=(root,),
                delta=Correction(replacements=new),
                reason="it was wrong",
                actor=ACTOR,
            )
        interface = Interface(key=self.renewed(root), content=self.renew(content, draw))
        delta = Migration(interfaces={root: interface}, rows=self.rows)
        return RepairEvent(kind=kind, roots=(root,), delta=delta, reason="a new interface", actor=ACTOR)


class Truth:
    """What really came from what, worked out without the package's own cascades."""

    def __init__(self, drafts: Iterable[Draft]) -> None:
        self.parents: dict[Key, dict[int, set[Key]]] = {}
        self._children: defaultdict[Key, list[Key]] = defaultdict(list)
        for draft in drafts:
            groups: defaultdict[int, set[Key]] = defaultdict(set)
            for read in draft.reads:
                groups[read.group].add(read.key)
                self._children[read.key].append(draft.key)
            self.parents[draft.key] = dict(groups)

    def children(self, key: Key) -> Sequence[Key]:
        """What was made from it directly."""
        return self._children.get(key, ())

    def cascade(self, roots: Iterable[Key]) -> frozenset[Key]:
        """C(F)."""
        found = set(roots)
        todo = [*found]
        while todo:
            new = set(self.children(todo.pop())) - found
            found |= new
            todo += new
        return frozenset(found)

    def carried(self, roots: Iterable[Key]) -> frozenset[Key]:
        """Members of C(F) with a group of support that stands, never in a circle."""
        gone = set(self.cascade(roots))
        origin, stands = set(roots), set[Key]()
        waiting = True
        while waiting:  # every round adds a member that stands on what stood before it
            new = {
                key for key in gone - origin if any(not group & gone for group in self.parents[key].values())
            }
            gone -= new
            stands |= new
            waiting = bool(new)
        return frozenset(stands)


def replayed(drafts: Iterable[Draft]) -> FunctionOperator:
    """A simulated world: a call answers what it was recorded to answer, with what its inputs changed in it.

    A function of the call's inputs: where an input differs from what was recorded, each word that was
    replaced there is replaced in the recorded answer.
    """
    recorded = {draft.key: draft.content for draft in drafts}

    def answer(call: Call) -> str:
        said = recorded[call.key]
        changed: dict[str, str] = {}
        for source in call.inputs:
            before = recorded.get(source.key)
            if before is not None and before != source.content:
                changed |= _replaced(before, source.content)
        if not changed:
            return said
        return "".join(changed.get(piece, piece) or piece for piece in _PIECE.findall(said))

    return FunctionOperator(name=REPLAYED, function=answer)


def _replaced(before: str, after: str) -> dict[str, str]:
    old, new = _PIECE.findall(before), _PIECE.findall(after)
    if len(old) == len(new):
        return {a: b for a, b in zip(old, new, strict=True) if a != b}
    if len(old) * len(new) > 4_000_000:  # a text written anew: no word of it stands for another
        return {}
    matched = SequenceMatcher(None, old, new, autojunk=False)
    return {
        old[a]: new[b]
        for tag, a0, a1, b0, b1 in matched.get_opcodes()
        if tag == "replace" and a1 - a0 == b1 - b0
        for a, b in zip(range(a0, a1), range(b0, b1), strict=True)
    }


def revised(text: str, draw: random.Random) -> str:
    """The text with one fact changed: a leaf of an object, else a number or a word, wherever it stands."""
    try:
        value = json.loads(text)
    except ValueError:
        return _other_word(text, draw)
    if not isinstance(value, dict | list):
        return _other_word(text, draw)
    places = list(_leaves(value))
    if not places:
        return _other_word(text, draw)
    holder, at = draw.choice(places)
    if isinstance(holder, dict):
        holder[str(at)] = _other_leaf(holder[str(at)], draw)
    else:
        holder[int(at)] = _other_leaf(holder[int(at)], draw)
    return json.dumps(value, ensure_ascii=False)


def _other_leaf(old: Json, draw: random.Random) -> Json:
    if isinstance(old, bool):
        return not old
    return old + draw.randint(1, 9) if isinstance(old, int | float) else _other_word(str(old), draw)


def _leaves(value: Json) -> Iterable[tuple[dict[str, Json] | list[Json], str | int]]:
    """Places of texts and numbers that name nothing."""
    todo: list[Json] = [value]
    while todo:
        here = todo.pop()
        if not isinstance(here, dict | list):
            continue
        inner: Iterable[tuple[str | int, Json]] = here.items() if isinstance(here, dict) else enumerate(here)
        for at, below in inner:
            if isinstance(below, dict | list):
                todo.append(below)
            elif isinstance(below, str | int | float) and not (isinstance(at, str) and _NAMED.search(at)):
                yield here, at


def _other_word(text: str, draw: random.Random) -> str:
    words = [word for word in _PIECE.findall(text) if len(word) > 3 and word.isalnum()]
    if not words:
        return f"{text} {draw.choice(_OTHER)}".strip()
    word = draw.choice(words)
    new = str(int(word) + draw.randint(1, 9)) if word.isdigit() else draw.choice(_OTHER)
    if word[0].isupper():
        new = new.capitalize()
    return "".join(new if piece == word else piece for piece in _PIECE.findall(text))


def with_children(drafts: Sequence[Draft]) -> Mapping[Key, int]:
    """How many were made from each directly."""
    found: defaultdict[Key, int] = defaultdict(int)
    for draft in drafts:
        for read in draft.reads:
            found[read.key] += 1
    return found
