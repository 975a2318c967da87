"""Examples: what a classifier is trained on, read from the artifacts it stands on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np

from memorepair.errors import InvalidInput
from memorepair.memory.artifact import Json
from memorepair.repair.jsontext import parse
from memorepair.repair.operators.arrays import Floats
from memorepair.repair.operators.operator import Input
from memorepair.repair.operators.sentences import words


@dataclass(frozen=True, slots=True, kw_only=True)
class Examples:
    """n labelled points of d features; `owners` are the artifacts that they come from, ascending.

    Attributes
    ----------
    owners : n texts
    labels : n texts
    x : (n, d) float64
    """

    owners: tuple[str, ...]
    labels: tuple[str, ...]
    x: Floats


def read_examples(sources: Sequence[Input], width: int) -> Examples:
    """The examples of all sources, in the order of their keys.

    A source is a JSON object, or a list of them, with a `label` (text) and either `features`, numbers of one
    length everywhere, or a `text`, which counts its words in `width` hashed features.

    Raises
    ------
    InvalidInput
        A source is something else (witness: its key); the lengths differ.

    Notes
    -----
    Hashed features are whole numbers, so sums of them are exact. Linear in the texts.
    """
    owners: list[str] = []
    labels: list[str] = []
    rows: list[Floats] = []
    for source in sorted(sources, key=lambda one: one.key):
        whole = parse(source.content)
        for one in whole if isinstance(whole, list) else [whole]:
            label, row = _example(one, width, source)
            owners.append(str(source.key))
            labels.append(label)
            rows.append(row)
    lengths = sorted({len(row) for row in rows})
    if len(lengths) > 1:
        raise InvalidInput("examples have different numbers of features", witness=lengths)
    x = np.vstack(rows) if rows else np.zeros((0, width))
    x.setflags(write=False)
    return Examples(owners=tuple(owners), labels=tuple(labels), x=x)


def _example(value: Json, width: int, source: Input) -> tuple[str, Floats]:
    fields = value if isinstance(value, dict) else {}
    label, features, text = fields.get("label"), fields.get("features"), fields.get("text")
    if isinstance(label, str) and isinstance(text, str) and features is None:
        return label, hashed(text, width)
    if isinstance(label, str) and isinstance(features, list) and text is None:
        numbers = [
            float(one) for one in features if isinstance(one, int | float) and not isinstance(one, bool)
        ]
        if len(numbers) == len(features) and all(map(math.isfinite, numbers)):
            return label, np.array(numbers, np.float64)
    raise InvalidInput("an example has a label, and features or a text", witness=source.key)


def hashed(text: str, width: int) -> Floats:
    """(width,) How often words fall on each of so many features."""
    places = [crc32(word.encode()) % width for word in words(text)]
    return np.bincount(np.array(places, np.int64), minlength=width).astype(np.float64)
