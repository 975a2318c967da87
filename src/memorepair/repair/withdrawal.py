"""Withdrawal: a declared event becomes a case whose cascade is out of service, and is read back from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from memorepair.errors import CorruptStore, InvalidEvent, UnknownId
from memorepair.graphs.terms import PROPAGATING, Kind
from memorepair.memory.artifact import SERVING, Artifact, Case, Draft, Json, Key, Read, Recipe, Source
from memorepair.memory.exchange import SuspectedArc
from memorepair.memory.store import Store
from memorepair.repair.assignment import OperatorTable
from memorepair.repair.checks.marks import Run, marked, unsaid
from memorepair.repair.events import (
    Correction,
    Deletion,
    Delta,
    EventKind,
    Interface,
    Maintenance,
    Migration,
    RepairEvent,
    Rollback,
    Settlement,
)
from memorepair.repair.evidence import evidence_terms, key_of_parts, key_parts, read_terms
from memorepair.repair.inheritance import Gone, inheriting


def withdraw(
    store: Store,
    event: RepairEvent,
    *,
    operators: OperatorTable | None = None,
    erase: bool = False,
    suspects: Sequence[SuspectedArc] = (),
    look: Callable[[int], None] | None = None,
    expect: Callable[[], None] | None = None,
    dry_run: bool = False,
) -> Case:
    """Put the barrier up, B <- C(F), before anything else; serve what the event brings in place of the roots.

    `suspects` are what an audit proposes to follow in this event, beside what has been accepted before.
    `look` is called with the number of the case while the transaction is open: what a dry run takes back can
    be looked at. `expect` is called first, under the write lock; what it raises ends it.

    Raises
    ------
    UnknownId
        A root does not exist, or nobody has the operator for the rows.
    InvalidEvent
        The operator for the rows does not read the version it carries over.
    """
    if isinstance(event.delta, Migration):
        _check_rows(event.delta.rows, operators)
    if isinstance(event.delta, Maintenance):
        return store.maintain(
            list(event.delta.drafts.values()),
            duplicates=event.delta.duplicates,
            marks=event.delta.marks,
            anew=event.delta.anew,
            delta=_delta(event),
            actor=event.actor,
            reason=event.reason,
            expect=expect,
            dry_run=dry_run,
        )
    return store.open_case(
        event=event.kind.value,
        roots=event.roots,
        actor=event.actor,
        reason=event.reason,
        replacements=_replacements(store, event),
        successors=_superseding(event),
        delta=_delta(event),
        erase=erase,
        evidence=event.evidence,
        same_origin=event.same_origin,
        suspected=event.suspected,
        suspects=suspects,
        look=look,
        expect=expect,
        dry_run=dry_run,
    )


def event_of(store: Store, case: Case) -> RepairEvent:
    """The event that a case was opened for.

    Contents are those served now; that of a replacement withdrawn since is empty.
    """
    kind = EventKind(case.event)
    delta: Delta = Deletion()
    if kind is EventKind.MAINTAIN:
        delta = Maintenance()  # what it changed is in the versions; there is nothing left to do
    elif kind is EventKind.CORRECT and "winners" in case.delta:
        delta = Settlement(winners=dict(zip(case.roots, _keys(case, "winners"), strict=True)))
    elif kind is EventKind.CORRECT:
        served = store.served(case.roots)
        delta = Correction(replacements={root: _content(served, root) for root in case.roots})
    elif kind is EventKind.MIGRATE:
        delta = _read_migration(store, case)
    elif kind is EventKind.RECOVER:
        delta = _read_rollback(store, case)
    policy, same_origin = read_terms(case)
    return RepairEvent(
        kind=kind,
        roots=case.roots,
        delta=delta,
        reason=case.reason,
        actor=case.actor,
        evidence=policy,
        same_origin=same_origin,
        suspected=case.suspected,
    )


def _content(served: Mapping[Key, Artifact], key: Key) -> str:
    there = served.get(key)
    return "" if there is None else there.content


# what a case keeps of its event
# --------------------------------------------------------------------------------


def _delta(event: RepairEvent) -> dict[str, Json]:
    terms = evidence_terms(event)
    if isinstance(event.delta, Rollback):
        # By the place of the root in the event: the case keeps the roots.
        place = {root: number for number, root in enumerate(event.roots)}
        return {
            "replaced": [place[root] for root in event.delta.replacements],
            "reinstated": [[place[root], version] for root, version in event.delta.reinstated.items()],
            **terms,
        }
    if isinstance(event.delta, Settlement):
        return {"winners": [key_parts(event.delta.winners[root]) for root in event.roots], **terms}
    if isinstance(event.delta, Maintenance):
        pairs = sorted(event.delta.duplicates.items())
        return {"duplicate_of": [[key_parts(one), key_parts(primary)] for one, primary in pairs]}
    if not isinstance(event.delta, Migration):
        return terms
    keys = [event.delta.interfaces[root].key for root in event.roots]
    return {"interfaces": [key_parts(key) for key in keys], "rows": event.delta.rows, **terms}


def _keys(case: Case, name: str) -> list[Key]:
    """One key a root."""
    listed = case.delta.get(name)
    if not isinstance(listed, list) or len(listed) != len(case.roots):
        raise CorruptStore(f"case {case.id} does not say what stands in place of its roots", witness=case.id)
    return [key_of_parts(parts, case) for parts in listed]


def _read_migration(store: Store, case: Case) -> Migration:
    rows = case.delta.get("rows")
    if not isinstance(rows, str | None):
        raise CorruptStore(f"case {case.id} does not say what it migrates to", witness=case.id)
    keys = _keys(case, "interfaces")
    served = store.served(keys)
    interfaces = {
        root: Interface(key=key, content=_content(served, key))
        for root, key in zip(case.roots, keys, strict=True)
    }
    return Migration(interfaces=interfaces, rows=rows)


def _read_rollback(store: Store, case: Case) -> Rollback:
    replaced = _numbers(case, case.delta.get("replaced"))
    reinstated = [_numbers(case, pair) for pair in _listed(case, case.delta.get("reinstated"))]
    try:
        roots = [case.roots[place] for place in replaced]
        versions = {case.roots[place]: version for place, version in reinstated}
    except (ValueError, IndexError) as error:
        raise CorruptStore(f"case {case.id} does not say what it restores", witness=case.id) from error
    served = store.served(roots)
    return Rollback(replacements={root: _content(served, root) for root in roots}, reinstated=versions)


def _listed(case: Case, value: Json) -> list[Json]:
    if not isinstance(value, list):
        raise CorruptStore(f"case {case.id} does not say what it restores", witness=case.id)
    return value


def _numbers(case: Case, value: Json) -> list[int]:
    numbers = [one for one in _listed(case, value) if isinstance(one, int)]
    if len(numbers) < len(_listed(case, value)):
        raise CorruptStore(f"case {case.id} does not say what it restores", witness=case.id)
    return numbers


# what stands in place of the roots
# -----------------------------------------------------------------------------


def _check_rows(rows: str | None, operators: OperatorTable | None) -> None:
    if rows is None or operators is None:
        return
    operator = operators.get(rows)
    if operator is None:
        raise UnknownId(f"there is no operator {rows}", witness=rows)
    if not operator.reads_own_version:
        raise InvalidEvent(f"operator {rows} does not read the row it carries over", witness=rows)


def _superseding(event: RepairEvent) -> dict[Key, Key]:
    return dict(event.instead)


def _replacements(store: Store, event: RepairEvent) -> list[Draft]:
    delta = event.delta
    if isinstance(delta, Deletion | Settlement | Maintenance):
        return []
    if isinstance(delta, Rollback):
        again = list(store.drafts(list(delta.reinstated.items())).values())
        if not delta.replacements:
            return again
        texts = delta.replacements
        person = RepairEvent(kind=EventKind.CORRECT, roots=tuple(texts), delta=Correction(replacements=texts))
        return [*again, *_replacements(store, person)]
    old = store.served(event.roots)
    marks = marked({root: there.content for root, there in old.items()})
    if isinstance(delta, Correction):
        texts = delta.replacements
        gone = _gone(marks, old, texts.values())
        return [
            _corrected(store, root, texts[root], event.roots, old.get(root), gone) for root in event.roots
        ]
    gone = _gone(marks, old, [interface.content for interface in delta.interfaces.values()])
    fresh = {new.key: (root, new.content) for root, new in delta.interfaces.items()}
    served = store.served(sorted(fresh))
    return [
        _interface(store, root, key, content, old.get(root), gone)
        for key, (root, content) in sorted(fresh.items())
        # An interface that is already in service under its own key needs no new version.
        if key == root or key not in served or served[key].content != content
    ]


def _gone(marks: Mapping[Run, Key], old: Mapping[Key, Artifact], new: Iterable[str]) -> Gone:
    """What the roots said and what stands in their place does not say any more."""
    fresh = tuple(new)
    texts = tuple(there.content for there in old.values())
    return Gone(marks=(unsaid(marks, fresh),), allowed=fresh, texts=texts)


def _interface(store: Store, root: Key, key: Key, content: str, old: Artifact | None, gone: Gone) -> Draft:
    listing = store.describe(root)
    draft = Draft(key=key, content=content, kind=listing.kind, arch=listing.arch, source=Source.SYSTEM)
    return inheriting(draft, old, gone)


def _corrected(
    store: Store, root: Key, content: str, roots: tuple[Key, ...], old: Artifact | None, gone: Gone
) -> Draft:
    """The replacement of a root: a person's word, described as the root was.

    A record that follows another one, as a data row follows its interface, goes on following it; a derived
    artifact stands on the person's word alone.
    """
    listing = store.describe(root)
    recipe = replace(store.recipes([root]).get(root, Recipe()), operator=None, params={}, observed=False)
    draft = Draft(
        key=root,
        content=content,
        kind=listing.kind,
        arch=listing.arch,
        recipe=recipe,
        reads=_followed(store, root, roots) if listing.kind is Kind.RECORD else (),
    )
    return inheriting(draft, old, gone)


def _followed(store: Store, root: Key, roots: tuple[Key, ...]) -> tuple[Read, ...]:
    """The root's reads of parents that this event leaves in service."""
    reads = [
        Read(key=arc.parent, relation=arc.relation, group=arc.group)
        for arc in store.support([root])
        if arc.relation in PROPAGATING
        and arc.parent_state in SERVING
        and not descends(store, arc.parent, frozenset(roots))
    ]
    return tuple(dict.fromkeys(reads))


def descends(store: Store, key: Key, roots: frozenset[Key]) -> bool:
    """Whether the event withdraws the key; what it replaces itself counts as withdrawn."""
    seen = {key}
    frontier = [key]
    while frontier:
        here = frontier.pop()
        if here in roots:
            return True
        for parent in store.parents(here):
            if parent.key not in seen:
                seen.add(parent.key)
                frontier.append(parent.key)
    return False
