"""Arrays in JSON: bytes of float64 as base64, under their shape; never a pickle."""

from __future__ import annotations

import binascii
from base64 import b64decode, b64encode
from math import prod

import numpy as np
import numpy.typing as npt

from memorepair.errors import InvalidInput
from memorepair.memory.artifact import Json

Floats = npt.NDArray[np.float64]


def packed(array: Floats) -> Json:
    """An array as JSON: its shape, and its numbers in C order, little-endian.

    Equal arrays give equal JSON; 0.0 and -0.0 are the same number.
    """
    numbers = np.ascontiguousarray(array + 0.0, dtype="<f8")
    return {"shape": list(array.shape), "float64": b64encode(numbers.tobytes()).decode()}


def unpacked(value: Json, *shape: int | None) -> Floats:
    """The array that `packed` wrote, read-only.

    Parameters
    ----------
    shape
        What it must be; None for a side of any length.

    Raises
    ------
    InvalidInput
        It is no array of this shape, or holds NaN or an infinity.
    """
    sides = value.get("shape") if isinstance(value, dict) else None
    data = value.get("float64") if isinstance(value, dict) else None
    if not isinstance(sides, list) or not isinstance(data, str) or len(sides) != len(shape):
        raise InvalidInput("not an array of the shape wanted", witness=shape)
    found = [side for side in sides if isinstance(side, int) and not isinstance(side, bool) and side >= 0]
    if len(found) < len(sides) or any(
        want not in (None, side) for want, side in zip(shape, found, strict=True)
    ):
        raise InvalidInput("not an array of the shape wanted", witness=shape)
    try:
        numbers = b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raise InvalidInput("the numbers of an array are base64", witness=shape) from None
    if len(numbers) != 8 * prod(found):
        raise InvalidInput("an array holds more or fewer numbers than its shape", witness=tuple(found))
    array = np.frombuffer(numbers, dtype="<f8").reshape(found).astype(np.float64)
    if not np.isfinite(array).all():
        raise InvalidInput("an array holds a number that is not finite", witness=tuple(found))
    array.setflags(write=False)
    return array
