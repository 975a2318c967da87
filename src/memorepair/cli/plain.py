"""Any value of the package as plain JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum, IntEnum
from fractions import Fraction

import numpy as np

from memorepair.graphs.digraph import Digraph
from memorepair.memory.artifact import Json, Key
from memorepair.problems.integers import digits, nearest


def plain(value: object) -> Json:
    """`value` as JSON: keys in written form, members of enumerations by name, arrays as lists.

    What JSON cannot say is said in words: infinities and NaN as text, a fraction without a short decimal as
    ``1/3``, an integer of more digits than Python reads.
    """
    if isinstance(value, Key):
        return str(value)
    if isinstance(value, Enum):
        return value.name.lower() if isinstance(value, IntEnum) else str(value.value)
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return value if abs(value) < _LARGEST else digits(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Fraction):
        return _decimal(value)
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, Digraph):
        return [[tail, head] for tail, head in zip(value.tails().tolist(), value.heads.tolist(), strict=True)]
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(plain(key)): plain(one) for key, one in value.items()}
    if isinstance(value, tuple | list | set | frozenset):
        return [plain(one) for one in value]
    return str(value)


def _decimal(value: Fraction) -> float | str:
    near = nearest(value)
    return near if math.isfinite(near) and Fraction(repr(near)) == value else digits(value)


_LARGEST = 10**4_000


def document(value: object) -> str:
    """One line of JSON in ASCII, whatever the terminal's encoding."""
    return json.dumps(plain(value), allow_nan=False)
