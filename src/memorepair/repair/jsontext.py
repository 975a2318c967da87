"""JSON as text: one canonical form for writing, a strict reader."""

from __future__ import annotations

import json
from typing import NoReturn, cast

from memorepair.errors import InvalidInput
from memorepair.memory.artifact import Json


def canonical(value: Json) -> str:
    """The one text of a JSON value: keys sorted, no spaces, characters as they are.

    Raises
    ------
    InvalidInput
        NaN, an infinity, or something JSON cannot hold.
    """
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"not a JSON value: {error}", witness=type(value).__name__) from error


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _unique(members: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(members)
    if len(found) < len(members):
        names = [name for name, _ in members]
        raise InvalidInput("an object has a name twice", witness=next(n for n in names if names.count(n) > 1))
    return found


def parse(text: str, *, unique: bool = False) -> Json:
    """Read a JSON text; with `unique` no object may have a name twice, otherwise the last one counts.

    Raises
    ------
    InvalidInput
        Not JSON, NaN or an infinity in it, or nested too deep (witness: the position, where there is one); a
        name twice (witness: the name).
    """
    try:
        return cast(
            Json,
            json.loads(text, parse_constant=_refuse, object_pairs_hook=_unique if unique else None),
        )
    except InvalidInput:
        raise
    except json.JSONDecodeError as error:  # its text quotes nothing of the content
        raise InvalidInput(f"not JSON: {error.msg}", witness=error.pos) from error
    except (ValueError, RecursionError) as error:
        raise InvalidInput("not JSON: a number out of range, or nested too deep", witness=None) from error
