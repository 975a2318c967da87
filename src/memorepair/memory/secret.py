"""Secret: the key beside the database, and what is computed with it.

The key lies in a file of its own, mode 0600, never in the database: who has the database alone cannot test
guesses of short texts against digests, nor forge a journal.
"""

from __future__ import annotations

import hmac
import os
import unicodedata
from pathlib import Path
from typing import Self

from memorepair.errors import CorruptStore

KEY_BYTES = 32


class Secret:
    """HMAC-SHA256 in three separate domains: exact texts, tombstones, seals."""

    __slots__ = ("_key",)

    def __init__(self, key: bytes) -> None:
        self._key = key

    @classmethod
    def create(cls, path: Path) -> Self:
        """Use the key at `path`, or write a new one; the caller holds the database's write lock."""
        try:
            return cls.load(path)
        except CorruptStore:
            fresh = path.with_name(path.name + ".new")
            fresh.unlink(missing_ok=True)
            handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            try:
                os.write(handle, os.urandom(KEY_BYTES))
                os.fsync(handle)
            finally:
                os.close(handle)
            fresh.replace(path)  # all or nothing: a process killed before this leaves no half key
        return cls.load(path)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read the key.

        Raises
        ------
        CorruptStore
            It is missing or damaged.
        """
        try:
            key = path.read_bytes()
        except OSError as error:
            raise CorruptStore(
                f"the key {path.name} beside the database is missing", witness=str(path)
            ) from error
        if len(key) != KEY_BYTES:
            raise CorruptStore(f"the key {path.name} is damaged", witness=str(path))
        return cls(key)

    def digest(self, text: str) -> bytes:
        """Keyed digest of the exact text: equal digests are equal texts."""
        return hmac.digest(self._key, b"text\0" + text.encode(), "sha256")

    def tombstone(self, scope: str, text: str) -> bytes:
        """Keyed digest of the text in a scope, whatever its case and width.

        The scope is part of it, or a refusal would tell one user what another has deleted.
        """
        folded = unicodedata.normalize("NFKC", text).casefold()
        return hmac.digest(self._key, b"tombstone\0" + scope.encode() + b"\0" + folded.encode(), "sha256")

    def sealing(self, previous: bytes) -> hmac.HMAC:
        """A running seal that continues the chain after `previous`."""
        return hmac.new(self._key, b"seal\0" + previous, "sha256")
