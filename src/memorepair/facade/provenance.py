"""Verbs about arcs that nobody recorded."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Mapping, Sequence

from memorepair.errors import InvalidInput
from memorepair.facade.base import Opened, check_callable
from memorepair.memory.exchange import SuspectedArc
from memorepair.memory.values import check_flags, check_type, is_number, is_whole
from memorepair.repair.audit.probe import Probed, probe
from memorepair.repair.audit.report import AuditReport, Proposal, audit_store


class Provenance(Opened):
    """Verbs about arcs that nobody recorded."""

    def audit_provenance(
        self,
        *,
        regularity: bool = True,
        declared: Mapping[str, Sequence[str]] | None = None,
        seed: int = 0,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> AuditReport:
        """Propose the influence arcs that nobody recorded, each with a probability; writes nothing.

        Only what is served is read. `accept` or `reject` what is proposed; events follow accepted suspicions
        where their `suspected` says so.

        Parameters
        ----------
        regularity
            Whether the place in a scope is evidence beside content.
        declared
            Operator -> kinds it reads: stands in where nothing of the operator was recorded.
        seed
            Of what calibration hides.
        progress
            Called with what is done, how many are done, how many there are.
        """
        check_flags(regularity=regularity)
        if progress is not None:
            check_callable(progress, "progress")
        if not is_whole(seed, 0):
            raise InvalidInput("a seed is a whole number, not negative", witness=seed)
        check_type(declared, Mapping | None, "what is declared is a mapping of operators to kinds")
        return audit_store(
            self._store, regularity=regularity, declared=declared, seed=seed, progress=progress
        )

    def probe(self, proposals: Iterable[Proposal], *, budget: float) -> Probed:
        """Replay the children of proposals whose operators are deterministic, until the budget is spent.

        A replay settles a proposal: its probability is then 0 or 1. Nothing is written. The budget is in the
        unit that the operators tell their costs in; a replay that tells none costs 1.
        """
        if not is_number(budget, 0):
            raise InvalidInput("a budget is a number, finite and not negative", witness=budget)
        return probe(self._store, _proposals(proposals), self._operators, budget=budget)

    def accept(
        self, proposals: Iterable[Proposal], *, actor: str, reason: str, dry_run: bool = False
    ) -> builtins.list[SuspectedArc]:
        """Keep proposals as suspected arcs, by a person; they never become recorded ones.

        Raises
        ------
        StaleRead
            A version proposed is not served any more; nothing was changed.
        """
        return self._judge(proposals, True, actor, reason, dry_run)

    def reject(
        self, proposals: Iterable[Proposal], *, actor: str, reason: str, dry_run: bool = False
    ) -> builtins.list[SuspectedArc]:
        """Never propose or follow these again, by a person; errors as `accept`."""
        return self._judge(proposals, False, actor, reason, dry_run)

    def _judge(
        self, proposals: Iterable[Proposal], accepted: bool, actor: str, reason: str, dry_run: bool
    ) -> builtins.list[SuspectedArc]:
        check_flags(dry_run=dry_run)
        arcs = [one.arc() for one in _proposals(proposals)]
        self._store.judge_suspects(arcs, accepted=accepted, actor=actor, reason=reason, dry_run=dry_run)
        return arcs


def _proposals(proposals: Iterable[Proposal]) -> tuple[Proposal, ...]:
    check_type(proposals, Iterable, "proposals are an iterable of Proposal")
    given = tuple(proposals)
    for one in given:
        check_type(one, Proposal, "a proposal is a Proposal")
    return given
