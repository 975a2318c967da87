"""Review: what waits for a person, and what the person says."""

from __future__ import annotations

from memorepair.errors import InvalidInput
from memorepair.governance.governor import Governor
from memorepair.governance.queue import OPEN, Item, Status
from memorepair.memory.values import require_names


class Desk:
    """The queue as a person sees it; deciding is all it does, acting is repair's."""

    def __init__(self, governor: Governor) -> None:
        self._governor = governor

    def waiting(self) -> list[Item]:
        """What a person may decide, the most urgent first."""
        return self._governor.queue.waiting()

    def show(self, id: str) -> Item:
        """One item; UnknownId otherwise."""
        return self._governor.queue.get(id)

    def open(self, id: str) -> Item:
        """One that is still to be decided.

        Raises
        ------
        UnknownId, InvalidInput
            There is none; it is decided.
        """
        item = self.show(id)
        if item.status not in OPEN:
            raise InvalidInput(f"{item.id} is {item.status}", witness=item.id)
        return item

    def approved(self, item: Item, *, actor: str, reason: str, case: int | None) -> Item:
        """Keep who let it act, and the case it opened."""
        require_names(actor, reason)
        return self._governor.queue.move(item, Status.DONE, actor=actor, reason=reason, case=case)

    def granted(self, item: Item, *, actor: str, reason: str, held: str) -> Item:
        """Keep who let it act, though the limits have no room for it now: it acts when they have."""
        require_names(actor, reason)
        return self._governor.queue.move(item, Status.APPROVED, held=held, actor=actor, reason=reason)

    def returned(self, item: Item, held: str) -> Item:
        """Keep that it was let act and has failed: it is for a person again."""
        return self._governor.queue.move(item, Status.WAITING, held=held)

    def rejected(self, item: Item, *, actor: str, reason: str) -> Item:
        """Keep who refused it: as long as nothing changes it is not proposed again."""
        require_names(actor, reason)
        return self._governor.queue.move(item, Status.REJECTED, actor=actor, reason=reason)

    def expired(self, item: Item) -> Item:
        """Keep that what it looked at has changed: what is left of the damage is proposed anew."""
        return self._governor.queue.move(item, Status.EXPIRED)
