"""Hashing: words as numbers under a key of the store's own, so that kept numbers give no word away."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
import numpy.typing as npt

Hashes = npt.NDArray[np.uint64]

_MOST = 1 << 19
"""Words remembered at once: what bounds the memory of a pass over a large store."""


class Hasher(dict[str, int]):
    """Word -> 64-bit keyed hash; the same under the same key, on any machine.

    Parameters
    ----------
    key
        At most 64 bytes. Who does not have it cannot test guesses of a word.
    """

    def __init__(self, key: bytes) -> None:
        super().__init__()
        self._key = key

    def __missing__(self, word: str) -> int:
        if len(self) >= _MOST:
            self.clear()
        number = self[word] = self.hash(word)
        return number

    def hash(self, text: str) -> int:
        """Of a text that is not worth remembering."""
        digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8, key=self._key).digest()
        return int.from_bytes(digest, "little")


def mixed(hashed: Hashes) -> Hashes:
    """Every bit of the input on every bit of the output (splitmix64)."""
    mixed = (hashed ^ (hashed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
