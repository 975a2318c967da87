"""Facts: what a statement says, as subject, attribute, value, polarity and scene."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from memorepair.health.conflict.chinese import CHINESE
from memorepair.health.conflict.english import ENGLISH
from memorepair.health.conflict.tables import Tables
from memorepair.health.rows import Rows
from memorepair.health.wording import CJK, is_cjk, is_record, normal
from memorepair.memory.artifact import Slot
from memorepair.memory.normalform import normal_form

TABLES: tuple[Tables, ...] = (ENGLISH, CHINESE)
"""The languages, in the order they are tried; a new one is a file with a `Tables`, and its line here."""

TOPIC = "topic"
"""Attribute of a preference: what it is about is its value."""

LIMITED = 0.5
"""Polarity of a preference with a limit: "a little"."""

LONGEST_TEXT, LONGEST_CLAUSE = 600, 160
"""Characters: the patterns look ahead, and read statements, not stories."""

MOST_CLAUSES, MOST_WORDS, MOST_CHARACTERS = 4, 14, 30
"""Of a text, of a clause, of a Chinese clause: in longer ones a pattern finds what nobody has said."""

_WORD = re.compile(rf"[{CJK}]|[^\W_{CJK}]+")
_CLAUSE = re.compile(r"(?<=[a-z])\. |[;；。]|, (?:so|please|but) ")
_TIGHT = re.compile(rf"(?<=[{CJK}]) | (?=[{CJK}])")
_ARTICLE = re.compile(r"^(an?|the) ")
_TOPIC_ARTICLE = re.compile(r"^(the|an?|吃|喝) ?")
_OF = re.compile(r"^(.+) of (.+)$")
_ROLE_SUBJECT = re.compile(r"^the |'s$")
_AFTERNOON = re.compile(r"([上下])午(\d+)点")
_CLOCK = re.compile(r"\b(\d{1,2})(?::(\d\d))? ?(am|pm)\b")
_UNITS = {name: unit for tables in TABLES for name, unit in tables.units.items()}
_AMOUNT = re.compile(
    r"\b(\d+(?:\.\d+)?) ?(minute|hour|gb|second)s?\b|(\d+(?:\.\d+)?) ?(" + "|".join(CHINESE.units) + ")"
)
_DIGITS = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {"两": 2}
_TENS = {"十": 10, "百": 100, "千": 1_000, "万": 10_000}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One statement.

    Attributes
    ----------
    subject, attribute
        Its slot: facts of different slots never conflict. `TOPIC` is the attribute of preferences.
    value
        What fills the slot; None where the writer named the slot alone.
    polarity
        1, -1 for a denial or an aversion, `LIMITED` in between.
    scene
        Where it holds; empty: everywhere.
    given
        The writer gave the slot; else a pattern found it.
    whole
        It is all that its text says.
    """

    subject: str
    attribute: str
    value: str | None
    polarity: float
    scene: str = ""
    given: bool = False
    whole: bool = True


def of_slot(slot: Slot) -> Fact:
    """A slot that the writer gave."""
    return Fact(
        subject=normal(slot.entity),
        attribute=normal(slot.attribute),
        value=None if slot.value is None else cleaned(slot.value),
        polarity=1.0 if slot.polarity else -1.0,
        scene=normal(slot.scene or ""),
        given=True,
    )


def facts_of_row(rows: Rows, row: int) -> tuple[Fact, ...]:
    """What a served row states: its slot where the writer gave one, else what the patterns find."""
    slot = rows.slots.get(row)
    return (of_slot(slot),) if slot is not None else facts(rows.text(row))


@lru_cache(maxsize=1 << 13)
def facts(text: str) -> tuple[Fact, ...]:
    """One fact a clause; clauses that no pattern knows are left out, and so are records and long texts."""
    if len(text) > LONGEST_TEXT or is_record(text):
        return ()
    clauses = [clause for clause in _CLAUSE.split(cleaned(text)) if clause and clause.strip()]
    if len(clauses) > MOST_CLAUSES:
        return ()
    found = [parse(clause) for clause in clauses if _is_statement(clause)]
    known = [fact for fact in found if fact is not None]
    if len(known) == len(clauses) == 1:
        return (known[0],)
    return tuple(
        Fact(
            subject=fact.subject,
            attribute=fact.attribute,
            value=fact.value,
            polarity=fact.polarity,
            scene=fact.scene,
            whole=False,
        )
        for fact in known
    )


