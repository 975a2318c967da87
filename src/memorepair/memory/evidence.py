"""Evidence: what of a cascade stays in service, because the event leaves it enough support."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np

from memorepair.graphs.digraph import Digraph, arc_order
from memorepair.graphs.support import Policy, weigh
from memorepair.graphs.terms import PROPAGATING
from memorepair.memory.connection import Connection

_FOLLOWED = ", ".join(str(int(relation)) for relation in sorted(PROPAGATING))

# Support is what is served in the very version that was read; anything else counts as gone.
_SUPPORT = f"""SELECT arc.src, arc.dst, arc.grp, arc.src_vid = s.cur AND b.vid IS NULL
    FROM cascaded c CROSS JOIN arc ON arc.dst = c.x AND arc.rel IN ({_FOLLOWED})
    JOIN artifact s ON s.aid = arc.src LEFT JOIN barrier b ON b.vid = s.cur
    WHERE c.x > 0"""  # noqa: S608  integers of an enumeration
_BARRED = """SELECT a.aid FROM {nodes} JOIN artifact a ON a.aid = {id} JOIN barrier b ON b.vid = a.cur"""

_GONE = 0
"""Stands for every read of something that is not served any more; no artifact has this number."""


def spare(
    db: Connection, roots: Sequence[int], policy: Policy, same_origin: Sequence[Sequence[int]]
) -> list[tuple[int, int]]:
    """Take what evidence spares out of the table `cascaded`: artifacts, each with the group that keeps it.

    Parameters
    ----------
    roots, same_origin
        Artifacts (aid).

    Notes
    -----
    Only current versions are spared, never what is out of service already. O(cascade log cascade).
    """
    if policy == "none":
        return []
    rows = db.rows(_SUPPORT)
    copies = [aid for one in same_origin for aid in one]
    out = [aid for (aid,) in db.rows(_BARRED.format(nodes="cascaded", id="x"))]
    out += [
        aid for (aid,) in db.rows(_BARRED.format(nodes="json_each(?)", id="value"), (json.dumps(copies),))
    ]
    src = np.array([src if good else _GONE for src, _, _, good in rows], np.int64)
    dst = np.array([dst for _, dst, _, _ in rows], np.int64)
    group = np.array([grp for _, _, grp, _ in rows], np.int64)
    faulty = np.array([_GONE, *roots, *out], np.int64)
    aids, node = np.unique(
        np.concatenate((src, dst, faulty, np.array(copies, np.int64))), return_inverse=True
    )
    tails, heads = node[: len(src)], node[len(src) : 2 * len(src)]
    number = {aid: place for place, aid in enumerate(aids.tolist())}
    found = weigh(
        Digraph.from_arcs(len(aids), tails, heads),
        group[arc_order(tails)],
        np.searchsorted(aids, faulty),
        policy=policy,
        same_origin=[[number[aid] for aid in one] for one in same_origin],
    )
    spared = np.flatnonzero(found.spared)
    kept = list(zip(aids[spared].tolist(), found.group[spared].tolist(), strict=True))
    db.run(
        "DELETE FROM cascaded WHERE x IN (SELECT value FROM json_each(?))",
        (json.dumps([aid for aid, _ in kept]),),
    )
    return kept
