"""The check port: what a check is shown of a successor, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from memorepair.graphs.terms import Arch
from memorepair.memory.artifact import Key, Recipe
from memorepair.repair.checks.marks import Run
from memorepair.repair.modes import Mode
from memorepair.repair.operators.operator import Call, Made, Operator


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
class Context:
    """A successor under validation.

    Attributes
    ----------
    mode, arch, recipe
        Of the artifact.
    operator, call, made
        Who made the successor, from what, and what came out.
    parents
        Input -> digest of it in the store, digest of the text the operator was given.
    withdrawn
        Version by version what the event took out of service: the roots, and the affected parents as they
        were.
    fresh
        What the event brought: replacements, interfaces.
    """

    mode: Mode
    arch: Arch
    recipe: Recipe
    operator: Operator
    call: Call
    made: Made
    parents: Mapping[Key, tuple[str, str]]
    root_marks: Mapping[Run, Key]
    parent_texts: Mapping[Key, str]
    fresh: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A check under its name: whether it applies to a successor, and its verdict where it does."""

    name: str
    applies: Callable[[Context], bool]
    judge: Callable[[Context], tuple[Word, str]]

    def __call__(self, context: Context) -> Verdict:
        """The verdict on a successor it applies to."""
        word, saw = self.judge(context)
        return Verdict(check=self.name, word=word, saw=saw)
