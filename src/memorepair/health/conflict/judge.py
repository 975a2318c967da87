"""The judge port: who decides pairs that rules cannot."""

from __future__ import annotations

from enum import StrEnum
from typing import Protocol


class Answer(StrEnum):
    """What two statements are to each other."""

    BOTH = "both"
    """Known to be compatible: both stay."""
    SAME = "same"
    """One fact said twice."""
    JUDGE = "judge"
    """Rules cannot tell."""
    CONFLICT = "conflict"
    """Not both can hold."""


class Judge(Protocol):
    """Decides whether two statements contradict; a model, or a person.

    What it raises counts as no answer. It sees two served texts of one scope.
    """

    def decide(self, one: str, other: str) -> Answer:
        """CONFLICT, BOTH or SAME; JUDGE where it cannot tell either."""
        ...
