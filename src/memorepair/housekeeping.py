"""Housekeeping: a check-up, what it diagnoses, what may be done about it, and the record of all that."""

from __future__ import annotations

import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from memorepair.errors import InvalidInput, MemoRepairError, RepairInProgress, StaleRead, UndoRefused
from memorepair.governance import Desk, Governor, Item, Limits, Policy, Status, grade_of
from memorepair.governance.governor import ACTED
from memorepair.health import drift
from memorepair.health.blockindex import BlockIndex, key_of_store
from memorepair.health.checkup import CheckUp, check_up
from memorepair.health.detector import Detector, Expected, silent
from memorepair.health.diagnose import Diagnosis, diagnose
from memorepair.health.finding import Damage, Finding, Level
from memorepair.health.recording import recorded
from memorepair.health.reembedding import reembed
from memorepair.health.registry import detectors as known_detectors
from memorepair.health.relocating import relocated
from memorepair.health.remedies import Wanted, propose
from memorepair.health.retrieval import HOUR, alarms
from memorepair.health.rows import Rows
from memorepair.health.schedule import Schedule
from memorepair.health.thresholds import Threshold
from memorepair.ledger import CaseRecord, Ledger
from memorepair.ledger.case import prevention_of
from memorepair.ledger.spans import span
from memorepair.memory.artifact import CaseStatus, Json, Key, Scope
from memorepair.memory.exchange import Progress
from memorepair.memory.sqlite import SqliteStore
from memorepair.memory.values import require_names
from memorepair.repair import engine
from memorepair.repair.assignment import OperatorTable
from memorepair.repair.carrying import carry_out, fingerprint
from memorepair.repair.ports import Answer, Outcome, Proposal, Remedy
from memorepair.repair.pricing import Pricing
from memorepair.repair.validation import Checks

logger = logging.getLogger(__name__)

HEALTH = "health"
"""The book of thresholds and of the schedule."""

PASSES = 3
"""Check-ups that one repair makes at most: what a merge brings to light is settled in the next."""

