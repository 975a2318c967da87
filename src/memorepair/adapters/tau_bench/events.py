"""Three repair events on imported runs: a user corrected, a reservation deleted, the users migrated."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from memorepair.adapters.shapes import Row, as_object, object_of
from memorepair.adapters.tau_bench.database import dumps, interface_id
from memorepair.adapters.tau_bench.importer import key
from memorepair.adapters.tau_bench.operators import PROVINCE_TO_STATE
from memorepair.facade import Memory
from memorepair.memory.artifact import Case, Draft, Key
from memorepair.repair.events import Correction, EventKind, Interface, Migration, RepairEvent
from memorepair.repair.jsontext import parse

_ACTOR = "tau-bench"
_HOME: Mapping[str, str] = MappingProxyType(
    {"address1": "12 Harbour Lane", "address2": "", "city": "Portland", "province": "OR", "zip": "97201"}
)
_CARD: Mapping[str, str] = MappingProxyType(
    {"source": "credit_card", "brand": "visa", "last_four": "0042", "id": "credit_card_0000042"}
)


def three_events(drafts: Sequence[Draft]) -> Mapping[str, RepairEvent]:
    """``correct``, ``delete`` and ``migrate``, on the user and the reservation with the largest cascades."""
    content = {draft.key: draft.content for draft in drafts}
    user, reservation = largest_cascade(drafts, "users/"), largest_cascade(drafts, "reservations/")
    users = key(interface_id("users"))
    renamed = Interface(key=key(interface_id("users", 2)), content=with_state(content[users]))
    return MappingProxyType(
        {
            "correct": RepairEvent(
                kind=EventKind.CORRECT,
                roots=(user,),
                delta=Correction(replacements={user: moved(content[user])}),
                reason="moved, and pays with a new card",
                actor=_ACTOR,
            ),
            "delete": RepairEvent(
                kind=EventKind.DELETE, roots=(reservation,), reason="privacy request", actor=_ACTOR
            ),
            "migrate": RepairEvent(
                kind=EventKind.MIGRATE,
                roots=(users,),
                delta=Migration(interfaces={users: renamed}, rows=PROVINCE_TO_STATE),
                reason="the address field province is called state",
                actor=_ACTOR,
            ),
        }
    )


def declare(memory: Memory, event: RepairEvent) -> Case:
    """Declare `event`, which has one root, through the verb of its kind."""
    (root,) = event.roots
    reason, actor = event.reason or "", event.actor or ""
    match event.delta:
        case Correction(replacements=replacements):
            return memory.correct(root, replacements[root], reason=reason, actor=actor)
        case Migration(interfaces=interfaces, rows=rows):
            return memory.migrate(root, interfaces[root], rows=rows, reason=reason, actor=actor)
        case _:
            return memory.delete(root, reason=reason, actor=actor)


def largest_cascade(drafts: Sequence[Draft], prefix: str) -> Key:
    """The artifact from which most are reached, among ids that begin with `prefix`; of equals the first."""
    children = _children(drafts)
    roots = sorted(draft.key for draft in drafts if draft.key.id.startswith(prefix))
    return max(roots, key=lambda root: len(_spread([root], children)))


def reached(roots: Iterable[Key], drafts: Sequence[Draft]) -> set[Key]:
    """C(F) by the drafts' own arcs, the roots included."""
    return _spread(roots, _children(drafts))


def _children(drafts: Sequence[Draft]) -> Mapping[Key, list[Key]]:
    children: defaultdict[Key, list[Key]] = defaultdict(list)
    for draft in drafts:
        for read in draft.reads:
            children[read.key].append(draft.key)
    return children


def _spread(roots: Iterable[Key], children: Mapping[Key, Sequence[Key]]) -> set[Key]:
    found = set(roots)
    todo = [*found]
    while todo:
        new = set(children.get(todo.pop(), ())) - found
        found |= new
        todo.extend(new)
    return found


def moved(content: str) -> str:
    """A user's row with another address and one more payment method."""
    row = as_object(parse(content), "user")
    address: Row = {**object_of(row, "address", "user"), **_HOME}
    card: Row = {**_CARD}
    methods: Row = {**object_of(row, "payment_methods", "user"), _CARD["id"]: card}
    return dumps({**row, "address": address, "payment_methods": methods})


def with_state(content: str) -> str:
    """Content of ``airline.users@2`` from that of ``airline.users@1``."""
    old = as_object(parse(content), "interface")
    fields: Row = {
        "address.state" if name == "address.province" else name: types
        for name, types in object_of(old, "fields", "interface").items()
    }
    return dumps({**old, "interface": interface_id("users", 2), "fields": fields})
