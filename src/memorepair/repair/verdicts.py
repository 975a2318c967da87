"""Verdicts: what the plan of a case says of each member, planned once while the store stays as it is."""

from __future__ import annotations

from collections.abc import Mapping

from memorepair.memory.artifact import Key
from memorepair.memory.store import Store
from memorepair.repair import engine
from memorepair.repair.assignment import OperatorTable
from memorepair.repair.plan import worded
from memorepair.repair.pricing import Pricing

_KEPT = 8


class Verdicts:
    """Answers of `engine.why` with the plan's defaults.

    A plan holds until the journal has a new entry. Reads alone make none, so a price that counts uses may be
    that of an earlier minute. The first question about a case looks at what the artifact stands on alone,
    which is enough for a bar; the next plans the case, and those after it are looked up. The plans of a few
    cases are kept.
    """

    def __init__(self, store: Store, operators: OperatorTable, pricing: Pricing) -> None:
        self._store = store
        self._operators = operators
        self._pricing = pricing
        self._asked: dict[int, int] = {}
        self._words: dict[int, tuple[int, Mapping[Key, str]]] = {}

    def why(self, case: int, key: Key) -> str | None:
        """What the plan says of one artifact, suspicions left out; None where it is no candidate of the case.

        Raises
        ------
        UnknownId, InvalidInput
            As `engine.plan`.
        """
        epoch = self._store.epoch()
        planned, words = self._words.get(case, (None, {}))
        if planned == epoch:
            return words.get(key)
        if self._asked.get(case) != epoch:
            self._asked[case] = epoch
            bar = engine.bar_of(self._store, case, key, operators=self._operators, pricing=self._pricing)
            if bar is not None:
                return bar
        plan = engine.plan(self._store, case, operators=self._operators, pricing=self._pricing)
        words = {row.key: worded(row.reason, row.witness) for row in plan.rows()}
        self._words.pop(case, None)  # the newest goes to the end
        self._words[case] = (epoch, words)
        while len(self._words) > _KEPT:
            oldest = next(iter(self._words))
            del self._words[oldest], self._asked[oldest]
        return words.get(key)

    def forget(self) -> None:
        """Plan again: there is an operator more."""
        self._words.clear()
        self._asked.clear()
