"""Verbs that look after a memory: check-ups, and the remedies that may act."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from memorepair import housekeeping
from memorepair.errors import InvalidInput
from memorepair.facade.base import Opened, check_callable
from memorepair.health.detectors.staleness import STALE
from memorepair.health.finding import Finding
from memorepair.health.recording import SCENES, folded, recorded, scene_digest
from memorepair.health.retrieval import Hour, alarms
from memorepair.health.rows import Rows
from memorepair.housekeeping import Housekeeper, Patrol, Report
from memorepair.memory.arguments import as_scope
from memorepair.memory.artifact import Json, Key, Scope
from memorepair.memory.codec import scope_name
from memorepair.memory.values import check_flags, check_type, check_word, is_number, require_names
from memorepair.repair import engine
from memorepair.repair.events import EventKind, Maintenance, RepairEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieval:
    """What searches gave by partition and hour, and the alarms that the newest hours raise."""

    hours: tuple[Hour, ...]
    alarms: tuple[Finding, ...]

    def to_json(self) -> dict[str, Json]:
        """As a JSON object."""
        return {
            "hours": [one.to_json() for one in self.hours],
            "alarms": [one.to_json() for one in self.alarms],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """A scene that was left: the case, None where nothing belonged to it, and what ranks lower since."""

    case: int | None
    keys: tuple[Key, ...]


class Keeping(Opened):
    """Verbs that look after a memory: check-ups, and the remedies that may act."""

    def housekeeper(self, keeping: housekeeping.Keeping | None = None) -> Housekeeper:
        """Who looks after this memory: check-ups, remedies, the queue of a person, the ledger."""
        check_type(keeping, housekeeping.Keeping | None, "how a memory is kept is a Keeping")
        return Housekeeper(
            self._store,
            operators=self._operators,
            pricing=self._pricing,
            checks=self._checks,
            keeping=keeping,
        )

    def checkup(
        self,
        *,
        repair: bool = False,
        keeping: housekeeping.Keeping | None = None,
        since: int | None = None,
        dry_run: bool = False,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> Report:
        """Look for damage in what is remembered; with `repair`, do about it what may be done.

        Findings quote no content. Low-risk remedies act by themselves, others after a rule or a window, and
        what a person has to decide waits in the queue: see `housekeeper`. A record is kept in the ledger.

        Parameters
        ----------
        since
            `newest` of an earlier check-up: only what was written after it is looked at; None: everything.
        dry_run
            Say what was found and what would be weighed; nothing is written.
        """
        check_flags(repair=repair, dry_run=dry_run)
        if progress is not None:
            check_callable(progress, "progress")
        if not dry_run:
            self._recorder.flush()
        keeper = self.housekeeper(keeping)
        return keeper.run(since=since, repair=repair, dry_run=dry_run, progress=progress)

    def patrol(
        self,
        occasions: Iterable[str] = (),
        *,
        keeping: housekeeping.Keeping | None = None,
        dry_run: bool = False,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> Patrol:
        """Make the checks that are due and the repairs whose time has come, then return: for cron.

        `occasions` are what has happened since that asks for checks out of turn: import, upgrade, model,
        permission. With `dry_run` it is said what is due, would be found and done; nothing is written.
        """
        check_type(occasions, Iterable, "occasions are an iterable of names")
        check_type(dry_run, bool, "dry_run is True or False")
        if progress is not None:
            check_callable(progress, "progress")
        if not dry_run:
            self._recorder.flush()
        return self.housekeeper(keeping).patrol(occasions, dry_run=dry_run, progress=progress)

    # retrieval -------------------------------------------------------------------------------------

    def retrieval(self) -> Retrieval:
        """Figures of what searches gave, by partition and hour, and the alarms that they raise.

        The first fifty searches of a partition in an hour are measured, then one of ten; two weeks are kept.
        """
        self._recorder.flush()
        hours = recorded(self._store)
        return Retrieval(hours=tuple(hours), alarms=tuple(alarms(hours)))

    def feedback(self, *, accepted: bool, scope: Scope = ()) -> None:
        """Tell whether a user took up what was recalled, or edited, deleted or declined it."""
        check_type(accepted, bool, "accepted is True or False")
        self._recorder.feedback(scope=as_scope(scope), accepted=accepted)

    def leave(
        self,
        scene: str,
        *,
        actor: str,
        reason: str,
        scope: Scope = (),
        weight: float = STALE,
        dry_run: bool = False,
    ) -> Left:
        """A scene (a project, a journey) is over: what belongs to it ranks lower in this scope from now on.

        Nothing is withdrawn. A memory that is read again (`get`) ranks as before; `undo` of the case takes
        all of it back.

        Parameters
        ----------
        scene
            As the slots name it, whatever its case.
        weight
            What their scores are multiplied with.

        Raises
        ------
        InvalidInput
            An empty scene, a weight that is none.
        """
        check_word(scene, "a scene")
        if not folded(scene):
            raise InvalidInput("a scene has a name", witness=scene)
        check_type(dry_run, bool, "dry_run is True or False")
        require_names(actor, reason)
        if not is_number(weight, 0, 1):
            raise InvalidInput("a weight is within 0 and 1", witness=weight)
        name = scope_name(as_scope(scope))
        rows = Rows.of(self._store.survey())
        keys = [
            rows.key(row)
            for row, slot in rows.slots.items()
            if slot.scene is not None
            and folded(slot.scene) == folded(scene)
            and rows.served[row]
            and rows.survey.scopes[int(rows.survey.scope[row])] == name
        ]
        if not keys:
            return Left(case=None, keys=())
        event = RepairEvent(
            kind=EventKind.MAINTAIN,
            roots=tuple(keys),
            delta=Maintenance(marks=dict.fromkeys(keys, weight)),
            reason=reason,
            actor=actor,
        )
        case = engine.withdraw(self._store, event, dry_run=dry_run)
        if dry_run:
            return Left(case=None, keys=tuple(keys))
        self._store.note(
            SCENES, {scene_digest(self._store, name, scene): case.id}, actor=actor, reason=reason
        )
        self._recorder.forget_scenes()
        return Left(case=case.id, keys=tuple(keys))
