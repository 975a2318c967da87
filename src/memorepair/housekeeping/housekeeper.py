"""Housekeeper: who looks after one store, when asked and on patrol."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from memorepair.governance import Desk, Governor, Item, grade_of
from memorepair.governance.decisions import Decisions
from memorepair.health.blockindex import BlockIndex
from memorepair.health.checkup import CheckUp
from memorepair.health.detector import Detector
from memorepair.health.diagnose import Diagnosis
from memorepair.health.finding import Finding
from memorepair.housekeeping.acting import Acting
from memorepair.housekeeping.keeping import Keeping, calm
from memorepair.housekeeping.looking import HEALTH, Looking
from memorepair.housekeeping.reports import Patrol, Report
from memorepair.housekeeping.reviewing import Reviewing
from memorepair.housekeeping.rounds import Round, schedule_of
from memorepair.ledger import Ledger
from memorepair.ledger.case import prevention_of
from memorepair.memory.artifact import Json, Key, Scope
from memorepair.memory.exchange import Progress
from memorepair.memory.sqlite import SqliteStore
from memorepair.repair.assignment import OperatorTable
from memorepair.repair.ports import Answer, Outcome
from memorepair.repair.pricing import Pricing
from memorepair.repair.validation import Checks

PASSES = 3
"""Check-ups that one repair makes at most: what a merge brings to light is settled in the next."""

QUEUE_DAYS = 30
"""How long the queue remembers what is over."""


class Housekeeper:
    """Looks after one store."""

    def __init__(
        self,
        store: SqliteStore,
        *,
        operators: OperatorTable,
        pricing: Pricing | None = None,
        checks: Checks | None = None,
        keeping: Keeping | None = None,
    ) -> None:
        self._store = store
        self._keeping = keeping or Keeping()
        self.governor = Governor(
            store, self._keeping.policy, self._keeping.limits, load=calm(self._keeping.load)
        )
        self.desk = Desk(self.governor)
        self.ledger = Ledger(store)
        self.looking = Looking(store=store, keeping=self._keeping)
        self.acting = Acting(
            store,
            self.looking,
            self.governor,
            self.ledger,
            operators=operators,
            pricing=pricing,
            checks=checks,
        )
        self._reviewing = Reviewing(store, self.looking, self.acting, self.governor, self.desk)

    def look(
        self,
        *,
        since: int | None = None,
        detectors: Sequence[str | Detector] | None = None,
        progress: Progress | None = None,
    ) -> CheckUp:
        """A check-up with the thresholds of the last one; writes nothing."""
        return self.looking.look(since=since, detectors=detectors, progress=progress)

    def check_drift(self, *, keep: bool = True) -> list[Finding]:
        """Whether the model is the one it was: by its anchors, and by rows embedded again.

        `keep`: write down the anchors of a model that is seen for the first time.
        """
        return self.looking.check_drift(keep=keep)

    def run(
        self,
        *,
        since: int | None = None,
        detectors: Sequence[str | Detector] | None = None,
        repair: bool = True,
        dry_run: bool = False,
        figures: Mapping[str, float] | None = None,
        measure: Callable[[], Mapping[str, float]] | None = None,
        beside: Sequence[Finding] = (),
        left_out: Sequence[str] = (),
        progress: Progress | None = None,
    ) -> Report:
        """A check-up; then, with `repair`, what may be done about it, and a record.

        Parameters
        ----------
        dry_run
            Say what would be weighed with which grade; nothing is written.
        figures, measure
            Further key figures before, and how to measure them again afterwards.
        beside
            Findings from elsewhere: of retrieval, of a drift probe.
        left_out
            What could not be looked at elsewhere.
        """
        checkup = self.look(since=since, detectors=detectors, progress=progress)
        checkup = replace(
            checkup, findings=(*checkup.findings, *beside), left_out=(*checkup.left_out, *left_out)
        )
        diagnosis = self.looking.diagnose(checkup, since=since)
        if dry_run:
            return Report(checkup=checkup, diagnosis=diagnosis, outcomes=tuple(self._dry(diagnosis)))
        kept: dict[str, Json] = {"newest": checkup.newest}
        if checkup.thresholds:
            kept["thresholds"] = [one.to_json() for one in checkup.thresholds]
        self._store.note(HEALTH, kept)
        before = {**self.looking.figures(checkup), **(figures or {})}
        now, latest = diagnosis, checkup
        for _ in range(PASSES if repair else 0):
            if not self.acting.weigh(now, progress):
                break
            latest = self.look(since=since, detectors=detectors, progress=progress)
            now = self.looking.diagnose(latest, since=since)
        after = {**self.looking.figures(latest), **(measure() if measure else figures or {})}
        if since is None and "duplicates" in latest.detectors:
            BlockIndex.build(self._store, latest.thresholds).save(BlockIndex.beside(self._store.path))
        outcomes = self.ledger.open
        record = self.ledger.close(
            artifacts=checkup.artifacts,
            found=_by_damage(checkup.findings),
            before=before,
            after=after,
            waiting=tuple(item.id for item in self.desk.waiting()),
            causes=tuple(f"{code}: {cause}" for code, cause in diagnosis.causes.items()),
            prevention=prevention_of({cause.what: str(cause) for cause in diagnosis.causes.values()}),
            left_out=checkup.left_out,
        )
        return Report(checkup=checkup, diagnosis=diagnosis, outcomes=outcomes, record=record)

    def _dry(self, diagnosis: Diagnosis) -> Iterable[Outcome]:
        for proposal in self.looking.proposals(diagnosis):
            grade = grade_of(proposal, self._keeping.policy)
            yield Outcome(proposal=proposal, grade=grade, answer=Answer.WAIT, why="a dry run")

    # what waits ------------------------------------------------------------------------------------

    def resume(self, *, dry_run: bool = False, progress: Progress | None = None) -> tuple[Outcome, ...]:
        """Carry out what has waited for its time, if nothing has changed since; or say what would be."""
        return self._reviewing.resume(dry_run=dry_run, progress=progress)

    def approve(
        self,
        id: str,
        *,
        actor: str,
        reason: str,
        keep: Key | None = None,
        move: Scope | None = None,
        dry_run: bool = False,
    ) -> Outcome:
        """Let what waits act, by a person, exactly as it was shown.

        Of an undecided conflict, `keep` is the one that holds. A leak stays out of service where it was; with
        `move` it is written into the scope where it belongs, by the same case. What was derived from it is
        made anew without it.

        Raises
        ------
        UnknownId
            The queue has no such item.
        InvalidInput
            It is decided already; `keep` is missing, or none of its artifacts; something other than a leak is
            to be moved, or a leak to where it lies; nobody signs, or without a reason.
        Tombstoned
            An event has removed this content from the scope it is to be moved to.
        StaleRead
            What it looks at has changed since it was proposed; it has expired, and nothing was changed.
        """
        return self._reviewing.approve(id, actor=actor, reason=reason, keep=keep, move=move, dry_run=dry_run)

    def reject(self, id: str, *, actor: str, reason: str, dry_run: bool = False) -> Item:
        """Refuse what waits, by a person; what was flagged or withdrawn until then is served as before.

        Raises
        ------
        UnknownId, InvalidInput
            As `approve`.
        UndoRefused
            Later work stands on what would be taken back; nothing was changed.
        """
        return self._reviewing.reject(id, actor=actor, reason=reason, dry_run=dry_run)

    def keep(self, keys: Sequence[Key], *, actor: str, reason: str, dry_run: bool = False) -> tuple[Key, ...]:
        """Let artifacts stay beside each other as they are, by a person; returns them.

        What they mean to each other (a conflict, a duplicate, a doubtful scope) is no finding any more, until
        one of them changes. Damage of structure still is.

        Raises
        ------
        UnknownId
            There is no such artifact.
        InvalidInput
            None is named, or one twice; nobody signs, or without a reason; something of them waits for a
            decision, which is rejected instead.
        """
        return self._reviewing.keep(keys, actor=actor, reason=reason, dry_run=dry_run)

    # patrol ----------------------------------------------------------------------------------------

    def patrol(
        self,
        occasions: Iterable[str] = (),
        *,
        repair: bool = True,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> Patrol:
        """Make the checks that are due, carry out what has waited for its time; then it ends: cron-friendly.

        Parameters
        ----------
        occasions
            What has happened that asks for checks out of turn: import, upgrade, model, permission.
        dry_run
            Say what is due, what would be found and weighed, and what waits for its time; nothing is written.
        """
        now = self._store.now()
        schedule = schedule_of(self._store)
        due = schedule.due(now, occasions)
        resumed = self.resume(dry_run=dry_run, progress=progress) if repair else ()
        made = Round.of(self.looking, due, now, keep=not dry_run)
        report = None
        if made.asks or resumed:
            report = self.run(
                since=made.since,
                detectors=made.detectors or ["required"],
                repair=repair,
                dry_run=dry_run,
                beside=made.findings,
                left_out=made.left_out,
                progress=progress,
            )
        if not dry_run:
            self._store.note(HEALTH, {"schedule": schedule.made(due, now)})
            self.governor.queue.forget(now - QUEUE_DAYS * 86_400 * 10**9)
            self.ledger.forget()
            Decisions(self._store).forget()
        return Patrol(
            checks=tuple(check.name for check in due),
            report=report,
            resumed=resumed,
            drill_due=any(check.name == "drill" for check in due),
        )


def _by_damage(findings: Iterable[Finding]) -> dict[str, dict[str, int]]:
    found: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for one in findings:
        found[str(one.damage)][one.code] += 1
    return {damage: dict(sorted(codes.items())) for damage, codes in sorted(found.items())}
