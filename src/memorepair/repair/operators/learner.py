"""The learner port: an operator that trains a small model, and shows how it behaves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

from memorepair.errors import InvalidInput
from memorepair.memory.artifact import Json
from memorepair.memory.values import is_number, is_whole
from memorepair.repair.operators.arrays import Floats
from memorepair.repair.operators.operator import Input, Operator

DEFAULT_WIDTH = 256
"""Hashed features of a text, unless the param `width` says otherwise."""

_WIDEST = 1 << 16


@runtime_checkable
class Learner(Operator, Protocol):
    """An operator of mode param.

    Its law: what it makes of a version before and of the sources that are left equals what it trains on these
    sources alone. The checks `forget` and `reference` hold it to that.
    """

    def train(self, sources: Sequence[Input], params: Mapping[str, Json]) -> str:
        """The model trained on these sources alone, as an artifact's content."""
        ...

    def scores(self, content: str, sources: Sequence[Input]) -> Floats:
        """(examples, labels) What the model says of the examples of the sources."""
        ...

    def accuracy(self, content: str, sources: Sequence[Input]) -> float:
        """Share of the examples of the sources that the model labels as they are; 0 where there are none."""
        ...


def width_of(params: Mapping[str, Json]) -> int:
    """The param `width`."""
    width = params.get("width", DEFAULT_WIDTH)
    if not isinstance(width, int) or not is_whole(width, low=1) or width > _WIDEST:
        raise InvalidInput(f"param width is a whole number in 1 .. {_WIDEST}", witness="width")
    return width


def positive(params: Mapping[str, Json], name: str, default: float) -> float:
    """A param that is a number greater than 0."""
    number = params.get(name, default)
    if not isinstance(number, int | float) or not is_number(number, low=0) or number == 0:
        raise InvalidInput(f"param {name} is a number greater than 0", witness=name)
    return float(number)
