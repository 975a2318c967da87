"""Report: the audit of a store, by keys; what it proposes is written nowhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from memorepair.errors import InvalidInput, UnknownId
from memorepair.memory.artifact import Json, Key
from memorepair.memory.exchange import SuspectedArc
from memorepair.memory.store import Store
from memorepair.memory.values import is_number
from memorepair.repair.audit.features import Progress
from memorepair.repair.audit.proposals import Audit, Rule, audit
from memorepair.repair.audit.reading import Reading, read_store
from memorepair.repair.jsontext import canonical

THRESHOLD = 0.3
"""From this probability on a proposal is acted on unless told otherwise."""

_ID = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A missing influence arc that the audit proposes.

    Attributes
    ----------
    id
        The same for the same two versions, in every audit.
    probability
        None where too little was known to state one; 0 or 1 where a replay has settled it.
    rule, shared
        On what it rests: ``content`` with the rarest tokens that both say and no recorded parent explains,
        ``regularity`` of kinds and places, or ``replay``. Both artifacts are served.
    lone
        The child is derived and stands on nothing recorded.
    """

    id: str
    parent: Key
    parent_version: int
    child: Key
    child_version: int
    probability: float | None
    rule: str
    shared: tuple[str, ...]
    lone: bool

    def __post_init__(self) -> None:
        if self.probability is not None and not (is_number(self.probability, 0) and self.probability <= 1):
            raise InvalidInput("a probability is a number from 0 to 1", witness=self.probability)
        if self.parent == self.child:
            raise InvalidInput("nothing is proposed to stand on itself", witness=self.child)

    def followed(self, threshold: float) -> bool:
        """Whether a cascade that follows suspicions from a threshold on follows it."""
        if self.probability is not None and self.probability >= threshold:
            return True
        return self.lone and self.probability != 0

    def arc(self) -> SuspectedArc:
        """As a store keeps it: without the tokens, which are content."""
        shared = f", {len(self.shared)} shared tokens" if self.shared else ""
        return SuspectedArc(
            parent=self.parent,
            parent_version=self.parent_version,
            child=self.child,
            child_version=self.child_version,
            probability=self.probability,
            firm=self.lone,
            why=f"{self.rule}{shared}",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditReport:
    """What an audit of a store found; nothing of it is written.

    Attributes
    ----------
    artifacts, arcs
        Served artifacts, and recorded arcs among them.
    calibrated
        Whether enough hidden arcs were found again to state probabilities.
    hidden, found
        Recorded arcs hidden in calibration, and how many of them were proposed again.
    missing
        Estimated share of the arcs that are missing, of those the audit can see; None where not calibrated.
    proposals
        Most probable first; without what has been accepted or rejected.
    lone
        Derived artifacts without any recorded parent: findings whatever their proposals say.
    silent
        Sorts of derived artifacts none of which has a recorded parent.
    accepted
        Suspected arcs accepted before.
    """

    artifacts: int
    arcs: int
    calibrated: bool
    hidden: int
    found: int
    missing: float | None
    proposals: tuple[Proposal, ...]
    lone: tuple[Key, ...]
    silent: tuple[str, ...]
    accepted: tuple[SuspectedArc, ...]

    def above(self, threshold: float) -> tuple[Proposal, ...]:
        """The proposals that a cascade from this threshold on follows."""
        return tuple(one for one in self.proposals if one.followed(threshold))

    def pick(self, ids: Iterable[str]) -> tuple[Proposal, ...]:
        """Proposals by id.

        Raises
        ------
        UnknownId
            There is no such proposal.
        """
        by_id = {one.id: one for one in self.proposals}
        picked = []
        for id in ids:
            if id not in by_id:
                raise UnknownId(f"there is no proposal {id}", witness=id)
            picked.append(by_id[id])
        return tuple(picked)


def audit_store(
    store: Store,
    *,
    regularity: bool = True,
    declared: Mapping[str, Sequence[str]] | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> AuditReport:
    """Propose the influence arcs that a store lacks; reads served artifacts alone, and writes nothing.

    Parameters
    ----------
    regularity
        Whether the place in a scope is evidence beside content.
    declared
        Operator -> kinds it reads (``record``, ``cache``, ``summary``, ``skill``): stands in where nothing of
        the operator was recorded.
    seed
        Of what calibration hides.

    Raises
    ------
    InvalidInput
        What is declared is no mapping of operators to kinds.
    """
    reading = read_store(store)
    found = audit(
        reading.items,
        reading.arcs,
        declared=reading.labels(declared or {}),
        regularity=regularity,
        seed=seed,
        progress=progress,
    )
    accepted, rejected = store.suspects(), store.suspects(accepted=False)
    judged = {_ends(arc) for arc in (*accepted, *rejected)}
    # An audit takes its time: what has left service meanwhile is told no more than what had left before.
    proposals = _still_served(store, _proposals(reading, found))
    return AuditReport(
        artifacts=len(reading.items),
        arcs=found.arcs,
        calibrated=found.calibrated,
        hidden=found.hidden,
        found=found.found,
        missing=found.missing,
        proposals=tuple(one for one in proposals if _ends(one) not in judged),
        lone=tuple(reading.keys[place] for place in found.lone),
        silent=found.silent,
        accepted=tuple(accepted),
    )


def _still_served(store: Store, proposals: list[Proposal]) -> list[Proposal]:
    ends = sorted({key for one in proposals for key in (one.parent, one.child)})
    now = {key: artifact.version for key, artifact in store.served(ends).items()}
    return [
        one
        for one in proposals
        if (now.get(one.parent), now.get(one.child)) == (one.parent_version, one.child_version)
    ]


def _ends(arc: Proposal | SuspectedArc) -> tuple[Key, int, Key, int]:
    return arc.parent, arc.parent_version, arc.child, arc.child_version


def _proposals(reading: Reading, found: Audit) -> list[Proposal]:
    lone = set(found.lone)
    proposals = []
    for one in found.proposals:
        parent, child = reading.keys[one.parent], reading.keys[one.child]
        versions = reading.versions[one.parent], reading.versions[one.child]
        ends: list[Json] = [str(parent), versions[0], str(child), versions[1]]
        proposals.append(
            Proposal(
                id=sha256(canonical(ends).encode()).hexdigest()[:_ID],
                parent=parent,
                parent_version=versions[0],
                child=child,
                child_version=versions[1],
                probability=one.probability,
                rule=Rule(one.rule).value,
                shared=one.shared,
                lone=one.child in lone,
            )
        )
    return proposals
