"""Reviewing: what waits for its time or for a person is let act, or refused."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from memorepair.errors import InvalidInput, StaleRead, Tombstoned, UndoRefused
from memorepair.governance import Desk, Governor, Item, Status
from memorepair.governance.decisions import ANY, Decisions
from memorepair.governance.governor import ACTED
from memorepair.health.relocating import relocated
from memorepair.health.remedies import Wanted
from memorepair.housekeeping.acting import Acting
from memorepair.housekeeping.deciding import groups_of
from memorepair.housekeeping.looking import Looking
from memorepair.memory.artifact import CaseStatus, Key, Scope
from memorepair.memory.exchange import Progress
from memorepair.memory.sqlite import SqliteStore
from memorepair.memory.values import check_type, require_names
from memorepair.repair import engine
from memorepair.repair.carrying import fingerprint
from memorepair.repair.ports import Answer, Outcome, Proposal, Remedy


class Reviewing:
    """What a person says of what waits, carried out; and what waited for its time."""

    def __init__(
        self, store: SqliteStore, looking: Looking, acting: Acting, governor: Governor, desk: Desk
    ) -> None:
        self._store = store
        self._looking = looking
        self._acting = acting
        self._governor = governor
        self._desk = desk

    def resume(self, *, dry_run: bool = False, progress: Progress | None = None) -> tuple[Outcome, ...]:
        """Carry out what has waited for its time, if nothing has changed since; or say what would be."""
        outcomes: list[Outcome] = []
        for item in self._governor.queue.due(self._store.now()):
            proposal = self._looking.again(item)
            if proposal is None:
                if not dry_run:
                    self._desk.expired(item)
            elif dry_run:
                outcomes.append(
                    Outcome(proposal=proposal, grade=item.grade, answer=Answer.GO, why="a dry run")
                )
            elif item.actor is None or item.reason is None:
                outcomes.append(self._acting.attempt(proposal, progress))
            else:
                outcomes.append(self._granted(item, proposal, item.actor, item.reason, progress))
        return tuple(outcomes)

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
        """As `Housekeeper.approve`."""
        require_names(actor, reason)
        self._store.require_writable()
        item = self._desk.open(id)
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
        if move is not None:
            self._require_movable(item, move, actor, reason)
        if item.remedy is Remedy.SCOPE and item.case is not None:
            return self._leak(item, actor, reason, dry_run, move)
        if keep is not None:
            return self._decide(item, keep, actor, reason, dry_run)
        proposal = self._looking.again(item)
        if proposal is None:
            raise self._expired(item, dry_run)
        outcome = self._signed(item, proposal, actor, reason, dry_run)
        if move is not None and outcome.case is not None:
            return self._leak(self._desk.show(item.id), actor, reason, dry_run, move)
        return outcome

    def _require_untouched(self, item: Item, actor: str, reason: str, dry_run: bool) -> None:
        """Of what has acted already nothing may have changed since: else it is taken back, and expires."""
        if item.params.get(ACTED) == fingerprint(self._store, item.keys):
            return
        if not dry_run:
            with suppress(UndoRefused):  # later work stands on it: what is left is found again
                engine.undo(self._store, item.case or 0, actor=actor, reason=reason)
        raise self._expired(item, dry_run)

    def _expired(self, item: Item, dry_run: bool) -> StaleRead:
        """What it looks at is not what was shown: it expires, unless it was only asked what would be."""
        if not dry_run:
            self._desk.expired(item)
        return StaleRead(f"what {item.id} looks at has changed since", witness=item.id)

    def _signed(self, item: Item, proposal: Proposal, actor: str, reason: str, dry_run: bool) -> Outcome:
        if dry_run:
            return Outcome(proposal=proposal, grade=item.grade, answer=Answer.GO, why="a dry run")
        return self._granted(item, proposal, actor, reason, None)

    def _granted(
        self, item: Item, proposal: Proposal, actor: str, reason: str, progress: Progress | None
    ) -> Outcome:
        """Let a proposal act that a person has approved: now, or when the limits have room for it."""
        self._governor.approve(proposal.digest)
        outcome = self._acting.attempt(proposal, progress, actor)
        if outcome.done:
            self._desk.approved(item, actor=actor, reason=reason, case=outcome.case)
        elif outcome.answer is Answer.WAIT:
            self._desk.granted(item, actor=actor, reason=reason, held=outcome.why)
        elif outcome.failed is not None:
            self._desk.returned(item, outcome.failed)
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
        if item.case is not None:
            engine.undo(self._store, item.case, actor=actor, reason=reason, dry_run=dry_run)
        proposal = self._looking.propose(wanted)
        if proposal is None:
            raise self._expired(item, dry_run)
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
            moved = relocated(self._store, item.keys, move, actor=actor, reason=reason)
            self._store.publish(item.case, [], brought=moved)
        report = self._acting.repair(item.case)
        if item.status is not Status.DONE:
            self._desk.approved(item, actor=actor, reason=reason, case=item.case)
        return replace(outcome, done=True, left=sum(one.withdrawn for one in report.members))

    def _require_movable(self, item: Item, move: Scope, actor: str, reason: str) -> None:
        """Refuse a move before anything acts: a leak that is not out of service yet stays as it is."""
        if item.case is not None:
            self._require_undeclared(item, item.case)
        moved = relocated(self._store, item.keys, move, actor=actor, reason=reason, dry_run=True)
        if item.case is not None:
            self._store.publish(item.case, [], brought=moved, dry_run=True)
        for draft in moved:
            if self._store.tombstoned(draft.key, draft.content):
                raise Tombstoned(f"what {draft.key} says was removed there", witness=draft.key)

    def _require_undeclared(self, item: Item, case: int) -> None:
        """No event of its own has been declared since on what is to be moved: it would be served again."""
        for later in self._store.cases():
            named = set(later.roots).intersection(item.keys)
            if later.id > case and later.status is not CaseStatus.UNDONE and named:
                key = min(named)
                raise StaleRead(f"case {later.id} was declared on {key} since", witness=key)

    def reject(self, id: str, *, actor: str, reason: str, dry_run: bool = False) -> Item:
        """As `Housekeeper.reject`."""
        require_names(actor, reason)
        self._store.require_writable()
        item = self._desk.open(id)
        as_shown = self._is_as_shown(item)
        if item.case is not None:
            engine.undo(self._store, item.case, actor=actor, reason=reason, dry_run=dry_run)
        if dry_run:
            return item
        if as_shown:
            Decisions(self._store).keep(groups_of(item), actor=actor, reason=reason)
        return self._desk.rejected(item, actor=actor, reason=reason)

    def _is_as_shown(self, item: Item) -> bool:
        """What has changed since, nobody has seen: it is refused this once, and no decision is kept."""
        if item.case is not None:
            return item.params.get(ACTED) == fingerprint(self._store, item.keys)
        return self._looking.again(item) is not None

    def keep(self, keys: Sequence[Key], *, actor: str, reason: str, dry_run: bool = False) -> tuple[Key, ...]:
        """As `Housekeeper.keep`."""
        require_names(actor, reason)
        self._store.require_writable()
        if not keys or len(set(keys)) < len(keys):
            raise InvalidInput("artifacts to keep are named, each once", witness=tuple(keys))
        for key in keys:
            check_type(key, Key, "what is kept is named by its Key")
            self._store.describe(key)
        for item in self._desk.waiting():
            if set(keys) <= set(item.keys):
                raise InvalidInput(f"{item.id} waits for a decision on them: reject it", witness=item.id)
        if not dry_run:
            Decisions(self._store).keep([(ANY, keys)], actor=actor, reason=reason)
        return tuple(keys)
