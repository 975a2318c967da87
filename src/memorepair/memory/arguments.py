"""Arguments: the shorthand callers may write for a key, a case, a member of an enumeration, a slot."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, IntEnum
from typing import TypeAlias, TypeVar

from memorepair.errors import InvalidInput
from memorepair.memory.artifact import Case, Key, Slot

KeyLike: TypeAlias = Key | str
CaseLike: TypeAlias = Case | int
SlotLike: TypeAlias = Slot | tuple[str, str] | tuple[str, str, str]

Member = TypeVar("Member", bound=Enum)
Given = TypeVar("Given")


def as_key(key: KeyLike) -> Key:
    """`key`, or what it reads as in its written form ``user/42::home``."""
    if isinstance(key, Key):
        return key
    if isinstance(key, str):
        return Key.parse(key)
    raise InvalidInput(f"a key is a Key or its written form, not {type(key).__name__}", witness=key)


def as_case(case: CaseLike) -> int:
    """The number of `case`."""
    if isinstance(case, Case):
        return case.id
    if isinstance(case, int) and not isinstance(case, bool):
        return case
    raise InvalidInput(f"a case is a Case or its number, not {type(case).__name__}", witness=case)


def as_member(enumeration: type[Member], value: Member | str) -> Member:
    """The member of `enumeration` that `value` is or names, in any case."""
    if isinstance(value, enumeration):
        return value
    names = {name.lower(): member for name, member in enumeration.__members__.items()}
    member = names.get(str(value).lower())
    if member is None or (issubclass(enumeration, IntEnum) and not isinstance(value, str)):
        choices = ", ".join(names)
        raise InvalidInput(f"{value!r} is no {enumeration.__name__.lower()}: one of {choices}", witness=value)
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
