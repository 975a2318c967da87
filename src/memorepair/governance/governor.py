"""Governor: the gate that every undeclared repair passes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memorepair.governance.grades import Policy, grade_of
from memorepair.governance.limits import Limits, Meter
from memorepair.governance.loops import Loops
from memorepair.governance.queue import Item, Queue, Status
from memorepair.memory.artifact import Key
from memorepair.memory.store import Store
from memorepair.repair.ports import Admission, Answer, Grade, Proposal, Remedy

_AT_ONCE = frozenset({Remedy.REVIEW, Remedy.SCOPE})
"""Act before a person has decided: they flag, or take a leak out of service, until then."""


class Governor:
    """Implements `Gate` with everything it knows kept in the store.

    Parameters
    ----------
    load
        How many times its usual P95 retrieval takes now; None where nobody measures.
    """

    def __init__(
        self,
        store: Store,
        policy: Policy | None = None,
        limits: Limits | None = None,
        *,
        load: Callable[[], float] | None = None,
    ) -> None:
        self._store = store
        self.policy = policy or Policy()
        self.limits = limits or Limits()
        self.queue = Queue(store)
        self._loops = Loops(store)
        self._meter = Meter(store, self.limits, load)
        self._approved: set[str] = set()
        self._artifacts: int | None = None

    def exhausted(self, remedy: Remedy, keys: Sequence[Key]) -> frozenset[Key]:
        """Those that the remedy has been tried on three times: a person has to look."""
        return self._loops.exhausted(remedy, keys)

    def approve(self, digest: str) -> None:
        """Let this very proposal act, whatever its grade: a person has decided."""
        self._approved.add(digest)

    def admit(self, proposal: Proposal) -> Admission:
        """Weigh a proposal; what may go is counted before it goes, what must wait is in the queue."""
        grade = grade_of(proposal, self.policy)
        known = self.queue.find(proposal.digest)
        if known is not None and known.status is Status.REJECTED:
            return Admission(answer=Answer.SKIP, grade=grade, why="a person has rejected it")
        if self._loops.done(proposal):
            return Admission(answer=Answer.SKIP, grade=grade, why="done, and nothing has changed since")
        approved = proposal.digest in self._approved
        if not approved and (stuck := self.exhausted(proposal.remedy, proposal.keys)):
            held = f"tried {self._loops.tries(proposal.remedy, min(stuck))} times on {min(stuck)}"
            return self._wait(proposal, Grade.APPROVED, held, due=None)
        if held := self._meter.refusal(proposal, self._size()):
            # It may go by itself when there is room again, unless it is for a person.
            due = None if grade is Grade.APPROVED else self._store.now()
            return self._wait(proposal, grade, held, due=due)
        if not approved:
            waits = self._held(proposal, grade, known)
            if waits is not None:
                return waits
        self._loops.begin(proposal)
        self._meter.begin(proposal)
        return Admission(answer=Answer.GO, grade=grade)

    def _held(self, proposal: Proposal, grade: Grade, known: Item | None) -> Admission | None:
        now = self._store.now()
        if len(proposal.keys) > self.limits.items or proposal.impact > self.limits.items:
            held = f"it touches {proposal.impact} artifacts, more than {self.limits.items}"
            return self._wait(proposal, Grade.APPROVED, held, due=None)
        if grade is Grade.APPROVED:
            leak = proposal.remedy is not Remedy.SCOPE or proposal.confidence >= self.policy.withdraw_leaks
            if proposal.remedy in _AT_ONCE and leak and proposal.event is not None:
                return None
            return self._wait(proposal, grade, "a person decides", due=None)
        if grade is Grade.CONFIRMED and proposal.remedy not in self.policy.confirmed:
            due = now + int(self.policy.window_s * 1e9) if known is None or known.due is None else known.due
            if due > now:
                return self._wait(proposal, grade, "its window for a rejection is open", due=due)
        return None

    def tried(self, proposal: Proposal, *, done: bool, case: int | None, said: str = "") -> None:
        """Keep what came of an attempt; what a person still has to decide about it waits with its case."""
        self._loops.end(proposal, done=done)
        known = self.queue.find(proposal.digest)
        if done and proposal.remedy in _AT_ONCE:
            item = Item.of(
                proposal, Grade.APPROVED, "a person decides", at=self._store.now(), due=None, case=case
            )
            self.queue.put(item)
        elif done and known is not None:
            self.queue.move(known, Status.DONE, case=case)

    def _wait(self, proposal: Proposal, grade: Grade, held: str, *, due: int | None) -> Admission:
        known = self.queue.find(proposal.digest)
        if known is None or (known.status is Status.WAITING and (known.held, known.grade) != (held, grade)):
            at = self._store.now() if known is None else known.at
            if not self.queue.put(Item.of(proposal, grade, held, at=at, due=due)):
                return Admission(answer=Answer.SKIP, grade=grade, why=f"the queue is full; {held}")
        return Admission(answer=Answer.WAIT, grade=grade, why=held)

    def _size(self) -> int:
        if self._artifacts is None:
            self._artifacts = self._store.size()
        return self._artifacts
