"""Verbs that declare: what is wrong leaves service before they return."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from memorepair.errors import InvalidEvent
from memorepair.facade.base import Opened
from memorepair.graphs.support import Policy
from memorepair.memory.arguments import KeyLike, as_keys, as_mapping, as_sets
from memorepair.memory.artifact import Case, Key, State
from memorepair.memory.exchange import SuspectedArc
from memorepair.memory.values import check_flags
from memorepair.repair import engine
from memorepair.repair.audit.report import audit_store
from memorepair.repair.events import Correction, Deletion, EventKind, Interface, Migration, RepairEvent
from memorepair.repair.evidence import duplicate_of

SameOrigin: TypeAlias = Iterable[Iterable[KeyLike]]
"""Sets of keys, each of which counts as one source."""


class Events(Opened):
    """Verbs that declare: what is wrong leaves service before they return."""

    def delete(
        self,
        keys: KeyLike | Iterable[KeyLike],
        *,
        reason: str,
        actor: str,
        evidence: Policy = "none",
        same_origin: SameOrigin = (),
        erase: bool = False,
        suspected: float | None = None,
        dry_run: bool = False,
    ) -> Case:
        """Withdraw these artifacts and all derived from them; when this returns, nothing of it is served.

        With `erase` the case ends, after `repair`, with the removal of every old version of the whole cascade
        from the file; only published successors remain. `erase` does it at once. With `dry_run` the case is
        counted and described (number 0), nothing is changed.

        `evidence` may leave in service what other support still carries (``none``, ``direct``, ``grounded``,
        see `memorepair.graphs.weigh`); artifacts of one set in `same_origin` count as one source. An erasure
        spares nothing.

        With `suspected` the cascade also follows influence arcs that nobody recorded: those accepted before
        and those an audit proposes now, from this probability on, and all that a derived artifact without any
        recorded parent is suspected to stand on. Unless given, the memory's own `suspected`
        where the event asks for no `evidence`.
        """
        return self._declare(
            EventKind.DELETE,
            as_keys(keys),
            Deletion(),
            reason,
            actor,
            dry_run,
            evidence=evidence,
            same_origin=same_origin,
            suspected=suspected,
            erase=erase,
        )

    def correct(
        self,
        key: KeyLike | Mapping[Key, str] | Mapping[str, str],
        content: str | None = None,
        *,
        reason: str,
        actor: str,
        evidence: Policy = "none",
        same_origin: SameOrigin = (),
        suspected: float | None = None,
        dry_run: bool = False,
    ) -> Case:
        """Replace content that was wrong; the replacement is served at once, what was derived is withdrawn.

        `key` with `content`, or a mapping of keys to contents; `evidence` and `suspected` as in `delete`.
        """
        replacements = as_mapping(key, content, "content")
        delta = Correction(replacements=replacements)
        return self._declare(
            EventKind.CORRECT,
            tuple(replacements),
            delta,
            reason,
            actor,
            dry_run,
            evidence=evidence,
            same_origin=same_origin,
            suspected=suspected,
        )

    def migrate(
        self,
        key: KeyLike | Mapping[Key, Interface] | Mapping[str, Interface],
        interface: Interface | None = None,
        *,
        rows: str | None = None,
        reason: str,
        actor: str,
        evidence: Policy = "none",
        same_origin: SameOrigin = (),
        suspected: float | None = None,
        dry_run: bool = False,
    ) -> Case:
        """Supersede an interface (a schema or tool contract); what follows the old one is withdrawn.

        `rows` names the registered operator (``name@version``) that carries data rows over; `evidence` and
        `suspected` as in `delete`.
        """
        interfaces = as_mapping(key, interface, "interface")
        delta = Migration(interfaces=interfaces, rows=rows)
        return self._declare(
            EventKind.MIGRATE,
            tuple(interfaces),
            delta,
            reason,
            actor,
            dry_run,
            evidence=evidence,
            same_origin=same_origin,
            suspected=suspected,
        )

    def _declare(
        self,
        kind: EventKind,
        roots: tuple[Key, ...],
        delta: Deletion | Correction | Migration,
        reason: str,
        actor: str,
        dry_run: bool,
        *,
        evidence: Policy,
        same_origin: SameOrigin,
        suspected: float | None,
        erase: bool = False,
    ) -> Case:
        for name, text in (("a reason", reason), ("an actor", actor)):
            if not isinstance(text, str) or not text.strip():
                raise InvalidEvent(f"an event needs {name}", witness=name.split()[-1])
        check_flags(erase=erase, dry_run=dry_run)
        if suspected is None and evidence == "none":  # evidence and suspicions do not go together
            suspected = self._suspected
        if kind is EventKind.DELETE:
            roots = self._with_duplicates(roots)
        event = RepairEvent(
            kind=kind,
            roots=roots,
            delta=delta,
            reason=reason,
            actor=actor,
            evidence=evidence,
            same_origin=as_sets(same_origin),
            suspected=suspected,
        )
        return engine.withdraw(
            self._store,
            event,
            operators=self._operators,
            erase=erase,
            suspects=self._suspects(event.suspected),
            dry_run=dry_run,
        )

    def _with_duplicates(self, roots: tuple[Key, ...]) -> tuple[Key, ...]:
        """With the duplicates archived under the roots, and those under them, by whatever version.

        Who deletes what is served means them as well: they say what it says or has said.
        """
        found = dict.fromkeys(roots)
        left = builtins.list(found)
        while left:
            root = left.pop()
            for parent in self._store.parents(root, former=True):
                if parent.state is State.ARCHIVED and parent.case is not None and parent.key not in found:
                    case = self._store.case(parent.case)
                    if duplicate_of(case, parent.key) == root:
                        found[parent.key] = None
                        left.append(parent.key)
        return (*roots, *(key for key in found if key not in roots))

    def _suspects(self, threshold: float | None) -> builtins.list[SuspectedArc]:
        """What an audit proposes now and a cascade from the threshold on follows."""
        if threshold is None:
            return []
        return [one.arc() for one in audit_store(self._store).above(threshold)]