def _is_statement(clause: str) -> bool:
    most = MOST_CHARACTERS if is_cjk(clause) else MOST_WORDS
    return len(clause) <= LONGEST_CLAUSE and "?" not in clause and len(_WORD.findall(clause)) <= most


def content(text: str) -> frozenset[str]:
    """Words that tell one subject from another."""
    return frozenset(_WORD.findall(text)) - _FILLERS


_PRONOUNS = frozenset().union(*(tables.pronouns for tables in TABLES))
_FILLERS = frozenset().union(*(tables.fillers for tables in TABLES))


def cleaned(text: str) -> str:
    """Lower case, with persons, times, numbers and units in one spelling."""
    out = normal_form("NFKC", text).casefold().replace("’", "'").strip(" .。!！")
    for tables in TABLES:
        for pattern, replacement in tables.spelling:
            out = pattern.sub(replacement, out)
        if tables.numbers is not None:
            out = tables.numbers.sub(lambda found: str(_number(found[0])), out)
    out = _AFTERNOON.sub(lambda found: f"{int(found[2]) % 12 + 12 * (found[1] == '下')}:00", out)
    out = _CLOCK.sub(lambda found: f"{int(found[1]) % 12 + 12 * (found[3] == 'pm')}:{found[2] or '00'}", out)
    return _AMOUNT.sub(_amount, out)


def _amount(found: re.Match[str]) -> str:
    unit, factor = _UNITS[found[2] or found[4]]
    return f"{float(found[1] or found[3]) * factor:g} {unit}"


def _number(words: str) -> int:
    total = part = 0
    for character in words:
        if character in _TENS:
            total, part = total + (part or 1) * _TENS[character], 0
        else:
            part = _DIGITS[character]
    return total + part


def parse(clause: str) -> Fact | None:
    """A clause in the spelling of `cleaned`; None where no pattern knows it."""
    scene, said = "", clause.strip()
    for tables in TABLES:
        begins = None if scene else tables.scenes.match(said)
        if begins is not None:
            scene, said = begins[1], said[begins.end() :]
    for tables in TABLES:
        for pattern, replacement in tables.spelling:
            said = pattern.sub(replacement, said)
    limited = any(tables.limits.search(said) for tables in TABLES)
    for tables in TABLES:
        said = tables.limits.sub(" ", said)
    said = _TIGHT.sub("", " ".join(said.split()))
    for tables in TABLES:
        said = tables.idle.sub("", said)
    found = next(_preferences(said, scene, limited=limited), None) or next(_attributes(said, scene), None)
    return None if found is None or found.subject in _PRONOUNS else found


def _preferences(said: str, scene: str, *, limited: bool) -> Iterator[Fact]:
    for tables in TABLES:
        if tables.not_preference is not None and tables.not_preference.search(said):
            continue
        found = tables.preference.match(said)
        if found is not None and "的" not in said[: found.start("v")]:
            denied = bool(found["n"]) != bool(found["m"])
            polarity = -1.0 if denied else LIMITED if limited else 1.0
            yield Fact(
                subject=found["s"],
                attribute=TOPIC,
                value=_TOPIC_ARTICLE.sub("", found["v"]),
                polarity=polarity,
                scene=scene,
            )
    for tables in TABLES:
        found = None if tables.habits is None else tables.habits.match(said)
        if found is not None:
            polarity = -1.0 if found["n"] else LIMITED if limited else 1.0
            yield Fact(subject=found["s"], attribute=TOPIC, value=found["v"], polarity=polarity, scene=scene)


def _attributes(said: str, scene: str) -> Iterator[Fact]:
    for tables in TABLES:
        for pattern, attribute in tables.attributes:
            found = pattern.match(said)
            if found is None:
                continue
            groups = found.groupdict()
            subject = _OF.sub(r"\2's \1", groups["s"]).removeprefix("the ")
            if groups.get("role"):
                subject = f"{_ROLE_SUBJECT.sub('', groups['s'])}'s {groups['role']}"
            denied = tables.negation.search(groups.get("n") or "") is not None
            yield Fact(
                subject=subject,
                attribute=groups["a"] if attribute == "{a}" else attribute,
                value=_ARTICLE.sub("", groups["v"]),
                polarity=-1.0 if denied else 1.0,
                scene=scene,
            )
