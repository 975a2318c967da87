"""Governor: the gate that every undeclared repair passes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from memorepair.errors import StaleRead
from memorepair.governance.attempts import Attempts
from memorepair.governance.grades import Policy, grade_of
from memorepair.governance.limits import Limits, Meter
from memorepair.governance.loops import TRIES, Loops
from memorepair.governance.queue import Item, Queue, Status
from memorepair.memory.artifact import Key
from memorepair.memory.store import Store
from memorepair.repair.carrying import fingerprint
from memorepair.repair.ports import Admission, Answer, Grade, Proposal, Remedy

ACTED = "acted"
"""Param of an item that has acted already: a digest of what its artifacts have become by that."""

_AT_ONCE = frozenset({Remedy.REVIEW, Remedy.SCOPE})
"""Act before a person has decided: they flag, or take a leak out of service, until then."""


class Governor:
    """Decides what may act, and hears what came of it; everything it knows is kept in the store.

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
        self._attempts = Attempts(store)
        self._loops = Loops(self._attempts)
        self._meter = Meter(store, self._attempts, self.limits)
        self._load = load
        self._approved: set[str] = set()
        self._under_way: dict[str, str] = {}  # digest -> its attempt
        self._artifacts: int | None = None

    def exhausted(self, remedy: Remedy, keys: Sequence[Key]) -> frozenset[Key]:
        """Those that the remedy has been tried on three times: a person has to look."""
        return self._loops.exhausted(remedy, keys)

    def approve(self, digest: str) -> None:
        """Let this very proposal act, whatever its grade: a person has decided."""
        self._approved.add(digest)

    def _granted(self, proposal: Proposal) -> bool:
        return proposal.digest in self._approved

    def admit(self, proposal: Proposal) -> Admission:
        """Weigh a proposal; what may go is counted before it goes, what must wait is in the queue."""
        grade = grade_of(proposal, self.policy)
        known = self.queue.find(proposal.digest)
        if known is not None and known.status is Status.REJECTED:
            return Admission(answer=Answer.SKIP, grade=grade, why="a person has rejected it")
        if self._loops.done(proposal) or (known is not None and known.status is Status.DONE):
            return Admission(answer=Answer.SKIP, grade=grade, why="done, and nothing has changed since")
        approved = self._granted(proposal)
        if not approved and (stuck := self._stuck(proposal)):
            return self._wait(proposal, Grade.APPROVED, stuck, due=None)
        if held := self._meter.refusal(proposal, self._size()) or self._busy():
            # It may go by itself when there is room again, unless it is for a person.
            due = None if grade is Grade.APPROVED else self._store.now()
            return self._wait(proposal, grade, held, due=due)
        if not approved:
            waits = self._held(proposal, grade, known)
            if waits is not None:
                return waits
        try:
            self._under_way[proposal.digest] = self._attempts.begin(
                proposal, lambda: self._require_room(proposal, approved=approved)
            )
        except StaleRead as error:
            due = None if grade is Grade.APPROVED else self._store.now()
            return self._wait(proposal, grade, error.message, due=due)
        return Admission(answer=Answer.GO, grade=grade)

    def _require_room(self, proposal: Proposal, *, approved: bool) -> None:
        """Under the write lock: another process may have tried the same, or used up what was left."""
        held = "" if approved else self._stuck(proposal)
        if self._loops.done(proposal):
            held = "another process has done it"
        if held := held or self._meter.refusal(proposal, self._size()):
            raise StaleRead(held, witness=proposal.digest[:12])

    def _stuck(self, proposal: Proposal) -> str:
        tries = self._loops.tries(proposal.remedy, proposal.keys)
        often = sorted(key for key, n in tries.items() if n >= TRIES)
        return f"tried {tries[often[0]]} times on {often[0]}" if often else ""

    def _busy(self) -> str:
        slower = 0.0 if self._load is None else self._load()
        if slower > self.limits.slower:
            return f"retrieval takes {slower:.2g} times what it usually does"
        return ""

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

    def tried(self, proposal: Proposal, *, done: bool, case: int | None) -> None:
        """Keep what came of an attempt; what a person still has to decide about it waits with its case."""
        begun = self._under_way.pop(proposal.digest, None)
        if done and begun is not None:
            self._attempts.end(begun)
        known = self.queue.find(proposal.digest)
        if done and proposal.remedy in _AT_ONCE and not self._granted(proposal):
            item = Item.of(
                proposal, Grade.APPROVED, "a person decides", at=self._store.now(), due=None, case=case
            )
            # What is decided is what it has become by now: flagged, or out of service.
            params = {**item.params, ACTED: fingerprint(self._store, item.keys)}
            self.queue.put(replace(item, params=params))
        elif done and known is not None and known.status is Status.WAITING and not self._granted(proposal):
            self.queue.move(known, Status.DONE, case=case)

    def _wait(self, proposal: Proposal, grade: Grade, held: str, *, due: int | None) -> Admission:
        known = self.queue.find(proposal.digest)
        if known is not None and known.status is Status.EXPIRED:
            known = None  # what it looked at is again as it was
        if known is None or (known.status is Status.WAITING and (known.held, known.grade) != (held, grade)):
            at = self._store.now() if known is None else known.at
            if not self.queue.put(Item.of(proposal, grade, held, at=at, due=due)):
                return Admission(answer=Answer.SKIP, grade=grade, why=f"the queue is full; {held}")
        return Admission(answer=Answer.WAIT, grade=grade, why=held)

    def _size(self) -> int:
        if self._artifacts is None:
            self._artifacts = self._store.size()
        return self._artifacts
