"""Verbs that look after a memory: check-ups, and the remedies that may act."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from memorepair import housekeeping
from memorepair.facade.base import Opened, check_callable
from memorepair.housekeeping import Housekeeper, Patrol, Report
from memorepair.memory.values import check_type


class Keeping(Opened):
    """Verbs that look after a memory: check-ups, and the remedies that may act."""

    def housekeeper(self, keeping: housekeeping.Keeping | None = None) -> Housekeeper:
        """Who looks after this memory: check-ups, remedies, the queue of a person, the ledger."""
        check_type(keeping, housekeeping.Keeping | None, "how a memory is kept is a Keeping")
        return Housekeeper(
            self._store,
            operators=self._operators,
            pricing=self._pricing,
            checks=self._checks,
            keeping=keeping,
        )

    def checkup(
        self,
        *,
        repair: bool = False,
        keeping: housekeeping.Keeping | None = None,
        since: int | None = None,
        dry_run: bool = False,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> Report:
        """Look for damage in what is remembered; with `repair`, do about it what may be done.

        Findings quote no content. Low-risk remedies act by themselves, others after a rule or a window, and
        what a person has to decide waits in the queue: see `housekeeper`. A record is kept in the ledger.

        Parameters
        ----------
        since
            `newest` of an earlier check-up: only what was written after it is looked at; None: everything.
        dry_run
            Say what was found and what would be weighed; nothing is written.
        """
        if progress is not None:
            check_callable(progress, "progress")
        keeper = self.housekeeper(keeping)
        return keeper.run(since=since, repair=repair, dry_run=dry_run, progress=progress)

    def patrol(
        self,
        occasions: Iterable[str] = (),
        *,
        keeping: housekeeping.Keeping | None = None,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> Patrol:
        """Make the checks that are due and the repairs whose time has come, then return: for cron.

        `occasions` are what has happened since that asks for checks out of turn: import, upgrade, model,
        permission.
        """
        check_type(occasions, Iterable, "occasions are an iterable of names")
        if progress is not None:
            check_callable(progress, "progress")
        return self.housekeeper(keeping).patrol(occasions, progress=progress)
