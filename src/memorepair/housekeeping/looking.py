"""Looking: a check-up, what it comes to and what could be done about it, without acting on any of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memorepair.governance import Item
from memorepair.health import drift
from memorepair.health.blockindex import BlockIndex, key_of_store
from memorepair.health.checkup import CheckUp, check_up
from memorepair.health.detector import Detector, Expected, silent
from memorepair.health.diagnose import Diagnosis, diagnose
from memorepair.health.finding import Damage, Finding, Level
from memorepair.health.recording import recorded
from memorepair.health.remedies import Wanted, propose
from memorepair.health.retrieval import HOUR, alarms
from memorepair.health.rows import Rows
from memorepair.health.thresholds import Threshold
from memorepair.housekeeping.deciding import undecided
from memorepair.housekeeping.keeping import Keeping
from memorepair.ledger.spans import span
from memorepair.memory.exchange import Progress
from memorepair.memory.sqlite import SqliteStore
from memorepair.repair.ports import Proposal

HEALTH = "health"
"""The book of thresholds and of the schedule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Looking:
    """One store as its keeper sees it."""

    store: SqliteStore
    keeping: Keeping

    def look(
        self,
        *,
        since: int | None = None,
        detectors: Sequence[str | Detector] | None = None,
        progress: Progress | None = None,
    ) -> CheckUp:
        """A check-up with the thresholds of the last one; writes nothing."""
        kept = self.store.notes(HEALTH).get("thresholds")
        thresholds = [Threshold.from_json(one) for one in kept] if isinstance(kept, list) else []
        wanted = self.keeping.detectors if detectors is None else detectors
        with span("checkup", since=since or 0):
            found = check_up(
                self.store,
                detectors=wanted,
                since=since,
                index=None if since is None else BlockIndex.of(self.store.path, key_of_store(self.store)),
                expected=self.expected,
                thresholds=thresholds,
                now=self.store.now(),
                progress=progress or silent,
            )
        found = undecided(self.store, found)
        if since is not None:
            return found
        findings = [*found.findings, *self._index()]
        if (other := drift.other_space(self.store)) is not None:
            # What the new model has written already is no finding of its own: the switch takes it up.
            written = other.measured["current_model"]
            findings = [
                one for one in findings if one.code not in drift.OTHER or one.measured["model"] != written
            ]
            findings.append(other)
        left_out = found.left_out
        if self.store.embedder is not None and self.store.space is None:
            left_out += ("vectors of the embedder: it has not told its dimension",)
        return replace(found, findings=tuple(findings), left_out=left_out)

    @property
    def expected(self) -> Expected:
        """With the space of the last switch, where the keeper expects none."""
        expected, stands = self.keeping.expected, self.store.switch()
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
            for _ in self.store.check_index()
        ]

    def diagnose(self, checkup: CheckUp, *, since: int | None = None) -> Diagnosis:
        """What is to be done about the findings; causes are looked for in what is newer than `since`."""
        space = self.store.space
        embeds = space is not None and space == (self.expected.space or self.store.home() or space)
        rows = Rows.of(self.store.survey(newer_than=since or 0))
        return diagnose(rows, checkup.findings, embeds=embeds)

    def proposals(self, diagnosis: Diagnosis) -> list[Proposal]:
        """The remedies as they would act now, with those that only a person can find."""
        found = (self.propose(one) for one in diagnosis.wanted)
        return [one for one in found if one is not None]

    def propose(self, wanted: Wanted) -> Proposal | None:
        """A remedy as it would act now; None where nothing is left to do."""
        return propose(self.store, wanted, expected=self.expected)

    def figures(self, checkup: CheckUp) -> dict[str, float]:
        """Key figures of a check-up."""
        counts = checkup.counts()
        spare = sum(
            len(one.keys) - 1
            for one in checkup.findings
            if one.damage is Damage.DUPLICATES and one.code != "duplicate_group"
        )
        return {
            "duplicate share": spare / max(1, self.store.size()),
            **{f"findings: {damage}": float(counts.get(damage, 0)) for damage in Damage},
        }

    def again(self, item: Item) -> Proposal | None:
        """What waits, as it would act now; None where what it looks at has changed since."""
        proposal = self.propose(
            Wanted(
                remedy=item.remedy,
                keys=item.keys,
                params=item.params,
                codes=item.codes,
                confidence=item.confidence,
                why=item.why,
                cause=item.cause,
            )
        )
        return None if proposal is None or proposal.digest != item.digest else proposal

    def recent_alarms(self, now: int) -> list[Finding]:
        """Of the hour before or this one: older ones have been told."""
        return [
            one for one in alarms(recorded(self.store)) if int(str(one.measured["hour"])) >= now // HOUR - 1
        ]

    def check_drift(self, *, keep: bool = True) -> list[Finding]:
        """Whether the model is the one it was: by its anchors, and by rows embedded again.

        `keep`: write down the anchors of a model that is seen for the first time.
        """
        embedder = self.store.embedder
        return [] if embedder is None else drift.check_drift(self.store, embedder, keep=keep)

    def probe_drift(self, *, keep: bool) -> tuple[list[Finding], tuple[str, ...]]:
        """What the probe finds, and why it could not be made: no other check waits for an embedder."""
        try:
            return self.check_drift(keep=keep), ()
        except Exception as error:  # noqa: BLE001  of an embedder; its words may quote content
            return [], (f"drift: the embedder failed ({type(error).__name__})",)
