"""Verbs that take a case back, or remove content for good."""

from __future__ import annotations

from memorepair.errors import InvalidInput
from memorepair.facade.base import LONGEST_DAYS, Opened
from memorepair.memory.arguments import CaseLike, as_case
from memorepair.memory.store import PruneReport, Receipt, UndoReport
from memorepair.memory.values import check_flags, is_number
from memorepair.repair import engine

_NANOSECONDS_A_DAY = 86_400 * 10**9


class Removing(Opened):
    """Verbs that take a case back, or remove content for good."""

    def undo(
        self, case: CaseLike, *, actor: str, reason: str, wait: float = 0.0, dry_run: bool = False
    ) -> UndoReport:
        """Take a case back, whatever has come of it: the state before it, item by item, from before-images.

        What it withdrew is served again in its old version and on its old sources; replacements and
        successors it brought are archived; what it forbade to learn may be learned again.

        Raises
        ------
        UndoRefused
            It is undone already; another event, an update or a derivation has come after it; or content it
            needs is gone (witness: the keys). Nothing was changed.
        RepairInProgress
            A repair holds the store and `wait` seconds have passed.
        """
        check_flags(dry_run=dry_run)
        return engine.undo(self._store, as_case(case), actor=actor, reason=reason, wait=wait, dry_run=dry_run)

    def erase(
        self, case: CaseLike, *, actor: str, reason: str, wait: float = 0.0, dry_run: bool = False
    ) -> Receipt:
        """Remove at once all content that a deletion has withdrawn, whether repaired or not.

        Every version of every member goes but what is served; members without a successor are erased for
        good. Call it again while the receipt says pending: a reader held an older snapshot of the file.
        With `dry_run` it only tells what would go: no entry, no seal.

        Raises
        ------
        InvalidInput
            The case is no deletion, or undone.
        RepairInProgress
            A repair holds the store and `wait` seconds have passed.
        """
        check_flags(dry_run=dry_run)
        number = as_case(case)
        with self._store.repairing(number, wait=wait):
            receipt = self._store.erase(number, actor=actor, reason=reason, dry_run=dry_run)
        if not dry_run:
            self._forget_words()
        return receipt

    def receipt(self, case: CaseLike) -> Receipt | None:
        """What a case has erased: keys, versions and keyed digests, no content; None where nothing."""
        return self._store.receipt(as_case(case))

    def prune(
        self,
        older_than_days: float | None = None,
        *,
        actor: str | None = None,
        reason: str | None = None,
        dry_run: bool = False,
    ) -> PruneReport:
        """Remove content that left service long ago and that nothing needs any more.

        That is former versions, and what cases that are over had superseded or archived. Never what is
        withdrawn or quarantined, what a current version was made from, or what an unfinished case took out.

        Parameters
        ----------
        older_than_days
            Since it left service; the retention of this memory unless given.

        Raises
        ------
        InvalidInput
            Less than the retention.
        """
        check_flags(dry_run=dry_run)
        days = self._retention_days if older_than_days is None else older_than_days
        if not is_number(days, self._retention_days, LONGEST_DAYS):
            raise InvalidInput(f"the retention is {self._retention_days:g} days", witness=days)
        age = round(days * _NANOSECONDS_A_DAY)
        return self._store.prune(age, actor=actor, reason=reason, dry_run=dry_run)
