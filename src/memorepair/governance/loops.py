"""Loops: the same remedy on the same artifact is tried three times, then a person is asked.

Counted by artifact and remedy, not by what the artifact says: two remedies that undo each other's work make a
new version each time, and would never be seen to repeat themselves otherwise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from memorepair.governance.attempts import HORIZON, Attempts
from memorepair.memory.artifact import Key
from memorepair.repair.ports import Proposal, Remedy

TRIES = 3
"""How often within `attempts.HORIZON`, in any process."""


class Loops:
    """What the attempts say about repetition."""

    def __init__(self, attempts: Attempts, tries: int = TRIES) -> None:
        self._attempts = attempts
        self._most = tries

    def tries(self, remedy: Remedy, keys: Sequence[Key]) -> dict[Key, int]:
        """How often the remedy has been tried on each artifact."""
        counts: Counter[str] = Counter()
        for one in self._attempts.within(HORIZON):
            if one.remedy == str(remedy):
                counts.update(set(one.keys))
        return {key: counts[str(key)] for key in keys}

    def exhausted(self, remedy: Remedy, keys: Sequence[Key]) -> frozenset[Key]:
        """Those of the keys that the remedy has been tried on often enough."""
        return frozenset(key for key, n in self.tries(remedy, keys).items() if n >= self._most)

    def done(self, proposal: Proposal) -> bool:
        """Whether this very repair has been made, and nothing has changed since."""
        return any(one.done and one.digest == proposal.digest for one in self._attempts.within(HORIZON))
