"""Keys: where the artifacts that callers name are in the database."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import NamedTuple

from memorepair.errors import UnknownId
from memorepair.memory.artifact import Key, State
from memorepair.memory.codec import scope_name
from memorepair.memory.connection import Connection

BATCH = 20_000


class Place(NamedTuple):
    """Where an artifact is: its rows, its current version `no` with state and cause, its `last` number."""

    aid: int
    vid: int
    no: int
    state: State
    cause: int | None
    last: int


_PLACES = """SELECT j.key, a.aid, a.cur, v.no, coalesce(b.state, 0), b.cause,
    (SELECT max(no) FROM version WHERE aid = a.aid)
    FROM json_each(?) j CROSS JOIN scope s ON s.name = json_extract(j.value, '$[0]')
    CROSS JOIN artifact a ON a.sid = s.sid AND a.id = json_extract(j.value, '$[1]')
    CROSS JOIN version v ON v.vid = a.cur LEFT JOIN barrier b ON b.vid = a.cur"""


def find(db: Connection, keys: Iterable[Key]) -> dict[Key, Place]:
    """Places of those keys that exist; O(keys log store)."""
    found: dict[Key, Place] = {}
    distinct = iter(dict.fromkeys(keys))
    while batch := list(islice(distinct, BATCH)):
        names = json.dumps([(scope_name(key.scope), key.id) for key in batch])
        for position, aid, vid, no, state, cause, last in db.rows(_PLACES, (names,)):
            found[batch[position]] = Place(aid, vid, no, State(state), cause, last)
    return found


_NUMBERS = """SELECT j.key, a.aid, a.cur
    FROM json_each(?) j CROSS JOIN scope s ON s.name = json_extract(j.value, '$[0]')
    CROSS JOIN artifact a ON a.sid = s.sid AND a.id = json_extract(j.value, '$[1]')"""


def numbers(db: Connection, keys: Sequence[Key]) -> list[tuple[int, int]]:
    """The (aid, current vid) of each key; a third of the price of `find`.

    Raises
    ------
    UnknownId
    """
    found: list[tuple[int, int]] = []
    for start in range(0, len(keys), BATCH):
        batch = keys[start : start + BATCH]
        names = json.dumps([(scope_name(key.scope), key.id) for key in batch])
        rows = {position: (aid, vid) for position, aid, vid in db.rows(_NUMBERS, (names,))}
        for position, key in enumerate(batch):
            if position not in rows:
                raise UnknownId(f"there is no artifact {key}", witness=key)
            found.append(rows[position])
    return found


def place(db: Connection, key: Key) -> Place:
    """The place of one key.

    Raises
    ------
    UnknownId
    """
    return known(find(db, [key]), key)


def known(places: dict[Key, Place], key: Key) -> Place:
    """The place of a key among those found.

    Raises
    ------
    UnknownId
    """
    there = places.get(key)
    if there is None:
        raise UnknownId(f"there is no artifact {key}", witness=key)
    return there


def named_twice(keys: Iterable[Key]) -> Key | None:
    """The first key that occurs a second time, or None."""
    seen: set[Key] = set()
    for key in keys:
        if key in seen:
            return key
        seen.add(key)
    return None
