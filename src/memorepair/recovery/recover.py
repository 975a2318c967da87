"""Recover: a failed run from its faulty memory to a new answer, as one case."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from memorepair.memory.artifact import Case, Json, Key
from memorepair.recovery.planning import RecoveryPlan
from memorepair.recovery.replay import Made
from memorepair.recovery.run import Recorder

Agent: TypeAlias = Callable[[Recorder], object]
"""Takes the steps of a run: from a recorder the first time, from a replay when the run is recovered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveryReport:
    """What a recovery did, or would do.

    Attributes
    ----------
    case
        As it is now; number 0 after a dry run.
    plan
        What of the run is taken again, kept, dropped.
    made
        What the replay made; None where there was none.
    reinstated
        Memories that are again in the version which something faulty had superseded.
    left
        Memories that stay out of service; `repair` of the case takes them up.
    """

    case: Case
    plan: RecoveryPlan
    made: Made | None = None
    reinstated: Mapping[Key, int] = MappingProxyType({})
    left: tuple[Key, ...] = ()

    @property
    def answer(self) -> str | None:
        """The new answer; None where nothing was replayed."""
        draft = None if self.made is None else self.made.answer
        return None if draft is None else draft.content

    def to_json(self) -> dict[str, Json]:
        """The report as JSON; no content but the new answer."""
        made = self.made
        return {
            "case": self.case.id,
            "status": self.case.status.value,
            **self.plan.to_json(),
            "replayed": 0 if made is None else len(made.drafts),
            "read_back": 0 if made is None else len(made.frozen),
            "model_calls": 0 if made is None else made.calls,
            "reinstated": {str(key): version for key, version in self.reinstated.items()},
            "left": [str(key) for key in self.left],
            "answer": self.answer,
        }
