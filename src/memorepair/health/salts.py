"""Salts: numbers that keep rows of different scopes and kinds out of each other's blocks."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from memorepair.health.hashing import Hashes, mixed
from memorepair.health.rows import Rows


def salts_of(rows: Rows, at: npt.NDArray[np.int64]) -> Hashes:
    """(k,) of the rows `at`: equal for rows of one scope and kind, whatever else the store holds."""
    if not len(at):
        return np.zeros(0, np.uint64)
    scopes = np.array([_hashed(name) for name in rows.survey.scopes], np.uint64)
    kind = rows.survey.kind[at].astype(np.uint64)
    return mixed(scopes[rows.survey.scope[at]] + kind)


def _hashed(name: str) -> int:
    digest = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")
