"""Block index: who shares rare keys with whom, in a file, so that what is new is compared without the rest.

It holds numbers only, all of them keyed with the store's own key: who has the file alone cannot test guesses
of a word. It is a cache: built anew by every whole check-up, and thrown away without loss.
"""

from __future__ import annotations

import json
import os
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from memorepair.errors import InvalidFile
from memorepair.health.blocking import CAP, KEYS, WINDOW, entries, parts
from memorepair.health.conflict.compare import bare, slot_of, speaks_of_the_user
from memorepair.health.conflict.facts import LONGEST_TEXT, facts_of_row
from memorepair.health.detector import silent
from memorepair.health.reading import Reading, read
from memorepair.health.rows import Rows
from memorepair.health.salts import salts_of
from memorepair.health.thresholds import Threshold
from memorepair.memory.exchange import Progress
from memorepair.memory.store import Store

Ints = npt.NDArray[np.int64]
Words32 = npt.NDArray[np.uint32]
Words64 = npt.NDArray[np.uint64]

ENDING = ".blocks"
"""What the file is called, behind the name of the store's."""

PARTNERS = 12
"""Partners of a new row that are fetched at most: those that share most of its rare keys."""

_MAGIC = b"MemoRepair block index 1\n"
_ALIGN = 64
_HEADER_LIMIT = 1 << 20
_PURPOSE = "memorepair block index"
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_ARRAYS: Mapping[str, type[np.generic]] = MappingProxyType(
    {
        "aid": np.int64,
        "keys": np.uint32,
        "owners": np.uint32,
        "common": np.uint32,
        "common_count": np.uint32,
        "exact": np.uint64,
        "exact_owner": np.uint32,
        "vocabulary": np.uint64,
        "counts": np.uint32,
        "names": np.uint64,
        "name_counts": np.uint32,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BlockIndex:
    """The keys of k artifacts of a store.

    Attributes
    ----------
    newest
        Newest version (vid) that it knows.
    seal
        Tells whether it was built with a store's key.
    thresholds
        Of the check-up it was built after.
    aid : (k,) int64
        The artifacts, in order of birth.
    keys, owners : (m,) uint32
        Key and row (a place in `aid`), ascending; of a key of more than `CAP` rows the newest `WINDOW`.
    common, common_count : (c,) uint32
        Those keys, ascending, and how many rows have each.
    exact, exact_owner : (e,) uint64, uint32
        Hashes of what makes two rows one or puts them into one slot, ascending, and the rows.
    vocabulary, counts : (v,) uint64, uint32
        Words, and how many rows hold each. `names`, `name_counts` are the same of the fields of records.
    """

    newest: int
    seal: str
    thresholds: tuple[Threshold, ...]
    aid: Ints
    keys: Words32
    owners: Words32
    common: Words32
    common_count: Words32
    exact: Words64
    exact_owner: Words32
    vocabulary: Words64
    counts: Words32
    names: Words64
    name_counts: Words32

    # building --------------------------------------------------------------------------------------

    @classmethod
    def build(
        cls, store: Store, thresholds: tuple[Threshold, ...] = (), progress: Progress = silent
    ) -> BlockIndex:
        """Read the whole store; O(n) and sorts.

        Parameters
        ----------
        thresholds
            `CheckUp.thresholds` of a whole check-up: they are used for what is new.
        """
        key = key_of_store(store)
        rows = Rows.of(store.survey())
        at = _readable(rows)
        n = len(at)
        texts = [rows.text(row) for row in at.tolist()]
        reading = read(texts, salts_of(rows, at), key, lambda row: progress("index", row, n))
        exact, exact_owner = _exact_keys(rows, at, reading, key)
        support = {_hashed(key, "name", name): n for name, n in reading.support.items()}
        names = np.array(sorted(support), np.uint64)
        newest, aid = rows.survey.newest, rows.survey.aid[at].copy()
        words, vocabulary, counts = reading.words, reading.vocabulary, reading.counts
        del rows, texts, reading  # numbers are left: what follows takes the most memory
        keys, owners, common, common_count = _trimmed(entries(words))
        return cls(
            newest=newest,
            seal=_seal(key),
            thresholds=thresholds,
            aid=aid,
            keys=keys,
            owners=owners,
            common=common,
            common_count=common_count,
            exact=exact,
            exact_owner=exact_owner.astype(np.uint32),
            vocabulary=vocabulary,
            counts=counts.astype(np.uint32),
            names=names,
            name_counts=np.array([support[int(name)] for name in names], np.uint32),
        )

    # what is known ---------------------------------------------------------------------------------

    @property
    def rows(self) -> int:
        """Number of artifacts."""
        return len(self.aid)

    def holders(self, word: np.uint64) -> int:
        """How many rows hold a word."""
        return _looked_up(self.vocabulary, self.counts, word)

    def known_to(self, key: bytes) -> Known:
        """What a reading needs to know of these rows."""
        return Known(index=self, key=key)

    def partners(self, rows: Rows, key: bytes) -> Ints:
        """Whom to compare new rows with: (p, 2) aid of the new, aid of the old; ascending, each once.

        At most `PARTNERS` that share rare keys with a row, and the newest of each of its exact keys.
        O(new x log index).
        """
        at = _readable(rows)
        texts = [rows.text(row) for row in at.tolist()]
        reading = read(texts, salts_of(rows, at), key, lambda row: None)
        new = rows.survey.aid[at]
        one, other = self._sharing(reading)
        pairs = [np.column_stack([new[one], self._aids(other)])]
        hashes, owner = _exact_keys(rows, at, reading, key)
        low = np.searchsorted(self.exact, hashes, side="left")
        high = np.searchsorted(self.exact, hashes, side="right")
        low = np.maximum(low, high - CAP)
        number, place = _expand(low, high - low)
        pairs.append(np.column_stack([new[owner[number]], self._aids(self.exact_owner[place])]))
        return np.unique(np.concatenate(pairs), axis=0)

    def _sharing(self, reading: Reading) -> tuple[Ints, Ints]:
        """(new row, old row) that share the most of the new row's rarest keys."""
        found = entries(reading.words)
        key, row = (found >> _HALF).astype(np.uint32), (found & _LOW).astype(np.int64)
        low = np.searchsorted(self.keys, key, side="left")
        high = np.searchsorted(self.keys, key, side="right")
        held = high - low
        at = np.minimum(np.searchsorted(self.common, key), max(len(self.common) - 1, 0))
        if len(self.common):
            held = np.where(self.common[at] == key, self.common_count[at].astype(np.int64), held)
        shared = held > 0
        key, row, low, high, held = key[shared], row[shared], low[shared], high[shared], held[shared]
        order = np.lexsort((key, held, row))
        rank = _rank(row[order])
        order = order[rank < KEYS]
        number, place = _expand(low[order], (high - low)[order])
        pair = row[order][number] << np.int64(32) | self.owners[place].astype(np.int64)
        pair, together = np.unique(pair, return_counts=True)
        order = np.lexsort((pair, -together, pair >> 32))
        best = pair[order[_rank((pair >> 32)[order]) < PARTNERS]]
        return best >> 32, best & np.int64(0xFFFFFFFF)

    def _aids(self, owners: npt.NDArray[np.integer]) -> Ints:
        if len(owners) and int(owners.max()) >= self.rows:
            raise InvalidFile("a block index names a row that it does not have", witness=int(owners.max()))
        return np.asarray(self.aid[owners], np.int64)

    # the file --------------------------------------------------------------------------------------

    @staticmethod
    def beside(store: Path) -> Path:
        """Where the index of a store lies."""
        return store.with_name(store.name + ENDING)

    @classmethod
    def of(cls, store: Path, key: bytes) -> BlockIndex | None:
        """The index beside a store; None where there is none, or what is there is not its own."""
        try:
            found = cls.load(cls.beside(store))
            found.require(key)
        except InvalidFile:
            return None
        return found

    def save(self, path: Path) -> None:
        """Write the file at once or not at all; nobody else may read it."""
        header = json.dumps(
            {
                "newest": self.newest,
                "seal": self.seal,
                "thresholds": [threshold.to_json() for threshold in self.thresholds],
                "arrays": {name: len(getattr(self, name)) for name in _ARRAYS},
            }
        ).encode()
        unfinished = path.with_name(f"{path.name}.{os.getpid()}.tmp")
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(_MAGIC + len(header).to_bytes(8, "little") + header)
            for name, kind in _ARRAYS.items():
                file.write(b"\0" * (-file.tell() % _ALIGN))
                file.write(np.ascontiguousarray(getattr(self, name), np.dtype(kind).newbyteorder("<")).data)
        unfinished.replace(path)

    @classmethod
    def load(cls, path: Path) -> BlockIndex:
        """Map the file into memory; only what is looked at is read.

        Raises
        ------
        InvalidFile
            It is no block index, or cut short.
        """
        try:
            with path.open("rb") as file:
                begins = file.read(len(_MAGIC) + 8)
                length = int.from_bytes(begins[len(_MAGIC) :], "little")
                if not begins.startswith(_MAGIC) or length > _HEADER_LIMIT:
                    raise InvalidFile(f"{path} is no block index", witness=str(path))
                header = json.loads(file.read(length))
            size = path.stat().st_size
            arrays: dict[str, Any] = {}
            offset = len(_MAGIC) + 8 + length
            for name, kind in _ARRAYS.items():
                count = int(header["arrays"][name])
                offset += -offset % _ALIGN
                dtype = np.dtype(kind).newbyteorder("<")
                if count < 0 or offset + count * dtype.itemsize > size:
                    raise InvalidFile(f"{path} is cut short", witness=size)
                arrays[name] = np.memmap(path, dtype, "r", offset, (count,)) if count else np.zeros(0, dtype)
                offset += count * dtype.itemsize
            kept: dict[str, Any] = {
                "newest": int(header["newest"]),
                "seal": str(header["seal"]),
                "thresholds": tuple(map(Threshold.from_json, header["thresholds"])),
            }
            return cls(**kept, **arrays)
        except OSError as error:
            raise InvalidFile(f"{path} cannot be read: {error.strerror}", witness=str(path)) from error
        except (ValueError, KeyError, TypeError) as error:
            if isinstance(error, InvalidFile):
                raise
            raise InvalidFile(f"{path} is no block index: {error}", witness=str(path)) from error

    def require(self, key: bytes) -> None:
        """Refuse the index of another store.

        Raises
        ------
        InvalidFile
        """
        if self.seal != _seal(key):
            raise InvalidFile("the block index was built for another store", witness=self.seal)


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What an index knows, as a reading asks for it."""

    index: BlockIndex
    key: bytes

    @property
    def rows(self) -> int:
        """Number of artifacts."""
        return self.index.rows

    def holders(self, word: np.uint64) -> int:
        """How many hold a word."""
        return self.index.holders(word)

    def support(self, name: str) -> int:
        """How many have a field of this name."""
        return _looked_up(
            self.index.names, self.index.name_counts, np.uint64(_hashed(self.key, "name", name))
        )


def key_of_store(store: Store) -> bytes:
    """The key that a store's index is made with."""
    return bytes.fromhex(store.digest(_PURPOSE))[:32]


def _seal(key: bytes) -> str:
    return blake2b(b"seal", digest_size=16, key=key).hexdigest()


def _hashed(key: bytes, *parts: object) -> int:
    said = repr(parts).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(said, digest_size=8, key=key).digest(), "little")


def _readable(rows: Rows) -> Ints:
    says = np.array([bool(text and text.strip()) for text in rows.survey.texts], np.bool_)
    return np.flatnonzero(rows.remembered & says)


def _exact_keys(rows: Rows, at: Ints, reading: Reading, key: bytes) -> tuple[Words64, Ints]:
    """Hashes that put rows together for certain, ascending, and the places in `at`."""
    hashes, owners = array("Q"), array("q")
    for place, row in enumerate(at.tolist()):
        scope = rows.survey.scopes[rows.survey.scope[row]]
        for said in _certain(rows, row, fields=bool(reading.fields[place])):
            hashes.append(_hashed(key, scope, *said))
            owners.append(place)
    found = np.concatenate([reading.exact, np.array(hashes, np.uint64)])
    owner = np.concatenate([np.arange(len(at)), np.array(owners, np.int64)])
    order = np.lexsort((owner, found))
    return found[order], owner[order]


def _certain(rows: Rows, row: int, *, fields: bool) -> Iterator[tuple[object, ...]]:
    """What a row says in a slot, by the words of which another could deny it, or as an announcement."""
    text, given = rows.text(row), row in rows.slots
    if not given and (fields or len(text) > LONGEST_TEXT):
        return
    said = facts_of_row(rows, row)
    for fact in said:
        yield "slot", *slot_of(fact)
    if given:
        return
    if not said:
        yield "words", bare(text)[0]
    if speaks_of_the_user(text):
        yield ("speaker",)


def _trimmed(found: npt.NDArray[np.uint64]) -> tuple[Words32, Words32, Words32, Words32]:
    """What `BlockIndex` keeps of all entries, which are overwritten: kept ones lie before those to read."""
    used = 0
    common: list[Words32] = [np.zeros(0, np.uint32)]
    counts: list[Words32] = [np.zeros(0, np.uint32)]
    for start, end in parts(found):
        key = found[start:end] >> _HALF
        starts = np.flatnonzero(np.r_[True, key[1:] != key[:-1]])
        lengths = np.diff(np.r_[starts, len(key)])
        left = np.repeat(starts + lengths, lengths) - np.arange(len(key))  # to the end of its run
        kept = found[start:end][(np.repeat(lengths, lengths) <= CAP) | (left <= WINDOW)]
        found[used : used + len(kept)] = kept
        used += len(kept)
        many = lengths > CAP
        common.append(key[starts[many]].astype(np.uint32))
        counts.append(lengths[many].astype(np.uint32))
    keys, owners = np.empty(used, np.uint32), np.empty(used, np.uint32)
    np.right_shift(found[:used], _HALF, out=keys, casting="unsafe")
    np.bitwise_and(found[:used], _LOW, out=owners, casting="unsafe")
    return keys, owners, np.concatenate(common), np.concatenate(counts)


def _looked_up(ascending: Words64, counts: Words32, wanted: np.uint64) -> int:
    at = int(np.searchsorted(ascending, wanted))
    return int(counts[at]) if at < len(ascending) and ascending[at] == wanted else 0


def _rank(ascending: Ints) -> Ints:
    """Place of each element within its run."""
    starts = np.flatnonzero(np.r_[np.ones(min(1, len(ascending)), np.bool_), ascending[1:] != ascending[:-1]])
    return np.arange(len(ascending)) - np.repeat(starts, np.diff(np.r_[starts, len(ascending)]))


def _expand(starts: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """The slices ``starts[i] : starts[i] + counts[i]`` one behind the other: which slice, and where."""
    number = np.repeat(np.arange(len(counts)), counts)
    before = np.cumsum(counts) - counts
    return number, np.arange(len(number)) - np.repeat(before - starts, counts)
