"""Carrying out: an admitted proposal acts, if what it looked at is still what it was."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass

from memorepair.errors import InvalidInput, StaleRead, UnknownId
from memorepair.memory.artifact import Json, Key
from memorepair.memory.exchange import Progress
from memorepair.memory.store import Store
from memorepair.repair import engine
from memorepair.repair.assignment import OperatorTable
from memorepair.repair.events import EventKind
from memorepair.repair.ports import Proposal, Remedy
from memorepair.repair.pricing import Pricing
from memorepair.repair.validation import Checks


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """What an execution did: the case it opened, how many it withdrew, how many of those are not back."""

    case: int | None
    withdrawn: int = 0
    left: int = 0


def fingerprint(store: Store, keys: Iterable[Key]) -> str:
    """Digest of what the keys are now (hex): versions, states, keyed digests of content."""
    now: list[list[Json]] = []
    for key in sorted(set(keys)):
        try:
            one = store.describe(key)
            now.append([str(key), one.version, int(one.state), one.digest])
        except UnknownId:
            now.append([str(key), None])
        except ValueError:  # a status that is none: that is what is to be mended
            now.append([str(key), "illegal"])
    return hashlib.sha256(json.dumps(now).encode()).hexdigest()


def carry_out(
    store: Store,
    proposal: Proposal,
    *,
    operators: OperatorTable,
    pricing: Pricing | None = None,
    checks: Checks | None = None,
    actor: str | None = None,
    progress: Progress | None = None,
) -> Carried:
    """Declare the proposal's event and repair what it withdraws, or mend what it names.

    What a leak withdraws is not repaired: a person decides first.

    Raises
    ------
    InvalidInput
        Nothing can be done here: there is no embedder, or it is not the model that vectors should be of.
    StaleRead
        Something that the proposal looked at has changed since; nothing was changed.
    RepairInProgress
        Another repair holds the store; the event stands, and its case is open.
    """

    def unchanged() -> None:
        if fingerprint(store, proposal.looked_at) != proposal.fingerprint:
            raise StaleRead("what was looked at has changed since", witness=proposal.digest[:12])

    signed = actor or "memorepair"
    if proposal.remedy is Remedy.REINDEX:
        store.reindex(actor=signed, reason=proposal.why)
        return Carried(case=None)
    if proposal.remedy is Remedy.STATUS:
        unchanged()
        store.mend(proposal.keys, actor=signed, reason=proposal.why)
        return Carried(case=None)
    if proposal.event is None:
        raise InvalidInput(f"it cannot act: {proposal.why}", witness=proposal.digest[:12])
    case = engine.withdraw(store, proposal.event, expect=unchanged)
    if case.event == EventKind.MAINTAIN or proposal.remedy is Remedy.SCOPE:
        return Carried(case=case.id, withdrawn=case.withdrawn, left=case.withdrawn)
    report = engine.repair(
        store, case.id, operators=operators, pricing=pricing, checks=checks, progress=progress
    )
    left = sum(member.withdrawn for member in report.members)
    return Carried(case=case.id, withdrawn=case.withdrawn, left=left)
