"""Publication: what was validated goes back into service, in one transaction, or nothing does."""

from __future__ import annotations

from memorepair.errors import StaleRead
from memorepair.memory.artifact import Key
from memorepair.memory.exchange import Release, Successor
from memorepair.memory.store import Store
from memorepair.repair.cascade import read_cascade
from memorepair.repair.outcomes import Execution, Failed, Released, Staged, Unchanged
from memorepair.repair.plan import RepairPlan, plan_digest
from memorepair.repair.validation import first_refusal


def publish(store: Store, plan: RepairPlan, execution: Execution) -> None:
    """Serve the successors and the released versions of an execution; refused successors stay in quarantine.

    Raises
    ------
    StaleRead
        The plan is not the same any more, or something read is not: another event or an ordinary update came
        between. Nothing was changed; plan again.
    """
    successors: list[Successor] = []
    releases: list[Release] = []
    refused: list[tuple[Key, int]] = []
    reasons: list[str] = []
    for key, outcome in execution.outcomes.items():
        if isinstance(outcome, Staged):
            words = tuple((verdict.check, verdict.word.value) for verdict in outcome.verdicts)
            successors.append(
                Successor(key=key, version=outcome.version, reads=outcome.reads, verdicts=words)
            )
        elif isinstance(outcome, Unchanged):
            words = tuple((verdict.check, verdict.word.value) for verdict in outcome.verdicts)
            releases.append(Release(key=key, reads=outcome.reads, verdicts=words))
        elif isinstance(outcome, Released):
            releases.append(Release(key=key, reads=outcome.reads))
        elif isinstance(outcome, Failed) and outcome.rejected is not None:
            refused.append((key, outcome.rejected))
            # By name only: the journal is sealed for good, and words of a check may quote what it rejected.
            refusal = first_refusal(outcome.verdicts)
            reasons.append(f"{key}: {refusal.check if refusal else 'refused'}")

    def same_plan() -> None:
        now = read_cascade(store, plan.case)
        chosen = [place for wave in plan.waves for place in wave]
        still_open = tuple(member.key for member in now.open)
        if still_open != plan.candidates.keys or plan_digest(now, plan.candidates, chosen) != plan.digest:
            raise StaleRead(f"case {plan.case} has changed since it was planned", witness=plan.case)

    if successors or releases:
        store.publish(plan.case, successors, releases, expect=same_plan)
    if refused:
        store.reject(plan.case, refused, reasons)
