"""The check port: what a check is shown of a step or of its successor, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

from memorepair.errors import InvalidInput
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
        What the event brought: replacements, interfaces.
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
    """A check under its name: whether it applies to what it is shown, and its verdict where it does."""

    name: str
    applies: Callable[[Shown], bool]
    judge: Callable[[Shown], tuple[Word, str]]

    def __call__(self, shown: Shown) -> Verdict:
        """The verdict on what it applies to; what it cannot read is refused."""
        try:
            word, saw = self.judge(shown)
        except (InvalidInput, RecursionError) as error:
            word, saw = Word.FAIL, f"it cannot be checked ({type(error).__name__})"
        return Verdict(check=self.name, word=word, saw=saw)
