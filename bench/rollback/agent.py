"""The agent: deterministic reasoning that uses what it reads; a claim, a plan, an answer is a model call."""

from __future__ import annotations

from collections.abc import Mapping

from bench.rollback.worlds import Errand
from memorepair.errors import UnknownId, Withdrawn
from memorepair.memory.artifact import Key
from memorepair.recovery import Recorder, Step, Tool
from memorepair.repair.jsontext import parse


def fact_id(fact: str) -> str:
    """The id of the memory that states a fact."""
    return f"fact {fact}"


def stated(text: str, fact: str) -> tuple[str, str] | None:
    """(date, value) that a memory states for a fact, None where it does not.

    Memories read ``2026-01-03; colour: navy; seat: aisle``.
    """
    date, *lines = text.split("; ")
    for line in lines:
        name, mark, value = line.partition(": ")
        if mark and name == fact:
            return date, value
    return None


def statements(text: str) -> list[tuple[str, str]]:
    """Every (attribute, value) that a memory states, raw records too."""
    _, *lines = text.split("; ")
    pairs = []
    for line in lines:
        name, mark, value = line.partition(": ")
        if not mark:
            name, mark, value = line.removeprefix("my ").partition(" is ")
        if mark:
            pairs.append((name, value))
    return pairs


class Agent:
    """Does a list of errands for a user, and answers with one line for each.

    Parameters
    ----------
    subject
        The user's name, the subject of facets.
    errands
        In order.
    tools
        The world's.
    summaries
        Fact -> the id of the summary that has it.
    remembers
        Whether it keeps what it found, for later.
    """

    def __init__(
        self,
        subject: str,
        errands: tuple[Errand, ...],
        tools: Mapping[str, Tool],
        summaries: Mapping[str, str],
        *,
        remembers: bool = True,
    ) -> None:
        self._subject = subject
        self._errands = errands
        self._tools = tools
        self._summaries = summaries
        self._remembers = remembers

    def __call__(self, run: Recorder) -> None:
        wish = run.input("please do all of it and tell me what you chose", id="wish")
        known: dict[str, Step] = {}
        chosen = [self._do(run, errand, known, wish) for errand in self._errands]
        run.answer(lambda: "; ".join(step.content for step in chosen), uses=[wish, *chosen], id="answer")

    def _do(self, run: Recorder, errand: Errand, known: dict[str, Step], wish: Step) -> Step:
        for fact in errand.facts:
            if fact not in known:
                known[fact] = know(run, self._subject, fact, self._summaries)
        filters = {column: known[fact] for column, fact in errand.by.items()}
        plan = run.plan(
            lambda: f"search {errand.table} for {', '.join(value_of(step) for step in filters.values())}",
            uses=[wish, *filters.values()],
            id=f"plan {errand.table}",
        )
        found = run.call(
            self._tools["search"],
            plan=plan,
            uses=list(filters.values()),
            id=f"search {errand.table}",
            table=errand.table,
            where={column: value_of(step) for column, step in filters.items()},
        )
        best = run.claim(
            lambda: f"best {errand.table} is {_cheapest(found)}",
            uses=[found],
            facet=(self._subject, f"best {errand.table}"),
            id=f"best {errand.table}",
        )
        outcome = best if errand.to is None else self._order(run, errand, best, known[errand.to])
        if self._remembers:
            run.remember(
                lambda: f"2026-06-01; last {errand.table}: {value_of(best)}",
                uses=[best],
                id=f"last {errand.table}",
            )
        return outcome

    def _order(self, run: Recorder, errand: Errand, best: Step, to: Step) -> Step:
        plan = run.plan(
            lambda: f"order {value_of(best)} to {value_of(to)}",
            uses=[best, to],
            id=f"plan order {errand.table}",
        )
        return run.call(
            self._tools["order"],
            plan=plan,
            uses=[best, to],
            id=f"order {errand.table}",
            table=errand.table,
            item=value_of(best),
            to=value_of(to),
        )


def know(run: Recorder, subject: str, fact: str, summaries: Mapping[str, str]) -> Step:
    """A claim on all that says the same; where memories differ, on the newest; else on what was said."""
    seen: list[tuple[tuple[str, str], Step]] = []
    for id in (summaries[fact], fact_id(fact)):
        step = _read(run, id, fact)
        if step is not None and (says := stated(step.content, fact)) is not None:
            seen.append((says, step))
    if not seen:
        # A search finds words anywhere: "turn 2" in what was said of turn 20 as well.
        found = run.recall(f"my {fact} is", limit=50)
        heard = [step for step in found if f"my {fact} is " in step.content]
        dated = [((step.content[:10], value_of(step)), step) for step in heard]
        seen = sorted(dated, key=lambda one: one[0])[-1:]
    if not seen:
        return run.claim(f"{fact} is unknown", id=f"know {fact}", facet=(subject, fact, "unknown"))
    value = max(seen, key=lambda one: one[0][0])[0][1]
    agreeing = [[step] for (_, says), step in seen if says == value]
    return run.claim(
        lambda: f"{fact} is {value}", uses=agreeing, facet=(subject, fact, value), id=f"know {fact}"
    )


def _read(run: Recorder, id: str, fact: str) -> Step | None:
    try:
        return run.read(Key(run.scope, id), id=f"read {id} for {fact}")
    except (UnknownId, Withdrawn):
        return None


def value_of(step: Step) -> str:
    """What a claim, or a raw record, says that something is."""
    return step.content.rpartition(" is ")[2]


def _cheapest(found: Step) -> str:
    rows = parse(found.content)
    if not isinstance(rows, list) or not rows:
        return "nothing"
    prices = [(row["price"], row["item"]) for row in rows if isinstance(row, dict)]
    return str(min(prices)[1])
