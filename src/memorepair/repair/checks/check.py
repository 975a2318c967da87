"""The check port: what a check is shown of a step or of its successor, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

from memorepair.graphs.terms import Arch
from memorepair.memory.artifact import Key, Recipe
from memorepair.repair.checks.marks import Run
from memorepair.repair.events import EventKind
from memorepair.repair.modes import Mode
from memorepair.repair.operators.operator import Call, Input, Made, Operator


class Word(StrEnum):
    """A check's answer; PASS and WARN let a successor through."""

    PASS = "pass"  # noqa: S105 - a verdict, not a password
    WARN = "warn"
    QUARANTINE = "quarantine"
    FAIL = "fail"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """`saw` says in a few words on what the answer rests; it never quotes withdrawn content."""

    check: str
    word: Word
    saw: str

    @property
    def passed(self) -> bool:
        """Whether the successor may be published, as far as this check goes."""
        return self.word in (Word.PASS, Word.WARN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A step before its operator is called.

    Attributes
    ----------
    event
        Of the case.
    mode, arch, recipe
        Of the artifact.
    operator, call
        Who is to make the successor, and from what.
    root_marks
        Marks of the roots as they were withdrawn.
    parent_texts
        The artifact's other parents that are out of service, as they were withdrawn.
    fresh
        What the event brought for what the artifact stands on: replacements, interfaces.
    forget
        Of a model: the sources it was trained on that are gone, as they were read; those whose content is
        left.
    """

    event: EventKind
    mode: Mode
    arch: Arch
    recipe: Recipe
    operator: Operator
    call: Call
    root_marks: Mapping[Run, Key]
    parent_texts: Mapping[Key, str]
    fresh: tuple[str, ...]
    forget: tuple[Input, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Context(Given):
    """A successor under validation: the step, and what came out.

    Attributes
    ----------
    made
        What the operator made.
    parents
        Input -> digest of it in the store, digest of the text the operator was given.
    """

    made: Made
    parents: Mapping[Key, tuple[str, str]]


Shown = TypeVar("Shown", bound=Given)


@dataclass(frozen=True, slots=True, kw_only=True)
class Check(Generic[Shown]):
    """A check under its name: whether it applies to what it is shown, and its verdict where it does.

    `judge` may give None as well: on a second look it does not apply.
    """

    name: str
    applies: Callable[[Shown], bool]
    judge: Callable[[Shown], tuple[Word, str] | None]

    def __call__(self, shown: Shown) -> Verdict | None:
        """The verdict, None where it does not apply; what it cannot judge is refused."""
        # A check may be other people's code: whatever it raises refuses one successor, never ends the repair.
        # The words of an error may quote what it was shown.
        try:
            said: object = self.judge(shown) if self.applies(shown) else None
        except Exception as error:  # noqa: BLE001 - the boundary to checks; the type is kept and reported
            said = (Word.FAIL, f"it cannot be checked ({type(error).__name__})")
        if said is None:
            return None
        match said:
            case (Word() as word, str() as saw):
                return Verdict(check=self.name, word=word, saw=saw)
            case _:
                return Verdict(check=self.name, word=Word.FAIL, saw="its verdict is no word with what it saw")
