"""Values: what a caller's value must be, or it is refused with a witness."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from types import UnionType
from typing import Any

from memorepair.errors import InvalidInput

TEXT_LIMIT = 16 * 1024 * 1024
"""Bytes of UTF-8 that a content, or the JSON that describes it, may have."""


def check_type(value: object, kind: type | UnionType, what: str) -> None:
    """Refuse what is of no such type."""
    if not isinstance(value, kind):
        raise InvalidInput(f"{what}, not {named(value)}", witness=value)


def check_flags(**flags: object) -> None:
    """Refuse what is neither True nor False: the text "no" is true."""
    for name, flag in flags.items():
        check_type(flag, bool, f"{name} is True or False")


def check_optional(value: object, kind: type, what: str) -> None:
    """Refuse what is neither None nor of the type."""
    if value is not None:
        check_type(value, kind, what)


def named(value: object) -> str:
    """The type of a value, for a message."""
    return "None" if value is None else f"of type {type(value).__name__}"


def check_text(text: object, what: str, witness: object) -> None:
    """Refuse what is no text of Unicode scalar values, or too long; the text itself is no witness."""
    if not isinstance(text, str):
        raise InvalidInput(f"{what} must be text, not {named(text)}", witness=witness)
    try:
        size = len(text) if text.isascii() else len(text.encode())
    except UnicodeEncodeError as error:
        raise InvalidInput(f"{what} has a lone surrogate at {error.start}", witness=witness) from error
    if size > TEXT_LIMIT:
        raise InvalidInput(f"{what} has {size} bytes, more than {TEXT_LIMIT}", witness=witness)


def check_word(text: object, what: str) -> None:
    """Refuse what is no text that can be stored."""
    check_text(text, what, text)


def is_number(value: object, low: float = -math.inf, high: float = math.inf) -> bool:
    """Whether it is a finite number that a float can hold, within the bounds."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value) and low <= value <= high
    except OverflowError:
        return False


def is_whole(value: object, low: int) -> bool:
    """Whether it is an integer from `low` on that the database can hold."""
    return isinstance(value, int) and not isinstance(value, bool) and low <= value < 1 << 63


def check_counts(owner: object, what: str, *names: str) -> None:
    """Refuse attributes of `owner` that are no whole numbers from 1; `what` is whose they are."""
    for name in names:
        if not is_whole(getattr(owner, name), low=1):
            raise InvalidInput(f"the {name} of {what} is a whole number from 1", witness=getattr(owner, name))


def check_numbers(owner: object, what: str, *names: str, low: float = 0, high: float = math.inf) -> None:
    """Refuse attributes of `owner` that are no numbers within the bounds; `what` is whose they are."""
    for name in names:
        if not is_number(getattr(owner, name), low, high):
            bounds = f"from {low:g} on" if high == math.inf else f"within {low:g} and {high:g}"
            raise InvalidInput(f"the {name} of {what} is a number {bounds}", witness=getattr(owner, name))


def check_names(actor: object, reason: object) -> None:
    """Refuse an actor or a reason that is given and no text."""
    for name, text in (("an actor", actor), ("a reason", reason)):
        if text is not None:
            check_word(text, name)


def require_names(actor: object, reason: object) -> None:
    """Refuse what only a person may do when nobody signs for it, or for no reason."""
    check_names(actor, reason)
    for name, text in (("an actor", actor), ("a reason", reason)):
        if not isinstance(text, str) or not text.strip():
            raise InvalidInput(f"this needs {name}", witness=name.split()[-1])


def to_json(value: object, what: str, witness: object) -> str:
    """JSON text without NaN that reads back as it was; mappings of any sort are objects.

    Raises
    ------
    InvalidInput
        It is no JSON, a name of a member is no text, or it is too long.
    """
    try:
        text = _ENCODER.encode(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"{what} must be JSON: {error}", witness=witness) from error
    check_text(text, what, witness)
    # Now it is finite: only the names are left, of which JSON would make texts.
    unread = [value]
    while unread:
        here = unread.pop()
        if isinstance(here, Mapping):
            for name, inner in here.items():
                if not isinstance(name, str):
                    raise InvalidInput(f"{what} must be JSON: the name {name!r} is no text", witness=witness)
                unread.append(inner)
        elif isinstance(here, list | tuple):
            unread += here
    return text


def check_object(value: object, what: str) -> None:
    """Refuse what is no JSON object."""
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{what} must be a mapping, not {named(value)}", witness=value)
    if value:
        to_json(value, what, value)


def _mapping(value: object) -> dict[Any, Any]:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not JSON")


_ENCODER = json.JSONEncoder(allow_nan=False, ensure_ascii=False, separators=(",", ":"), default=_mapping)
