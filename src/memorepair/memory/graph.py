"""Graph: what the live arcs say, without content."""

from __future__ import annotations

import json
from collections.abc import Sequence

from memorepair.memory.artifact import Key
from memorepair.memory.codec import key_of
from memorepair.memory.connection import Connection

_AHEAD = """WITH RECURSIVE ahead(aid) AS (
    SELECT value FROM json_each(?) UNION SELECT arc.dst FROM ahead CROSS JOIN arc ON arc.src = ahead.aid)
    SELECT DISTINCT arc.src, arc.dst FROM ahead CROSS JOIN arc ON arc.src = ahead.aid"""


def arcs_ahead(db: Connection, aids: Sequence[int]) -> list[tuple[int, int]]:
    """All arcs (src, dst) that lead on from the artifacts."""
    return [(src, dst) for src, dst in db.rows(_AHEAD, (json.dumps(aids),))] if aids else []


def keys_of(db: Connection, aids: Sequence[int]) -> dict[int, Key]:
    """Names of the artifacts."""
    rows = db.rows(
        """SELECT a.aid, s.name, a.id FROM json_each(?) j CROSS JOIN artifact a ON a.aid = j.value
        JOIN scope s ON s.sid = a.sid""",
        (json.dumps(aids),),
    )
    return {aid: key_of(name, id) for aid, name, id in rows}