QUEUE_DAYS = 30
"""How long the queue remembers what is over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """One check-up with what was done about it.

    Attributes
    ----------
    checkup
        The first look.
    diagnosis
        Of it.
    outcomes
        Of every remedy, in the order they were weighed; empty where nothing was to be repaired.
    record
        What the ledger keeps; None of a dry run.
    """

    checkup: CheckUp
    diagnosis: Diagnosis
    outcomes: tuple[Outcome, ...] = ()
    record: CaseRecord | None = None

    def to_json(self) -> dict[str, Json]:
        """As a JSON object."""
        return {
            "checkup": self.checkup.to_json(),
            "diagnosis": self.diagnosis.to_json(),
            "outcomes": [one.to_json() for one in self.outcomes],
            "record": None if self.record is None else self.record.to_json(),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Patrol:
    """One round: the checks that were due, what came of them, and of what had waited for its time."""

    checks: tuple[str, ...]
    report: Report | None
    resumed: tuple[Outcome, ...] = ()
    drill_due: bool = False

    def to_json(self) -> dict[str, Json]:
        """As a JSON object."""
        return {
            "checks": list(self.checks),
            "report": None if self.report is None else self.report.to_json(),
            "resumed": [one.to_json() for one in self.resumed],
            "drill_due": self.drill_due,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Keeping:
    """How a memory is kept.

    Attributes
    ----------
    expected
        What its keeper expects of it.
    policy, limits
        What may act without being asked, and how much.
    load
        How many times its usual P95 retrieval takes now; None where nobody measures.
    detectors
        Who looks; None: all of the registry.
    """

    expected: Expected = field(default_factory=Expected)
    policy: Policy = field(default_factory=Policy)
    limits: Limits = field(default_factory=Limits)
    load: Callable[[], float] | None = None
    detectors: tuple[str | Detector, ...] | None = None


def _calm(load: Callable[[], float] | None) -> Callable[[], float] | None:
    """The measure of load, which counts as none where it fails: no leak stays in service for want of it."""
    if load is None:
        return None

    def now() -> float:
        try:
            return float(load())
        except Exception as error:  # noqa: BLE001  whatever a keeper's measure raises: it is told
            logger.warning("the measure of load has raised %s; no load is assumed", type(error).__name__)
            return 0.0

    return now


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
        self._operators = operators
        self._pricing = pricing
        self._checks = checks
        self._keeping = keeping or Keeping()
        self.governor = Governor(
            store, self._keeping.policy, self._keeping.limits, load=_calm(self._keeping.load)
        )
        self.desk = Desk(self.governor)
        self.ledger = Ledger(store)

    # looking ---------------------------------------------------------------------------------------

    def look(
        self,
        *,
        since: int | None = None,
        detectors: Sequence[str | Detector] | None = None,
        progress: Progress | None = None,
    ) -> CheckUp:
        """A check-up with the thresholds of the last one; writes nothing."""
        kept = self._store.notes(HEALTH).get("thresholds")
        thresholds = [Threshold.from_json(one) for one in kept] if isinstance(kept, list) else []
        wanted = self._keeping.detectors if detectors is None else detectors
        with span("checkup", since=since or 0):
            found = check_up(
                self._store,
                detectors=wanted,
                since=since,
                index=None if since is None else BlockIndex.of(self._store.path, key_of_store(self._store)),
                expected=self._expected,
                thresholds=thresholds,
                now=self._store.now(),
                progress=progress or silent,
            )
        if since is not None:
            return found
        findings = [*found.findings, *self._index()]
        if (other := drift.other_space(self._store)) is not None:
            # What the new model has written already is no finding of its own: the switch takes it up.
            written = other.measured["current_model"]
            findings = [
                one for one in findings if one.code not in drift.OTHER or one.measured["model"] != written
            ]
            findings.append(other)
        left_out = found.left_out
        if self._store.embedder is not None and self._store.space is None:
            left_out += ("vectors of the embedder: it has not told its dimension",)
        return replace(found, findings=tuple(findings), left_out=left_out)

    @property
    def _expected(self) -> Expected:
        """With the space of the last switch, where the keeper expects none."""
        expected, stands = self._keeping.expected, self._store.switch()
        if expected.space is not None or stands is None:
            return expected
        return replace(expected, space=stands.space)

    def _index(self) -> list[Finding]:
        """The full-text index, where it disagrees with the content."""
        return [
            Finding(
                code="index_damaged",
                damage=Damage.STRUCTURE,
                level=Level.STRUCTURE,
                keys=(),
                evidence="the full-text index disagrees with the content",
                detector="index",
            )
            for _ in self._store.check_index()
        ]

    def diagnose(self, checkup: CheckUp, *, since: int | None = None) -> Diagnosis:
        """What is to be done about the findings; causes are looked for in what is newer than `since`."""
        space = self._store.space
        embeds = space is not None and space == (self._expected.space or self._store.home() or space)
        rows = Rows.of(self._store.survey(newer_than=since or 0))
        return diagnose(rows, checkup.findings, embeds=embeds)

    def proposals(self, diagnosis: Diagnosis) -> list[Proposal]:
        """The remedies as they would act now, with those that only a person can find."""
        found = (propose(self._store, one, expected=self._expected) for one in diagnosis.wanted)
        return [one for one in found if one is not None]

    # acting ----------------------------------------------------------------------------------------

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
        diagnosis = self.diagnose(checkup, since=since)
        if dry_run:
            return Report(checkup=checkup, diagnosis=diagnosis, outcomes=tuple(self._dry(diagnosis)))
        kept: dict[str, Json] = {"newest": checkup.newest}
        if checkup.thresholds:
            kept["thresholds"] = [one.to_json() for one in checkup.thresholds]
        self._store.note(HEALTH, kept)
        before = {**self._figures(checkup), **(figures or {})}
        now, latest = diagnosis, checkup
        acted = False
        for _ in range(PASSES if repair else 0):
            outcomes = [self._weigh(one, progress) for one in self._wanted(now)]
            changed = any(one is not None and one.done for one in outcomes)
            acted = acted or changed
            if not changed:
                break
            latest = self.look(since=since, detectors=detectors, progress=progress)
            now = self.diagnose(latest, since=since)
        after = {**self._figures(latest if acted else checkup), **(measure() if measure else figures or {})}
        if since is None and "duplicates" in latest.detectors:
            BlockIndex.build(self._store, latest.thresholds).save(BlockIndex.beside(self._store.path))
        outcomes_all = self.ledger.open
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
        return Report(checkup=checkup, diagnosis=diagnosis, outcomes=outcomes_all, record=record)

    def _dry(self, diagnosis: Diagnosis) -> Iterable[Outcome]:
        for proposal in self.proposals(diagnosis):
            grade = grade_of(proposal, self._keeping.policy)
            yield Outcome(proposal=proposal, grade=grade, answer=Answer.WAIT, why="a dry run")

    def _wanted(self, diagnosis: Diagnosis) -> Iterable[Wanted]:
        """The remedies, without what has been tried often enough: that is for a person, by itself."""
        for wanted in diagnosis.wanted:
            stuck = self.governor.exhausted(wanted.remedy, wanted.keys)
            if not stuck or wanted.remedy is Remedy.PERSON:
                yield wanted
                continue
            free, held = _split(wanted, stuck)
            yield from (one for one in (free, held) if one is not None)

    def _weigh(self, wanted: Wanted, progress: Progress | None, *, apart: bool = False) -> Outcome | None:
        proposal = propose(self._store, wanted, expected=self._expected)
        if proposal is None:
            return None
        outcome = self._attempt(proposal, progress)
        if outcome.failed is not None and not apart and (parts := _single(wanted)):
            done = [one for one in (self._weigh(part, progress, apart=True) for part in parts) if one]
            if any(one.done for one in done):
                return replace(outcome, done=True)
        return outcome

    def _attempt(self, proposal: Proposal, progress: Progress | None, actor: str | None = None) -> Outcome:
        admission = self.governor.admit(proposal)
        outcome = Outcome(
            proposal=proposal, grade=admission.grade, answer=admission.answer, why=admission.why
        )
        if admission.answer is Answer.GO:
            with span("repair", remedy=str(proposal.remedy), artifacts=len(proposal.keys)):
                outcome = self._act(proposal, outcome, progress, actor)
            self.governor.tried(proposal, done=outcome.done, case=outcome.case, said=outcome.failed or "")
        self.ledger.record(outcome)
        return outcome

    def _act(
        self, proposal: Proposal, outcome: Outcome, progress: Progress | None, actor: str | None
    ) -> Outcome:
        try:
            if proposal.remedy is Remedy.REEMBED and not proposal.keys:
                return self._switch(proposal, outcome, progress, actor)
            carried = carry_out(
                self._store,
                proposal,
                operators=self._operators,
                pricing=self._pricing,
                checks=self._checks,
                actor=actor,
                progress=progress,
            )
        except RepairInProgress as error:
            return replace(outcome, answer=Answer.WAIT, why=error.message)
        except MemoRepairError as error:
            return replace(outcome, failed=f"{type(error).__name__}: {error.message}")
        except Exception as error:  # noqa: BLE001  of an embedder or a price; its words may quote content
            return replace(outcome, failed=type(error).__name__)
        return replace(outcome, done=True, case=carried.case, withdrawn=carried.withdrawn, left=carried.left)

    def _switch(
        self, proposal: Proposal, outcome: Outcome, progress: Progress | None, actor: str | None
    ) -> Outcome:
        """Bring all into the space of the embedder, and search there."""
        embedder = self._store.embedder
        if embedder is None:
            raise InvalidInput("this memory was opened without an embedder", witness="embedder")
        done = reembed(
            self._store, embedder, actor=actor or "memorepair", reason=proposal.why, progress=progress
        )
        return replace(outcome, done=True, case=done.case)

    def _figures(self, checkup: CheckUp) -> dict[str, float]:
        counts = checkup.counts()
        spare = sum(
            len(one.keys) - 1
            for one in checkup.findings
            if one.damage is Damage.DUPLICATES and one.code != "duplicate_group"
        )
        return {
            "duplicate share": spare / max(1, self._store.size()),
            **{f"findings: {damage}": float(counts.get(damage, 0)) for damage in Damage},
        }

    # what waited -----------------------------------------------------------------------------------

    def resume(self, *, dry_run: bool = False, progress: Progress | None = None) -> tuple[Outcome, ...]:
        """Carry out what has waited for its time, if nothing has changed since; or say what would be."""
        outcomes: list[Outcome] = []
        for item in self.governor.queue.due(self._store.now()):
            proposal = self._again(item)
            if proposal is None or proposal.digest != item.digest:
                if not dry_run:
                    self.desk.expired(item)
            elif dry_run:
                outcomes.append(
                    Outcome(proposal=proposal, grade=item.grade, answer=Answer.GO, why="a dry run")
                )
            elif item.actor is None or item.reason is None:
                outcomes.append(self._attempt(proposal, progress))
            else:
                outcomes.append(self._granted(item, proposal, item.actor, item.reason, progress))
        return tuple(outcomes)

    def _again(self, item: Item, params: Mapping[str, Json] | None = None) -> Proposal | None:
        wanted = Wanted(
            remedy=item.remedy,
            keys=item.keys,
            params=item.params if params is None else params,
            codes=item.codes,
            confidence=item.confidence,
            why=item.why,
            cause=item.cause,
        )
        return propose(self._store, wanted, expected=self._expected)

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
        require_names(actor, reason)
        item = self.desk.open(id)
        if item.remedy is Remedy.PERSON:
            raise InvalidInput(f"{item.id} has no remedy: change it by hand, then reject it", witness=item.id)
        if item.remedy is not Remedy.REVIEW and keep is not None:
            raise InvalidInput(f"{item.id} is no undecided conflict: there is nothing to keep", witness=keep)
        if item.remedy is Remedy.REVIEW and keep not in item.keys:
            raise InvalidInput(
                f"an undecided conflict needs the artifact to keep, one of {', '.join(map(str, item.keys))}",
                witness=item.id,
            )
        if move is not None and (item.remedy is not Remedy.SCOPE or move in {key.scope for key in item.keys}):
            raise InvalidInput("only a leak is moved, and to another scope", witness=item.id)
        if item.case is not None:
            self._require_untouched(item, actor, reason, dry_run)
        if item.remedy is Remedy.SCOPE and item.case is not None:
            return self._leak(item, actor, reason, dry_run, move)
        if keep is not None:
            return self._decide(item, keep, actor, reason, dry_run)
        proposal = self._again(item)
        if proposal is None or proposal.digest != item.digest:
            if not dry_run:
                self.desk.expired(item)
            raise StaleRead(f"what {item.id} looks at has changed since", witness=item.id)
        outcome = self._signed(item, proposal, actor, reason, dry_run)
        if move is not None and outcome.case is not None:
            return self._leak(self.desk.show(item.id), actor, reason, dry_run, move)
        return outcome

    def _require_untouched(self, item: Item, actor: str, reason: str, dry_run: bool) -> None:
        """Of what has acted already nothing may have changed since: else it is taken back, and expires."""
        if item.params.get(ACTED) == fingerprint(self._store, item.keys):
            return
        if not dry_run:
            with suppress(UndoRefused):  # later work stands on it: what is left is found again
                engine.undo(self._store, item.case or 0, actor=actor, reason=reason)
            self.desk.expired(item)
        raise StaleRead(f"what {item.id} looks at has changed since", witness=item.id)

    def _signed(self, item: Item, proposal: Proposal, actor: str, reason: str, dry_run: bool) -> Outcome:
        if dry_run:
            return Outcome(proposal=proposal, grade=item.grade, answer=Answer.GO, why="a dry run")
        return self._granted(item, proposal, actor, reason, None)

    def _granted(
        self, item: Item, proposal: Proposal, actor: str, reason: str, progress: Progress | None
    ) -> Outcome:
        """Let a proposal act that a person has approved: now, or when the limits have room for it."""
        self.governor.approve(proposal.digest)
        outcome = self._attempt(proposal, progress, actor)
        if outcome.done:
            self.desk.approved(item, actor=actor, reason=reason, case=outcome.case)
        elif outcome.answer is Answer.WAIT:
            self.desk.granted(item, actor=actor, reason=reason, held=outcome.why)
        elif outcome.failed is not None:
            self.desk.returned(item, outcome.failed)
        return outcome

    def _decide(self, item: Item, keep: Key, actor: str, reason: str, dry_run: bool) -> Outcome:
        """Take the flags back, then settle as the person says."""
        pairs = list(zip(item.keys[::2], item.keys[1::2], strict=True))
        chosen = [pair for pair in pairs if keep in pair]
        wanted = Wanted(
            remedy=Remedy.SETTLE,
            keys=tuple(key for pair in chosen for key in pair),
            params={"winners": [pair.index(keep) for pair in chosen]},
            codes=item.codes,
            why=reason,
        )
        if not dry_run and item.case is not None:
            engine.undo(self._store, item.case, actor=actor, reason=reason)
        proposal = propose(self._store, wanted, expected=self._expected)
        if proposal is None:
            self.desk.expired(item)
            raise StaleRead(f"what {item.id} looks at has changed since", witness=item.id)
        return self._signed(item, proposal, actor, reason, dry_run)

    def _leak(self, item: Item, actor: str, reason: str, dry_run: bool, move: Scope | None = None) -> Outcome:
        """It stays out where it was: what was derived from it is made anew without it, the case is closed."""
        proposal = Proposal(
            remedy=item.remedy,
            keys=item.keys,
            params=item.params,
            codes=item.codes,
            why=item.why,
            way_back=item.way_back,
            looked_at=item.keys,
            fingerprint=item.digest,
            impact=item.impact,
        )
        outcome = Outcome(proposal=proposal, grade=item.grade, answer=Answer.GO, case=item.case)
        if dry_run or item.case is None:
            return outcome
        if move is not None:
            self._require_undeclared(item, item.case)
            moved = relocated(self._store, item.keys, move, actor=actor, reason=reason)
            self._store.publish(item.case, [], brought=moved)
        report = engine.repair(
            self._store, item.case, operators=self._operators, pricing=self._pricing, checks=self._checks
        )
        if item.status is not Status.DONE:
            self.desk.approved(item, actor=actor, reason=reason, case=item.case)
        return replace(outcome, done=True, left=sum(one.withdrawn for one in report.members))

    def _require_undeclared(self, item: Item, case: int) -> None:
        """No event of its own has been declared since on what is to be moved: it would be served again."""
        for later in self._store.cases():
            named = set(later.roots).intersection(item.keys)
            if later.id > case and later.status is not CaseStatus.UNDONE and named:
                key = min(named)
                raise StaleRead(f"case {later.id} was declared on {key} since", witness=key)

    def reject(self, id: str, *, actor: str, reason: str, dry_run: bool = False) -> Item:
        """Refuse what waits, by a person; what was flagged or withdrawn until then is served as before.

        Raises
        ------
        UnknownId, InvalidInput
            As `approve`.
        UndoRefused
            Later work stands on what would be taken back; nothing was changed.
        """
        require_names(actor, reason)
        item = self.desk.open(id)
        if dry_run:
            return item
        if item.case is not None:
            engine.undo(self._store, item.case, actor=actor, reason=reason)
        return self.desk.rejected(item, actor=actor, reason=reason)

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
        notes = self._store.notes(HEALTH)
        last = notes.get("schedule")
        schedule = Schedule(
            last={name: at for name, at in last.items() if isinstance(at, int)}
            if isinstance(last, dict)
            else {}
        )
        due = schedule.due(now, occasions)
        resumed = self.resume(dry_run=dry_run, progress=progress) if repair else ()
        detectors = list(dict.fromkeys(name for check in due for name in check.detectors or ()))
        newest = notes.get("newest")
        whole = any(check.whole for check in due) or not isinstance(newest, int)
        raised = self._alarms(now) if any(check.name == "retrieval" for check in due) else []
        # Each alarm says what to look at next.
        hinted = {name for one in raised for name in str(one.measured["next"]).split(", ")}
        detectors += [name for name in known_detectors() if name in hinted and name not in detectors]
        whole = whole or bool(hinted)
        probe = "drift" in hinted or any(check.name == "drift" for check in due)
        drifted, unasked = self._drift(keep=not dry_run) if probe else ([], ())
        report = None
        if detectors or resumed or drifted or raised or unasked:
            since = None if whole or not isinstance(newest, int) else newest
            report = self.run(
                since=since,
                detectors=detectors or ["required"],
                repair=repair,
                dry_run=dry_run,
                beside=[*drifted, *raised],
                left_out=unasked,
                progress=progress,
            )
        if not dry_run:
            self._store.note(HEALTH, {"schedule": schedule.made(due, now)})
            self.governor.queue.forget(now - QUEUE_DAYS * 86_400 * 10**9)
            self.ledger.forget()
        return Patrol(
            checks=tuple(check.name for check in due),
            report=report,
            resumed=resumed,
            drill_due=any(check.name == "drill" for check in due),
        )

    def _alarms(self, now: int) -> list[Finding]:
        """Of the hour before or this one: older ones have been told."""
        return [
            one for one in alarms(recorded(self._store)) if int(str(one.measured["hour"])) >= now // HOUR - 1
        ]

    def check_drift(self, *, keep: bool = True) -> list[Finding]:
        """Whether the model is the one it was: by its anchors, and by rows embedded again.

        `keep`: write down the anchors of a model that is seen for the first time.
        """
        embedder = self._store.embedder
        return [] if embedder is None else drift.check_drift(self._store, embedder, keep=keep)

    def _drift(self, *, keep: bool) -> tuple[list[Finding], tuple[str, ...]]:
        """What the probe finds, and why it could not be made: no other check waits for an embedder."""
        try:
            return self.check_drift(keep=keep), ()
        except Exception as error:  # noqa: BLE001  of an embedder; its words may quote content
            return [], (f"drift: the embedder failed ({type(error).__name__})",)


def _by_damage(findings: Iterable[Finding]) -> dict[str, dict[str, int]]:
    found: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for one in findings:
        found[str(one.damage)][one.code] += 1
    return {damage: dict(sorted(codes.items())) for damage, codes in sorted(found.items())}


def _single(wanted: Wanted) -> list[Wanted]:
    """The remedy for each group, pair or artifact by itself; none where it is one already."""
    groups = _places(wanted)
    if len(groups) < 2:
        return []
    return [_part(wanted, [group]) for group in groups]


def _split(wanted: Wanted, stuck: frozenset[Key]) -> tuple[Wanted | None, Wanted | None]:
    """What may go on, and what a person has to look at."""
    groups = _places(wanted)
    held = [group for group in groups if any(wanted.keys[place] in stuck for place in group)]
    free = [group for group in groups if group not in held]
    return (_part(wanted, free) if free else None), (_part(wanted, held) if held else None)


def _places(wanted: Wanted) -> list[list[int]]:
    groups = wanted.params.get("groups")
    if wanted.remedy is Remedy.MERGE and isinstance(groups, list):
        lists = [group for group in groups if isinstance(group, list)]
        return [[place for place in group if isinstance(place, int)] for group in lists]
    size = 2 if wanted.remedy in (Remedy.SETTLE, Remedy.REVIEW) else 1
    return [list(range(start, start + size)) for start in range(0, len(wanted.keys), size)]


def _part(wanted: Wanted, groups: Sequence[Sequence[int]]) -> Wanted:
    places = [place for group in groups for place in group]
    params: dict[str, Json] = {}
    if wanted.remedy is Remedy.MERGE:
        joined: list[Json] = []
        start = 0
        for group in groups:
            joined.append(list[Json](range(start, start + len(group))))
            start += len(group)
        params["groups"] = joined
    weights = wanted.params.get("weights")
    if isinstance(weights, list):
        params["weights"] = [weights[place] for place in places]
    return replace(wanted, keys=tuple(wanted.keys[place] for place in places), params=params)
