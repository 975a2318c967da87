"""Giving: what the operator of a step is called with."""

from __future__ import annotations

from dataclasses import dataclass

from memorepair.memory.artifact import Key, Recipe
from memorepair.memory.exchange import Member
from memorepair.memory.store import Store
from memorepair.repair.bygone import Bygone
from memorepair.repair.checks.check import Given
from memorepair.repair.events import Migration, RepairEvent
from memorepair.repair.footing import Footing
from memorepair.repair.modes import Mode
from memorepair.repair.operators.operator import Call, Input, Operator, may_read_own


@dataclass(frozen=True, slots=True, kw_only=True)
class Giver:
    """Gathers what a step is given, as it is at that time."""

    store: Store
    event: RepairEvent
    footing: Footing
    bygone: Bygone

    def gather(self, member: Member, recipe: Recipe, mode: Mode, operator: Operator) -> Given:
        """The call is all that the operator sees; the texts that are gone, beside it, are for the checks."""
        key = member.key
        reads_own = may_read_own(operator, mode, migrates=isinstance(self.event.delta, Migration))
        return Given(
            event=self.event.kind,
            mode=mode,
            arch=member.arch,
            recipe=recipe,
            operator=operator,
            call=Call(
                key=key,
                inputs=self.footing.inputs(key),
                params=recipe.params,
                interfaces=self.footing.interfaces(key),
                own=self.store.before_image(key) if reads_own else None,
                schema=recipe.schema,
            ),
            root_marks=self.bygone.root_marks,
            parent_texts=self.bygone.parent_texts(key),
            fresh=self.footing.fresh(key),
            forget=self._forget(key) if mode is Mode.PARAM else (),
        )

    def _forget(self, key: Key) -> tuple[Input, ...]:
        """What it was trained on that is not there any more as it was read."""
        lost = self.footing.lost(key)
        texts = self.store.former([(arc.parent, arc.read_version) for arc in lost.values()])
        return tuple(
            Input(
                key=one,
                version=lost[one].read_version,
                kind=there.kind,
                relation=lost[one].relation,
                content=there.content,
            )
            for one, there in texts.items()
        )
