"""Secret: the key beside the database, and what is computed with it.

The key lies in a file of its own, mode 0600, never in the database: who has the database alone cannot test
guesses of short texts against digests, nor forge a journal.
"""

from __future__ import annotations

import hmac
import json
import os
import struct
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Self

from memorepair.errors import CorruptStore, StoreError
from memorepair.memory.normalform import normal_form

KEY_BYTES = 32
_SHORT = 16  # bytes: forging one takes 2**128 guesses, and there is one in most rows of the journal
_ARC = struct.Struct("<qiqq")

UNKNOWN = bytes(32)
"""The digest of a content that never was here."""


def key_file(database: Path) -> Path:
    """Where the key of a database lies."""
    return database.with_name(database.name + ".key")


def unsettled(key: Path) -> Path:
    """Where a key lies until the tables of its database are there."""
    return key.with_name(key.name + ".new")


def folded(text: str) -> str:
    """What a text says, whatever its case, width and white space."""
    return " ".join(normal_form("NFKC", text).casefold().split())


class Secret:
    """HMAC-SHA256 in separate domains: texts, words, rows, arcs, suspicions, books, tombstones, seals."""

    __slots__ = ("_key",)

    def __init__(self, key: bytes) -> None:
        self._key = key

    @classmethod
    def create(cls, path: Path) -> Self:
        """Use the key at `path`, or write a new one; the caller holds the database's write lock.

        A new key has another name until `settle`, so that an empty database beside a key is one that was
        emptied, never one whose making was cut off.

        Raises
        ------
        StoreError
            It cannot be written.
        """
        fresh = unsettled(path)
        try:
            if path.exists():
                return cls.load(path)
            fresh.unlink(missing_ok=True)
            handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            try:
                os.write(handle, os.urandom(KEY_BYTES))
                os.fsync(handle)
            finally:
                os.close(handle)
        except StoreError:
            raise
        except OSError as error:
            raise StoreError(f"the key {path.name}: {error.strerror}", witness=str(path)) from error
        return cls.load(path)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read the key.

        Raises
        ------
        CorruptStore
            It is missing or damaged.
        StoreError
            It cannot be read.
        """
        for place in (path, unsettled(path), path):  # again: another process may have settled it meanwhile
            try:
                key = place.read_bytes()
            except FileNotFoundError:
                continue
            except OSError as error:
                message = f"the key {path.name} beside the database cannot be read: {error.strerror}"
                raise StoreError(message, witness=str(path)) from error
            if len(key) != KEY_BYTES:
                raise CorruptStore(f"the key {path.name} is damaged", witness=str(path))
            return cls(key)
        raise CorruptStore(f"the key {path.name} beside the database is missing", witness=str(path))

    @staticmethod
    def settle(path: Path) -> None:
        """Give a new key its name, now that the tables are there; several processes may try."""
        if not path.exists():
            try:
                unsettled(path).replace(path)
            except FileNotFoundError:
                return
            except OSError as error:
                raise StoreError(f"the key {path.name}: {error.strerror}", witness=str(path)) from error

    def digest(self, text: str) -> bytes:
        """Keyed digest of the exact text: equal digests are equal texts."""
        return hmac.digest(self._key, b"text\0" + text.encode(), "sha256")

    def words(self, text: str) -> bytes:
        """Keyed digest of the `folded` text: equal digests are texts that say the same."""
        return hmac.digest(self._key, b"words\0" + folded(text).encode(), "sha256")[:_SHORT]

    def made(self, row: Sequence[object], meta: str | None, recipe: str | None) -> bytes:
        """Keyed digest of a version's row with its key and the vector it brought, its description, recipe."""
        body = json.dumps((*row, meta, recipe)).encode()
        return hmac.digest(self._key, b"made\0" + body, "sha256")[:_SHORT]

    def arcs(self, arcs: Iterable[tuple[int, int, int, int]]) -> bytes:
        """Keyed digest of the arcs into a version, (src_vid, rel, grp, pos) each, in any order."""
        packed = b"".join(_ARC.pack(*arc) for arc in sorted(arcs))
        return hmac.digest(self._key, b"arcs\0" + packed, "sha256")[:_SHORT]

    def suspects(self, arcs: Iterable[Sequence[object]]) -> bytes:
        """Keyed digest of the suspected arcs into a version, as JSON values, in any order."""
        body = json.dumps(sorted(json.dumps(arc) for arc in arcs))
        return hmac.digest(self._key, b"suspects\0" + body.encode(), "sha256")[:_SHORT]

    def books(self, said: Sequence[object]) -> bytes:
        """Keyed digest of what a case has in its books, as JSON values."""
        return hmac.digest(self._key, b"books\0" + json.dumps(said).encode(), "sha256")[:_SHORT]

    def tombstone(self, scope: str, text: str) -> bytes:
        """Keyed digest of the `folded` text in a scope.

        The scope is part of it, or a refusal would tell one user what another has deleted.
        """
        said = scope.encode() + b"\0" + folded(text).encode()
        return hmac.digest(self._key, b"tombstone\0" + said, "sha256")

    def sealing(self, previous: bytes) -> hmac.HMAC:
        """A running seal that continues the chain after `previous`."""
        return hmac.new(self._key, b"seal\0" + previous, "sha256")
