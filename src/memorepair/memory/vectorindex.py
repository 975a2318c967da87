"""Vector index: a file beside the store that finds near vectors without comparing all of them.

It is a cache. What it names is looked up again behind the barrier, with its exact cosine, so that it can miss
something but never show what is withdrawn, and a wrong file is no more than a rebuild. It holds every version
of its scope, in service or not, because an undo brings versions back without writing a vector; therefore it
goes when anything is erased.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple, Protocol, cast

import numpy as np

from memorepair.errors import MissingDependency
from memorepair.memory.connection import Connection, remove
from memorepair.memory.secret import Secret
from memorepair.memory.vectors import STORED, Space, Vectors

LEAST = 10_000
"""Vectors of a scope below which all are compared: that is as fast, and exact."""

STALE_SHARE, STALE_LEAST = 0.2, 2_000
"""How many vectors may be newer than an index before it is built again; until then they are all compared."""

_EXPANSION = 256
"""Vectors looked at in a search: 0.99 of the ten nearest of 8,000 random texts are found, by 64 0.89.

Half precision finds the same, for cosines are worked out anew from what is stored.
"""

_MAGIC = b"MemoRepair vector index 1\n"
_BATCH = 8_192
_REMOVING = ("erase", "prune", "drop_vectors")

# Digits and numbers only: which versions are served is not asked here.
_ROWS = """SELECT x.row, x.vid, x.v FROM vector x JOIN version v ON v.vid = x.vid
    JOIN artifact a ON a.aid = v.aid
    WHERE x.row > ?1 AND x.space = ?2 AND a.sid = ?3 ORDER BY x.row LIMIT ?4"""
_COUNT = """SELECT count(*) FROM artifact a JOIN version v ON v.aid = a.aid JOIN vector x ON x.vid = v.vid
    WHERE a.sid = ?1 AND x.space = ?2"""

_PLACE = """SELECT s.sid, p.space FROM scope s, space p WHERE s.name = ?
    AND p.model = ? AND p.revision = ? AND p.dimension = ? AND p.normalised = ?"""


class _Matches(Protocol):
    """What is used of the matches of a search."""

    keys: object
    distances: object


class _Graph(Protocol):
    """What is used of `usearch.index.Index`."""

    def add(self, keys: object, vectors: object, *, threads: int) -> object:
        """Add vectors."""
        ...

    def search(self, vectors: object, count: int) -> _Matches:
        """The nearest, best first."""
        ...

    def save(self) -> bytes:
        """As bytes."""
        ...

    def load(self, buffer: bytes) -> object:
        """From bytes."""
        ...

    def __len__(self) -> int: ...


class Candidates(NamedTuple):
    """Versions (vid) near a query by decreasing cosine, the least of these, and whether these are all."""

    vids: list[int]
    floor: float
    all: bool


@dataclass(frozen=True, slots=True, eq=False)
class Shelf:
    """The index of one scope in one space: `newest` is the last vector (row) that it holds."""

    graph: _Graph
    newest: int
    epoch: int

    def nearest(self, query: Vectors, count: int) -> Candidates:
        """About the nearest `count`; O(log n) steps for each."""
        found = self.graph.search(query.astype(np.float32), min(count, len(self.graph)))
        vids = np.asarray(found.keys, np.int64).tolist()
        far = np.asarray(found.distances, np.float64)
        return Candidates(vids, 1 - float(far.max()) if len(far) else 1.0, len(vids) >= len(self.graph))

    def __len__(self) -> int:
        return len(self.graph)


class VectorIndex:
    """The indexes of a store, one file a scope and space; only for vectors that the store holds.

    Parameters
    ----------
    least
        Vectors of a scope from which on it is indexed.
    """

    def __init__(self, db: Connection, secret: Secret, *, least: int = LEAST) -> None:
        if find_spec("usearch") is None:
            raise MissingDependency(
                "a vector index needs usearch: pip install 'memorepair[usearch]'", witness="usearch"
            )
        self._db = db
        self._secret = secret
        self._least = least
        self._shelves: dict[tuple[int, int], Shelf] = {}
        self._small: dict[tuple[int, int], int] = {}

    def shelf(self, sid: int, number: int) -> Shelf | None:
        """The index of a scope in a space (number), where there is one."""
        return self._shelves.get((sid, number))

    def prepare(self, scope: str, space: Space) -> None:
        """Read the index of a scope, or make it again where it is missing or stale; outside a transaction.

        There is none of a small scope, nor where this process may not write it.
        """
        row = self._db.row(_PLACE, (scope, *space))
        if row is None:
            return
        place = row[0], row[1]
        last = self._db.number("SELECT coalesce(max(row), 0) FROM vector")
        known = self._shelves.get(place)
        if known is not None and self._fresh(known, last):
            return
        if place in self._small and 0 <= last - self._small[place] < self._least / 10:
            return
        shelf = self._load(place, space)
        if shelf is None or not self._fresh(shelf, last):
            shelf = self.build(*place, space)
        self._shelves.pop(place, None)
        self._small.pop(place, None)
        if shelf is None:
            self._small[place] = last
        else:
            self._shelves[place] = shelf

    def _fresh(self, shelf: Shelf, last: int) -> bool:
        newer = last - shelf.newest
        return 0 <= newer <= max(STALE_LEAST, int(STALE_SHARE * len(shelf))) and not self._removed(
            shelf.epoch
        )

    def _removed(self, epoch: int) -> bool:
        """Whether anything has been removed for good since."""
        return bool(
            self._db.number(
                "SELECT EXISTS(SELECT 1 FROM journal WHERE seq > ? AND act IN (?, ?, ?))", (epoch, *_REMOVING)
            )
        )

    # files -----------------------------------------------------------------------------------------

    def _file(self, place: tuple[int, int]) -> Path:
        return self._db.path.with_name(f"{self._db.path.name}.vectors-{place[1]}-{place[0]}")

    def _load(self, place: tuple[int, int], space: Space) -> Shelf | None:
        """What the file says, if this store has written it, as it is, about this state of itself."""
        try:
            raw = self._file(place).read_bytes()
        except OSError:
            return None
        head, _, body = raw.removeprefix(_MAGIC).partition(b"\n")
        if not raw.startswith(_MAGIC) or len(head) > _BATCH:
            return None
        try:
            said = json.loads(head)
            sealed, newest, epoch, seal = (said[name] for name in ("digest", "newest", "epoch", "seal"))
        except (ValueError, KeyError, TypeError):
            return None
        # The body goes into compiled code that trusts it, so nothing is read before it is known to be ours.
        digest = self._digest(place, space, newest, epoch, seal, body)
        if not isinstance(sealed, str) or not hmac.compare_digest(sealed.encode(), digest.encode()):
            return None
        # Another state of the file, restored from a backup, has another chain of seals.
        row = self._db.row("SELECT seal FROM journal WHERE seq = ?", (epoch,))
        if row is None or row[0].hex() != seal:
            return None
        graph = _graph(space.dimension)
        graph.load(body)
        return Shelf(graph, newest, epoch)

    def _digest(self, place: tuple[int, int], space: Space, *said: object) -> str:
        *told, body = said
        content = hashlib.sha256(body if isinstance(body, bytes) else b"").hexdigest()
        return self._secret.books(["vector index", *place, *space, *told, content]).hex()

    def build(
        self, sid: int, number: int, space: Space, progress: Callable[[int], None] | None = None
    ) -> Shelf | None:
        """Index a scope in a space and keep the file; None where it is small, or nothing may be written."""
        place = sid, number
        with self._db.reading():
            row = self._db.row("SELECT seq, seal FROM journal ORDER BY seq DESC LIMIT 1")
            if row is None or self._db.number(_COUNT, (sid, number)) < self._least or self._db.readonly:
                return None
            epoch, seal = row[0], row[1].hex()
            graph, newest = _graph(space.dimension), 0
            while rows := self._db.rows(_ROWS, (newest, number, sid, _BATCH)):
                sound = [(vid, v) for _, vid, v in rows if len(v) == space.dimension * STORED.itemsize]
                vectors = np.frombuffer(b"".join(v for _, v in sound), STORED).reshape(-1, space.dimension)
                keys = np.array([vid for vid, _ in sound], np.uint64)
                # One thread: the same graph, and so the same answers, each time it is built.
                graph.add(keys, vectors.astype(np.float32), threads=1)
                newest = rows[-1][0]
                if progress is not None:
                    progress(len(graph))
        body = bytes(graph.save())
        shelf = Shelf(graph, newest, epoch)
        digest = self._digest(place, space, newest, epoch, seal, body)
        head = json.dumps({"digest": digest, "newest": newest, "epoch": epoch, "seal": seal}).encode()
        self._keep(shelf, self._file(place), _MAGIC + head + b"\n" + body)
        return shelf

    def _keep(self, shelf: Shelf, file: Path, raw: bytes) -> None:
        handle, name = tempfile.mkstemp(prefix=f"{file.name}.", dir=file.parent)  # mode 0600
        fresh = Path(name)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(raw)
            with self._db.writing():  # under the lock: no erasure may come between the look and the name
                if not self._removed(shelf.epoch):
                    fresh.replace(file)
        finally:
            fresh.unlink(missing_ok=True)


def forget(db: Connection) -> None:
    """Remove every index of a store; under the lock that erases what they were made from.

    Raises
    ------
    StoreError
        One cannot be removed; what is erased with it must not be committed.
    """
    for file in db.path.parent.glob(f"{_escaped(db.path.name)}.vectors-*"):
        remove(file)


def _escaped(name: str) -> str:
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)


def _graph(dimension: int) -> _Graph:
    from usearch.index import Index

    make = cast(
        Callable[[], _Graph],
        partial(Index, ndim=dimension, metric="cos", dtype="f16", expansion_search=_EXPANSION),
    )
    return make()
