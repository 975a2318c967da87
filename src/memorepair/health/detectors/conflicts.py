"""Conflicts: artifacts of one scope that fill one slot with what cannot both hold."""

from __future__ import annotations

import logging
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from memorepair.health.conflict.compare import (
    DISJOINT,
    Cardinality,
    announces,
    bare,
    compare,
    excludes,
    slot_of,
    speaks_of_the_user,
    verdict,
)
from memorepair.health.conflict.facts import (
    LONGEST_CLAUSE,
    LONGEST_TEXT,
    Fact,
    cleaned,
    content,
    facts_of_row,
)
from memorepair.health.conflict.judge import Answer
from memorepair.health.detector import Asked, Found, about, counted
from memorepair.health.finding import Damage, Finding, Level
from memorepair.health.rows import Rows
from memorepair.health.wording import is_record

Hashes = npt.NDArray[np.uint64]

logger = logging.getLogger(__name__)

PARTNERS = 12
"""Rows of one slot that a row is compared with: the newest before it."""

NEAREST = 3
"""Rows of one subject that an announced change is compared with: the newest before it. A judge is asked about
as many before a statement that rules something out, and before each other about as many that do.
"""

LOOK_BACK = 32
"""Rows of a scope among which an announced change about somebody else looks for what it is about."""

_DENIED = "denied words"
_RULED_OUT = "something ruled out"
_RULED = {"scene": 0.8, "polarity or limit": 0.95, "antonym": 0.95, "single slot, other value": 0.9}


class Conflicts:
    """Rules within one slot; a judge, or a person, for what rules cannot tell."""

    name = "conflicts"
    level = Level.MEANING
    damages = frozenset({Damage.CONFLICTS})

    def find(self, rows: Rows, asked: Asked) -> Found:
        """O(n) pairs, at most `PARTNERS` a row and slot, and sorts; one parse a row."""
        expected = asked.expected
        cardinality = Cardinality(many=expected.many, single=expected.single)
        findings: dict[tuple[int, int], Finding] = {}
        undecided: list[tuple[int, int, str]] = []
        doubtful: list[tuple[int, int, str]] = []
        pairs = _Pairs(rows, asked)
        for one, other, why in pairs.suspects():
            if not rows.together(one, other):
                continue
            first, second = facts_of_row(rows, one), facts_of_row(rows, other)
            if rows.slots.get(one) and rows.slots.get(other):
                answer, reason = compare(first[0], second[0], cardinality)
            else:
                answer, reason = verdict(rows.text(one), rows.text(other), first, second, cardinality)
            if answer is Answer.CONFLICT:
                findings[one, other] = self._conflict(rows, one, other, reason, why)
            elif answer is Answer.JUDGE and why not in (_DENIED, _RULED_OUT):
                undecided.append((one, other, reason))
            elif (one, other) in pairs.ruling_out and answer is not Answer.SAME and reason != DISJOINT:
                doubtful.append((one, other, "one rules out what the other may say in its own words"))
        told, left_out = self._judged(rows, asked, [*undecided, *doubtful])
        if asked.expected.judge is None and pairs.excluding:
            ruling = counted(pairs.excluding, "statement")
            left_out += (f"{ruling} ruling something out: a judge sees what it is",)
        if pairs.unread:
            unread = counted(pairs.unread, "statement")
            left_out += (f"{unread} in which rules see no fact: a slot would tell it",)
        findings |= told
        return Found(findings=tuple(findings[pair] for pair in sorted(findings)), left_out=left_out)

    def _conflict(self, rows: Rows, one: int, other: int, reason: str, found_by: str) -> Finding:
        given = one in rows.slots and other in rows.slots
        return about(
            self,
            rows,
            [one, other],
            "conflict",
            f"they contradict: {reason}",
            confidence=_RULED.get(reason, 0.9) if not given else max(0.95, _RULED.get(reason, 0.9)),
            measured={"reason": reason, "found_by": found_by, "slot_given": given},
        )

    def _judged(
        self, rows: Rows, asked: Asked, undecided: list[tuple[int, int, str]]
    ) -> tuple[dict[tuple[int, int], Finding], tuple[str, ...]]:
        """A bounded queue; what nobody decides is for a person, and both stay."""
        most = asked.expected.judgements
        findings: dict[tuple[int, int], Finding] = {}
        for one, other, reason in undecided[:most]:
            answer = _decided(rows, asked, one, other)
            if answer is Answer.CONFLICT:
                findings[one, other] = self._conflict(rows, one, other, "the judge says so", "judge")
            elif answer is Answer.JUDGE:
                findings[one, other] = about(
                    self,
                    rows,
                    [one, other],
                    "conflict_undecided",
                    f"rules cannot tell whether they contradict: {reason}",
                    confidence=0.5,
                    measured={"reason": reason, "proposal": "pending_review"},
                )
        more = len(undecided) - most
        return findings, (f"{counted(more, 'pair')} that rules cannot decide",) if more > 0 else ()


