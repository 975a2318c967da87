"""Compare: whether two statements can both hold, by rules; what rules cannot decide goes to the judge."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from memorepair.health.conflict.facts import TABLES, TOPIC, Fact, cleaned, content
from memorepair.health.conflict.judge import Answer
from memorepair.health.wording import is_cjk

_STRENGTH = (Answer.BOTH, Answer.SAME, Answer.JUDGE, Answer.CONFLICT)
_NUMBER = re.compile(r"^[\d.:]+$")
_PERSON = re.compile(r"[ '的]|[\u3400-\u9fff]{4}")
_ROLE = re.compile(r"'s |的")
_ANY_OF = re.compile(r"^(?:an?|some|another) ")
_MANY = frozenset().union(*(tables.many for tables in TABLES))
_ANTONYMS = frozenset().union(*(tables.antonyms for tables in TABLES))
_SPEAKERS = ("user", "用户")
_OTHER_SUBJECT = "other subject"
DISJOINT = "disjoint scenes"

_SINGLE = frozenset().union(*(tables.single for tables in TABLES))
_SINGLE_BEGINS = tuple(begin for tables in TABLES for begin in tables.single_begins)
_ALIASES = {"home": "residence", "address": "residence", "lives in": "residence", "city": "residence"} | {
    "works at": "employer",
    "company": "employer",
    "住址": "residence",
    "公司": "employer",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cardinality:
    """How many values an attribute holds, as the keeper has it; the built-in tables know the rest."""

    many: frozenset[str] = frozenset()
    single: frozenset[str] = frozenset()

    def holds_many(self, attribute: str) -> bool | None:
        """True: several values stay. False: one. None: nobody has said."""
        if attribute in self.single:
            return False
        if attribute in self.many or attribute in _MANY or attribute == TOPIC:
            return True
        known = attribute in _SINGLE or attribute.startswith(_SINGLE_BEGINS)
        return False if known else None


BUILT_IN = Cardinality()


def slot_of(fact: Fact) -> tuple[str, str]:
    """Where a fact belongs: subjects up to word order and filler, attributes up to another name."""
    words = content(fact.subject)
    subject = " ".join(sorted(words)) if words and not is_cjk(fact.subject) else fact.subject
    return subject, _ALIASES.get(fact.attribute, fact.attribute)


def verdict(
    one: str,
    other: str,
    first: Sequence[Fact],
    second: Sequence[Fact],
    cardinality: Cardinality = BUILT_IN,
) -> tuple[Answer, str]:
    """The strongest answer over the facts of two texts whose validity meets, with its reason.

    `Answer.BOTH` means that rules know them to be compatible; what no rule knows is `Answer.JUDGE`.
    """
    if not first or not second:
        if denies(one, other):
            return Answer.CONFLICT, "one denies the very words of the other"
        return Answer.JUDGE, "no rule knows one of them"
    answers = [compare(a, b, cardinality) for a in first for b in second]
    answer, why = max(answers, key=lambda found: _STRENGTH.index(found[0]))
    if not why.startswith("other"):
        return answer, why
    mine, yours = content(cleaned(one)), content(cleaned(other))
    if why == _OTHER_SUBJECT and (_names(first, second, yours) or _names(second, first, mine)):
        return Answer.JUDGE, "one names what the other is about"
    speaker = speaks_of_the_user(one) and speaks_of_the_user(other)
    if (announces(one) or announces(other)) and (speaker or len(mine & yours) > 1):
        return Answer.JUDGE, "a change is announced, its slot is not known"
    return answer, why


def _names(first: Sequence[Fact], second: Sequence[Fact], said: frozenset[str]) -> bool:
    """Whether a fact's subject is inside another's, or a preference's topic is in the other text."""
    for fact in first:
        about = content(fact.subject) or content(fact.value or "")
        if not about:
            continue
        if any(about < content(other.subject) for other in second):
            return True
        if fact.attribute == TOPIC and content(fact.value or "") <= said:
            return True
    return False


def bare(text: str) -> tuple[str, bool]:
    """A text without what denies it, and whether it is denied: equal for a statement and its denial."""
    said = cleaned(text)
    denials = sum(len(tables.denials.findall(said)) for tables in TABLES)
    for tables in TABLES:
        said = tables.denial.sub(" ", said)
    return "".join(said.split()), denials % 2 == 1


def denies(one: str, other: str) -> bool:
    """Whether one of two texts denies the very words of the other."""
    (mine, denied), (yours, denied_too) = bare(one), bare(other)
    return mine == yours and denied != denied_too


def announces(text: str) -> bool:
    """Whether a text announces a change."""
    said = text.casefold()
    return any(tables.change.search(said) for tables in TABLES)


def excludes(text: str) -> bool:
    """Whether a text rules something out that other words may say."""
    said = text.casefold()
    return any(tables.excludes.search(said) for tables in TABLES)


def speaks_of_the_user(text: str) -> bool:
    """Whether a text is about the person whose memory it is."""
    said = text.casefold()
    return any(tables.speaker.search(said) for tables in TABLES)


def compare(one: Fact, other: Fact, cardinality: Cardinality = BUILT_IN) -> tuple[Answer, str]:
    """Two facts whose validity meets: subject, attribute, scene, polarity, value, cardinality in turn."""
    (subject, attribute), (subject_too, attribute_too) = slot_of(one), slot_of(other)
    if subject != subject_too:
        return Answer.BOTH, _OTHER_SUBJECT
    if attribute != attribute_too:
        return Answer.BOTH, "other attribute"
    if one.scene != other.scene and one.scene and other.scene:
        return Answer.BOTH, DISJOINT  # that two named scenes overlap is for a person to say
    if one.value is None or other.value is None:
        return Answer.JUDGE, "one slot, a value is not given"
    if one.value == other.value:
        if one.polarity == other.polarity:
            return Answer.SAME, "same value"
        return Answer.CONFLICT, "scene" if one.scene != other.scene else "polarity or limit"
    many = cardinality.holds_many(attribute)
    role = _ROLE.split(one.subject)[-1]  # "my friend is ...": what somebody is says how many there are
    if attribute == "is" and not one.given:
        if role == "one" or cardinality.holds_many(role):
            many = True
        elif _ANY_OF.match(role):
            many = None
    return _values(one, other, attribute, many)


def _values(one: Fact, other: Fact, attribute: str, many: bool | None) -> tuple[Answer, str]:
    mine, yours = one.value or "", other.value or ""
    words, words_too = mine.split(), yours.split()
    if one.polarity == other.polarity == 1 and any(
        frozenset(pair) in _ANTONYMS for pair in zip(words, words_too, strict=False)
    ):
        return Answer.CONFLICT, "antonym"
    if one.polarity == other.polarity and len(words) == len(words_too) > 2:
        hidden = [[_NUMBER.sub("#", word) for word in part] for part in (words, words_too)]
        if hidden[0] == hidden[1]:
            return Answer.CONFLICT, "same words, other number"
    if attribute == TOPIC and content(mine) & content(yours) and max(len(mine), len(yours)) > 3:
        return Answer.JUDGE, "topics overlap"
    if many or -1 in (one.polarity, other.polarity):
        return Answer.BOTH, "slot holds many"
    if many is None:
        return Answer.JUDGE, "nobody has said how many values the attribute holds"
    if (
        attribute == "is"
        and not one.given
        and (
            one.subject in _SPEAKERS or (not _PERSON.search(one.subject) and not any(map(str.isdigit, mine)))
        )
    ):
        return Answer.JUDGE, "'is' of a person names no attribute"
    return Answer.CONFLICT, "single slot, other value"
