"""Usage: how often artifacts are got, counted in memory so that no read waits for a write."""

from __future__ import annotations

from collections.abc import Callable

from memorepair.memory.connection import Connection


class Usage:
    """Counts since the last flush, by artifact (aid)."""

    def __init__(self, db: Connection, clock: Callable[[], int]) -> None:
        self._db = db
        self._clock = clock
        self._counts: dict[int, tuple[int, int]] = {}

    def count(self, aid: int) -> int | None:
        """Count one use now; the time of the use before, where this buffer knows it."""
        uses, last = self._counts.get(aid, (0, None))
        self._counts[aid] = (uses + 1, self._clock())
        return last

    def pending(self, aid: int) -> tuple[int, int | None]:
        """Uses not yet in the table, and the last of them."""
        return self._counts.get(aid, (0, None))

    def flush(self) -> None:
        """Add the counts to the table in the caller's transaction; `forget` them once it has committed."""
        self._db.many(
            """INSERT INTO usage(aid, reads, last) VALUES(?,?,?)
            ON CONFLICT DO UPDATE SET reads = reads + excluded.reads, last = max(last, excluded.last)""",
            ((aid, uses, last) for aid, (uses, last) in self._counts.items()),
        )

    def forget(self) -> None:
        """Empty the buffer."""
        self._counts.clear()

    def __bool__(self) -> bool:
        return bool(self._counts)
