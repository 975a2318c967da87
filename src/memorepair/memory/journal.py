"""Journal: every change, written before it acts, in a chain of seals.

A row holds a version's state before and after; a version that left service is its own before-image, because
content is never overwritten. One seal an entry: HMAC over the seal before it, the entry, and every row with
the keyed digests of its version (text, description, recipe, arcs); it still verifies when the content has
been erased.
"""

from __future__ import annotations

import hmac
import json
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType

from memorepair.memory.codec import check_limit
from memorepair.memory.connection import Connection, Row, Value
from memorepair.memory.exchange import Entry, Fault
from memorepair.memory.points import ACTED, INTENT, SEALED, reach
from memorepair.memory.secret import Secret

_ROW = struct.Struct("<qbbqBBB")
_ROWS = """SELECT r.vid, coalesce(r.before, -1), coalesce(r.after, -1), coalesce(r.owner, -1),
    coalesce(r.arcs, x''), coalesce(r.suspects, x''), v.digest, v.words, v.made
    FROM journal_row r JOIN version v ON v.vid = r.vid WHERE r.seq = ? ORDER BY r.vid"""
_ARCS_INTO = """SELECT arc.src_vid, arc.rel, arc.grp, arc.pos FROM version v
    JOIN artifact a ON a.aid = v.aid AND a.cur = v.vid JOIN arc ON arc.dst = a.aid WHERE v.vid = ?1
    UNION ALL SELECT src_vid, rel, grp, pos FROM arc_old WHERE dst_vid = ?1"""

_SUSPECTS_INTO = """SELECT src, src_vid, dst, p, firm, why, accepted, cause FROM suspected
    WHERE dst = (SELECT aid FROM version WHERE vid = ?1) AND dst_vid = ?1"""

NO_ARCS: Mapping[int, bytes] = MappingProxyType({})


class Journal:
    """Entries of the journal; every method runs inside the caller's transaction."""

    def __init__(self, db: Connection, secret: Secret, clock: Callable[[], int]) -> None:
        self._db = db
        self._secret = secret
        self._clock = clock

    @contextmanager
    def entry(
        self, act: str, *, case: int | None = None, actor: str | None = None, reason: str | None = None
    ) -> Iterator[int]:
        """Open an entry, let the caller add rows and act, then seal it; yields its number."""
        last = self._db.row("SELECT seq, seal FROM journal ORDER BY seq DESC LIMIT 1")
        seq, previous = (last[0] + 1, last[1]) if last else (1, b"")
        at = self._clock()
        self._db.run(
            "INSERT INTO journal(seq, cause, act, at, actor, reason, n, seal) VALUES(?,?,?,?,?,?,0,x'')",
            (seq, case, act, at, actor, reason),
        )
        reach(f"{act}: {INTENT}")
        yield seq
        reach(f"{act}: {ACTED}")
        rows = self._db.rows(_ROWS, (seq,))
        also = self._db.row("SELECT also FROM journal WHERE seq = ?", (seq,))
        seal = self._seal(previous, (seq, case, act, at, actor, reason), also[0] if also else None, rows)
        self._db.run("UPDATE journal SET n=?, seal=? WHERE seq=?", (len(rows), seal, seq))
        reach(f"{act}: {SEALED}")

    def add(
        self,
        seq: int,
        rows: Iterable[tuple[int, int | None, int | None]],
        arcs: Mapping[int, bytes] = NO_ARCS,
    ) -> None:
        """Rows (vid, state before, state after); None where there is no such version.

        The barrier as it stands says whose it is: rows come before what they announce. `arcs` has the digests
        of the arcs into those versions whose arcs the entry stores.
        """
        self._db.many(
            """INSERT INTO journal_row(seq, vid, before, after, owner, arcs)
            VALUES(?1,?2,?3,?4,(SELECT coalesce(cause, 0) FROM barrier WHERE vid = ?2),?5)""",
            ((seq, vid, before, after, arcs.get(vid)) for vid, before, after in rows),
        )

    def epoch(self) -> int:
        """The number of the newest entry."""
        return self._db.number("SELECT coalesce(max(seq), 0) FROM journal")

    def stand(self, seq: int, vids: Iterable[int]) -> None:
        """Put the digests of the arcs into versions, as they are now, on rows already there."""
        self._db.many(
            "UPDATE journal_row SET arcs = ? WHERE seq = ? AND vid = ?",
            ((self._secret.arcs(self._db.rows(_ARCS_INTO, (vid,))), seq, vid) for vid in list(vids)),
        )

    def suspect(self, seq: int, vids: Iterable[int]) -> None:
        """Put the digests of the suspected arcs into versions, as they are now, on rows already there."""
        self._db.many(
            "UPDATE journal_row SET suspects = ? WHERE seq = ? AND vid = ?",
            ((self._secret.suspects(self._db.rows(_SUSPECTS_INTO, (vid,))), seq, vid) for vid in list(vids)),
        )

    def book(self, seq: int, said: Sequence[object]) -> None:
        """Let the entry's seal cover what it stores in the books of its case."""
        self._db.run("UPDATE journal SET also = ? WHERE seq = ?", (self._secret.books(said), seq))

    def entries(self, limit: int | None) -> list[Entry]:
        """The newest entries, newest first."""
        rows = self._db.rows(
            "SELECT seq, act, cause, at, actor, reason, n FROM journal ORDER BY seq DESC LIMIT ?",
            (check_limit(limit),),
        )
        return [
            Entry(seq=seq, act=act, case=cause, at=at, actor=actor, reason=reason, rows=n)
            for seq, act, cause, at, actor, reason, n in rows
        ]

    def verify(self, *, first_only: bool = False) -> list[Fault]:
        """Recompute the chain; O(rows), one entry's rows in memory at a time.

        The chain proves that no entry was changed, added, removed or reordered, except that the newest
        entries may have been cut off.
        """
        faults: list[Fault] = []
        previous, expected = b"", 1
        entries = self._db.rows(
            "SELECT seq, cause, act, at, actor, reason, n, also, seal FROM journal ORDER BY seq LIMIT ?",
            (1 if first_only else -1,),
        )
        for seq, cause, act, at, actor, reason, n, also, seal in entries:
            rows = self._db.rows(_ROWS, (seq,))
            try:
                computed = self._seal(previous, (seq, cause, act, at, actor, reason), also, rows)
                holds = seq == expected and n == len(rows) and hmac.compare_digest(seal, computed)
            except (AttributeError, TypeError, struct.error):  # a value of a type that no entry has
                holds = False
            if not holds:
                faults.append(Fault(code="seal", message=f"journal entry {seq} does not verify", witness=seq))
            previous, expected = seal if isinstance(seal, bytes) else b"", seq + 1
        return faults

    def _seal(
        self, previous: bytes, header: Sequence[Value], also: bytes | None, rows: Iterable[Row]
    ) -> bytes:
        seal = self._secret.sealing(previous)
        seal.update(json.dumps((*header, also and also.hex())).encode())
        pack = _ROW.pack
        sealed = [
            pack(vid, before, after, owner, len(arcs), len(suspects), len(words))
            + b"".join((arcs, suspects, digest, words, made))
            for vid, before, after, owner, arcs, suspects, digest, words, made in rows
        ]
        seal.update(b"".join(sealed))  # at once: a call costs as much as packing a row
        return seal.digest()
