"""Arguments: the shorthand callers may write for keys, scopes, cases, members of enumerations, slots."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import Enum, IntEnum
from typing import TypeAlias, TypeVar

from memorepair.errors import InvalidInput, UnknownId
from memorepair.memory.artifact import Case, Key, Scope, Slot, check_scope
from memorepair.memory.values import named

KeyLike: TypeAlias = Key | str
CaseLike: TypeAlias = Case | int
ScopeLike: TypeAlias = tuple[str, ...] | list[str]
SlotLike: TypeAlias = Slot | tuple[str, str] | tuple[str, str, str]

Member = TypeVar("Member", bound=Enum)
Given = TypeVar("Given")


def as_key(key: KeyLike) -> Key:
    """`key`, or what it reads as in its written form ``user/42::home``."""
    if isinstance(key, Key):
        return key
    if isinstance(key, str):
        return Key.parse(key)
    raise InvalidInput(f"a key is a Key or its written form, not {named(key)}", witness=key)


def as_keys(keys: KeyLike | Iterable[KeyLike]) -> tuple[Key, ...]:
    """One key, or several in their order."""
    if isinstance(keys, Key | str):
        return (as_key(keys),)
    if not isinstance(keys, Iterable):
        raise InvalidInput(f"keys are Keys or their written forms, not {named(keys)}", witness=keys)
    return tuple(as_key(key) for key in keys)


def as_sets(sets: Iterable[Iterable[KeyLike]]) -> tuple[tuple[Key, ...], ...]:
    """Sets of keys; one of a single key is refused, for it would pass for a statement and say nothing."""
    if isinstance(sets, str) or not isinstance(sets, Iterable):
        raise InvalidInput(f"sets of keys are an iterable of them, not {named(sets)}", witness=sets)
    found = tuple(as_keys(one) for one in sets)
    for one in found:
        if len(set(one)) < 2:
            raise InvalidInput("a set names the keys, two or more, that are one source", witness=one)
    return found


def as_scopes(scopes: Iterable[ScopeLike]) -> tuple[Scope, ...]:
    """Scopes, in their order."""
    if not isinstance(scopes, Iterable):
        raise InvalidInput(f"scopes are an iterable of tuples, not {named(scopes)}", witness=scopes)
    return tuple(as_scope(one) for one in scopes)


def as_scope(scope: ScopeLike) -> Scope:
    """`scope` as a tuple; a text is refused, for it would fall into its letters."""
    given: object = scope
    if isinstance(given, str):
        raise InvalidInput(f"a scope is a tuple: scope={tuple(given.split('/'))!r}", witness=given)
    parts = tuple(scope) if isinstance(scope, list) else scope
    check_scope(parts)
    return parts


def as_case(case: CaseLike) -> int:
    """The number of `case`.

    Raises
    ------
    UnknownId
        No case can have the number: it has more than 64 bits.
    """
    if isinstance(case, Case):
        return case.id
    if not isinstance(case, int) or isinstance(case, bool):
        raise InvalidInput(f"a case is a Case or its number, not {named(case)}", witness=case)
    if not -(2**63) <= case < 2**63:
        raise UnknownId(f"there is no case {case}", witness=case)
    return case


def as_member(enumeration: type[Member], value: Member | str) -> Member:
    """The member of `enumeration` that `value` is or names, in any case."""
    if isinstance(value, enumeration):
        return value
    names = {name.lower(): member for name, member in enumeration.__members__.items()}
    member = names.get(str(value).lower())
    if member is None or (issubclass(enumeration, IntEnum) and not isinstance(value, str)):
        choices = ", ".join(names)
        what = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", enumeration.__name__).lower()
        raise InvalidInput(f"no {what} {value!r}: one of {choices}", witness=value)
    return member


def as_slot(slot: SlotLike | None) -> Slot | None:
    """(entity, attribute), (entity, attribute, value), or the Slot itself."""
    if slot is None or isinstance(slot, Slot):
        return slot
    if not isinstance(slot, tuple) or len(slot) not in (2, 3):
        raise InvalidInput("a slot is (entity, attribute) or (entity, attribute, value)", witness=slot)
    return Slot(entity=slot[0], attribute=slot[1], value=slot[2] if len(slot) == 3 else None)


def as_mapping(
    key: KeyLike | Mapping[Key, Given] | Mapping[str, Given], given: Given | None, what: str
) -> dict[Key, Given]:
    """One key with what is given for it, or a mapping of keys; never both."""
    if isinstance(key, Mapping):
        if given is not None:
            raise InvalidInput(f"give a mapping, or one key with its {what}, not both", witness=given)
        pairs = [(as_key(one), value) for one, value in key.items()]
        if len({one for one, _ in pairs}) < len(pairs):
            raise InvalidInput(
                "two keys of the mapping are written forms of the same key", witness=tuple(key)
            )
        return dict(pairs)
    if given is None:
        raise InvalidInput(f"the {what} is missing", witness=as_key(key))
    return {as_key(key): given}
