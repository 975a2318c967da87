"""Begun calls: what a replay is about to do to the world is noted before it does it."""

from __future__ import annotations

from collections.abc import Collection

from memorepair.errors import ApprovalNeeded
from memorepair.memory.artifact import Key
from memorepair.memory.store import Store
from memorepair.recovery.tools import ONCE, Effect

BOOK = "begun calls"

AGAIN = "again "
"""What the approval of a call begins with that may have run already."""


class Begun:
    """The calls of a case's replays that began and of which nobody has kept how they ended.

    A process that is killed leaves its notes: the next replay asks before it makes such a call again. Notes
    have the case, the action and a keyed digest of the call, no content.
    """

    def __init__(self, store: Store, case: int) -> None:
        self._store = store
        self._case = case
        self._left = store.notes(BOOK)
        self._effects: dict[Key, Effect] = {}
        self._ended: set[Key] = set()

    def require_approval(self, action: Key, call: str, effect: Effect, approved: Collection[str]) -> None:
        """Stop a call that may have run in a replay that did not come to its end.

        Raises
        ------
        ApprovalNeeded
            The witness is what has to be approved.
        """
        if effect not in ONCE or self._left.get(self._name(action)) != self._store.digest(call):
            return
        require_again(action, call, approved)

    def begin(self, action: Key, call: str, effect: Effect) -> None:
        """Note a call; the next thing that happens is the call."""
        if effect in ONCE:
            self._store.note(BOOK, {self._name(action): self._store.digest(call)})
            self._effects[action] = effect

    def end(self, action: Key) -> None:
        """The tool has returned."""
        self._ended.add(action)

    def settle(self, *, published: bool) -> None:
        """Forget the calls: they are published, or taken back; what cannot be taken back stays noted."""
        stays = {
            action
            for action in self._ended
            if not published and self._effects.get(action) is Effect.IRREVERSIBLE
        }
        done = [self._name(action) for action in self._effects if action not in stays]
        if done:
            self._store.note(BOOK, dict.fromkeys(done))

    def _name(self, action: Key) -> str:
        return f"{self._case} {action}"


def require_again(action: Key, call: str, approved: Collection[str]) -> None:
    """Stop a call of which nobody kept how an earlier one of the same action ended.

    Raises
    ------
    ApprovalNeeded
        The witness is what has to be approved.
    """
    if AGAIN + call not in approved:
        raise ApprovalNeeded(
            f"{action} may have run already, and what came of it nobody kept: see to it, then approve it",
            witness=AGAIN + call,
        )
