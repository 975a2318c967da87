"""Params: no withdrawn content in what an operator is told besides its inputs."""

from __future__ import annotations

from memorepair.memory.artifact import Json
from memorepair.repair.checks.check import Check, Given, Word
from memorepair.repair.checks.marks import field_runs, marked, recognised
from memorepair.repair.events import EventKind


def _applies(given: Given) -> bool:
    # A migration withdraws no statement: params in the old interface's words are what operators carry over.
    return given.event is not EventKind.MIGRATE and bool(_told(given))


def _told(given: Given) -> dict[str, Json]:
    schema = given.call.schema
    return {**given.call.params, **({} if schema is None else {"schema": dict(schema)})}


def _judge(given: Given) -> tuple[Word, str]:
    given_away = recognised(
        field_runs(_told(given)),
        [given.root_marks, marked(given.parent_texts)],
        [*(source.content for source in given.call.inputs), *given.fresh],
    )
    if given_away:
        return Word.FAIL, f"params rest on what was withdrawn ({given_away[0]})"
    return Word.PASS, f"nothing of the roots and {len(given.parent_texts)} parents"


PARAMS: Check[Given] = Check(name="params", applies=_applies, judge=_judge)
