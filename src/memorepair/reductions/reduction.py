"""Reduction: turns an instance into an equivalent one, then its solution back."""

from __future__ import annotations

from typing import Protocol, TypeVar

from memorepair.problems import Closure

Given = TypeVar("Given", contravariant=True)
Reduced = TypeVar("Reduced", covariant=True)
Record = TypeVar("Record")
Solution = TypeVar("Solution", contravariant=True)


class Reduction(Protocol[Given, Reduced, Record, Solution]):
    """A pure step: it keeps nothing between calls; what `invert` needs is in the record.

    A chain of reductions is inverted in reverse order.
    """

    def apply(self, instance: Given, /) -> tuple[Reduced, Record]:
        """An equivalent, simpler instance, with the record that maps a solution of it back."""
        ...

    def invert(self, solution: Solution, record: Record, /) -> Closure:
        """The closure that `solution` of the reduced instance stands for, with its certificate."""
        ...
