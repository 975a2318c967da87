"""Acting: remedies pass the gate, and what it lets through is carried out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from memorepair.errors import InvalidInput, MemoRepairError, RepairInProgress
from memorepair.governance import Governor
from memorepair.health.diagnose import Diagnosis
from memorepair.health.reembedding import reembed
from memorepair.health.remedies import Wanted
from memorepair.housekeeping.dividing import set_apart, singly
from memorepair.housekeeping.looking import Looking
from memorepair.ledger import Ledger
from memorepair.ledger.spans import span
from memorepair.memory.exchange import Progress
from memorepair.memory.sqlite import SqliteStore
from memorepair.repair import engine
from memorepair.repair.assignment import OperatorTable
from memorepair.repair.carrying import carry_out
from memorepair.repair.ports import Answer, Outcome, Proposal, Remedy
from memorepair.repair.pricing import Pricing
from memorepair.repair.report import RepairReport
from memorepair.repair.validation import Checks


class Acting:
    """Carries out what the gate lets through; the ledger keeps all that was weighed."""

    def __init__(
        self,
        store: SqliteStore,
        looking: Looking,
        governor: Governor,
        ledger: Ledger,
        *,
        operators: OperatorTable,
        pricing: Pricing | None,
        checks: Checks | None,
    ) -> None:
        self._store = store
        self._looking = looking
        self._governor = governor
        self._ledger = ledger
        self._operators = operators
        self._pricing = pricing
        self._checks = checks

    def weigh(self, diagnosis: Diagnosis, progress: Progress | None = None) -> bool:
        """Let each remedy act that may; whether anything was changed."""
        outcomes = [self.act_on(one, progress) for one in self._wanted(diagnosis)]
        return any(one is not None and one.done for one in outcomes)

    def _wanted(self, diagnosis: Diagnosis) -> Iterable[Wanted]:
        """The remedies, without what has been tried often enough: that is for a person, by itself."""
        for wanted in diagnosis.wanted:
            stuck = self._governor.exhausted(wanted.remedy, wanted.keys)
            if not stuck or wanted.remedy is Remedy.PERSON:
                yield wanted
                continue
            free, held = set_apart(wanted, stuck)
            yield from (one for one in (free, held) if one is not None)

    def act_on(
        self, wanted: Wanted, progress: Progress | None = None, *, apart: bool = False
    ) -> Outcome | None:
        """Let a remedy act if it may, None where nothing is left to do.

        One that fails for several is tried for each of them, unless it is `apart` already.
        """
        proposal = self._looking.propose(wanted)
        if proposal is None:
            return None
        outcome = self.attempt(proposal, progress)
        if outcome.failed is not None and not apart and (parts := singly(wanted)):
            done = [one for one in (self.act_on(part, progress, apart=True) for part in parts) if one]
            if any(one.done for one in done):
                return replace(outcome, done=True)
        return outcome

    def attempt(
        self, proposal: Proposal, progress: Progress | None = None, actor: str | None = None
    ) -> Outcome:
        """Let a proposal act if the gate lets it, and keep what came of it; `actor` is who approved it."""
        admission = self._governor.admit(proposal)
        outcome = Outcome(
            proposal=proposal, grade=admission.grade, answer=admission.answer, why=admission.why
        )
        if admission.answer is Answer.GO:
            with span("repair", remedy=str(proposal.remedy), artifacts=len(proposal.keys)):
                outcome = self._act(proposal, outcome, progress, actor)
            self._governor.tried(proposal, done=outcome.done, case=outcome.case)
        self._ledger.record(outcome)
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

    def repair(self, case: int) -> RepairReport:
        """Make anew what a case has withdrawn, and close it."""
        return engine.repair(
            self._store, case, operators=self._operators, pricing=self._pricing, checks=self._checks
        )