def _decided(rows: Rows, asked: Asked, one: int, other: int) -> Answer:
    judge = asked.expected.judge
    if judge is None:
        return Answer.JUDGE
    try:
        said: object = judge.decide(rows.text(one), rows.text(other))
    except Exception as error:  # noqa: BLE001 - other people's code, often over a network; it is told
        logger.warning("the judge has raised %s; a person is asked instead", type(error).__name__)
        return Answer.JUDGE
    return said if isinstance(said, Answer) else Answer.JUDGE


class _Pairs:
    """Which rows are worth comparing: by slot, by the words that one denies, by an announced change."""

    def __init__(self, rows: Rows, asked: Asked) -> None:
        self._rows = rows
        self._asked = asked
        self.unread = 0
        self.excluding = 0
        self.ruling_out: set[tuple[int, int]] = set()

    def suspects(self) -> Iterator[tuple[int, int, str]]:
        """(older, newer, found by), each pair once, in the order of the newer."""
        found: dict[tuple[int, int], str] = {}
        for why, groups, most in self._groups():
            for group in groups:
                for place, newer in enumerate(group):
                    for older in group[max(0, place - most) : place]:
                        if self._asked.wants(newer) or self._asked.wants(older):
                            found.setdefault((older, newer), why)
        for older, newer in self._changes():
            found.setdefault((older, newer), "an announced change")
        # Only a judge is asked about them: to flag what is sound for a person would cost more than it finds.
        if self._asked.expected.judge is not None:
            self.ruling_out.update(self._exclusions())
            for pair in self.ruling_out:
                found.setdefault(pair, _RULED_OUT)
        for (older, newer), why in sorted(found.items(), key=lambda pair: (pair[0][1], pair[0][0])):
            yield older, newer, why

    def _groups(self) -> Iterator[tuple[str, Iterator[list[int]], int]]:
        slots, slot_rows, words, word_rows = [], [], [], []
        self._speaker: dict[int, list[int]] = defaultdict(list)
        self._announcing: list[tuple[int, int]] = []
        self._of_others: list[tuple[int, int]] = []
        self._ruling_out: set[int] = set()
        rows = self._rows
        served = np.flatnonzero(rows.remembered).tolist()
        for place, row in enumerate(served):
            text = rows.text(row)
            if row not in rows.slots and (not text.strip() or len(text) > LONGEST_TEXT or is_record(text)):
                continue
            salt = int(rows.survey.scope[row])
            said = facts_of_row(rows, row)
            for key in {_hashed(salt, *slot_of(fact)) for fact in said}:
                slots.append(key)
                slot_rows.append(row)
            if not said:
                self.unread += self._asked.wants(row)
                words.append(_hashed(salt, bare(text)[0]))
                word_rows.append(row)
            self._note_change(row, text, said, salt)
            if not place % 4096:
                self._asked.progress("statements", place, len(served))
        yield "slot", self._by_key(slots, slot_rows), PARTNERS
        yield _DENIED, self._by_key(words, word_rows), PARTNERS

    def _by_key(self, keys: list[int], members: list[int]) -> Iterator[list[int]]:
        """Rows of one key, oldest statement first."""
        key, row = np.array(keys, np.uint64), np.array(members, np.int64)
        order = np.lexsort((row, self._rows.survey.updated[row], key))
        key, row = key[order], row[order]
        for run in np.split(row, np.flatnonzero(key[1:] != key[:-1]) + 1):
            if len(run) > 1:
                yield run.tolist()

    def _note_change(self, row: int, text: str, said: tuple[Fact, ...], salt: int) -> None:
        if row in self._rows.slots:
            return
        speaks = speaks_of_the_user(text)
        if speaks:
            self._speaker[salt].append(row)
            if len(text) <= LONGEST_CLAUSE and excludes(text):
                self._ruling_out.add(row)
                self.excluding += self._asked.wants(row)
        # What the rules understand whole has its slot, and is compared there.
        if len(text) <= LONGEST_CLAUSE and not any(fact.whole for fact in said) and announces(text):
            (self._announcing if speaks else self._of_others).append((salt, row))

    def _changes(self) -> Iterator[tuple[int, int]]:
        """(older, newer): an announced change, and the newest before it that it may be about."""
        speakers = {salt: self._in_order(rows) for salt, rows in self._speaker.items()}
        yield from self._before(self._announcing, speakers, lambda row, older: older[-NEAREST:])
        salts = np.unique([salt for salt, _ in self._of_others])
        scope = self._rows.survey.scope
        about = np.flatnonzero(self._rows.remembered & np.isin(scope, salts))
        members: defaultdict[int, list[int]] = defaultdict(list)
        for row in about.tolist():
            members[int(scope[row])].append(row)
        everybody = {salt: self._in_order(rows) for salt, rows in members.items()}
        yield from self._before(self._of_others, everybody, self._sharing)

    def _exclusions(self) -> Iterator[tuple[int, int]]:
        """(older, newer) of one speaker, of whom one rules something out; at most `NEAREST` a newer."""
        for rows in self._speaker.values():
            said: deque[int] = deque(maxlen=NEAREST)
            ruled: deque[int] = deque(maxlen=NEAREST)
            for row in self._in_order(rows):
                for older in said if row in self._ruling_out else ruled:
                    if self._asked.wants(row) or self._asked.wants(older):
                        yield older, row
                said.append(row)
                if row in self._ruling_out:
                    ruled.append(row)

    def _in_order(self, rows: list[int]) -> list[int]:
        updated = self._rows.survey.updated
        return sorted(rows, key=lambda row: (int(updated[row]), row))

    def _before(
        self,
        announcing: list[tuple[int, int]],
        order: Mapping[int, list[int]],
        nearest: Callable[[int, list[int]], list[int]],
    ) -> Iterator[tuple[int, int]]:
        places = {row: place for rows in order.values() for place, row in enumerate(rows)}
        for salt, row in announcing:
            place = places[row]
            for older in nearest(row, order[salt][max(0, place - LOOK_BACK) : place]):
                if self._asked.wants(row) or self._asked.wants(older):
                    yield older, row

    def _sharing(self, row: int, older: list[int]) -> list[int]:
        """The newest few that share more than one word with a row."""
        said = content(cleaned(self._rows.text(row)))
        shared = [
            one
            for one in older
            if len(text := self._rows.text(one)) <= LONGEST_CLAUSE and len(content(cleaned(text)) & said) > 1
        ]
        return shared[-NEAREST:]


def _hashed(*parts: object) -> int:
    return int.from_bytes(
        blake2b(repr(parts).encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little"
    )
