"""Dry run: a chain procedure runs in the sandbox against the interfaces in force."""

from __future__ import annotations

from memorepair.errors import InvalidInput
from memorepair.graphs.terms import Arch
from memorepair.repair.checks.check import Check, Context, Word
from memorepair.repair.jsontext import parse
from memorepair.repair.operators.contracts import interfaces_of, read_contracts
from memorepair.repair.operators.procedures import read_procedure
from memorepair.repair.sandbox import dry_run


def _applies(context: Context) -> bool:
    return context.arch is Arch.CHAIN


def _judge(context: Context) -> tuple[Word, str]:
    try:
        procedure = read_procedure(parse(context.made.content))
        contracts = read_contracts(interfaces_of(context.call))
        run = dry_run(procedure, contracts)
    except InvalidInput as error:
        return Word.FAIL, str(error)
    if run.violation is not None:
        return Word.FAIL, run.violation
    return Word.PASS, f"{run.passed} steps run"


DRY_RUN = Check(name="dry-run", applies=_applies, judge=_judge)
