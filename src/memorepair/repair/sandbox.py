"""Dry run of a chain procedure against the interfaces in force, with stub tools that touch nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from memorepair.errors import InvalidInput
from memorepair.memory.artifact import Json
from memorepair.repair.checks.schema import violation
from memorepair.repair.jsontext import canonical
from memorepair.repair.operators.contracts import Contract
from memorepair.repair.operators.procedures import PLACEHOLDER, Procedure, map_texts


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxLimits:
    """What a dry run may use.

    `steps` is the most tool calls, `output` the most characters of arguments and results together, `budget`
    the most work: one unit a call and one a reference resolved. No clock, so that a verdict never depends on
    the machine.
    """

    steps: int = 100
    output: int = 100_000
    budget: int = 1_000

    def __post_init__(self) -> None:
        if min(self.steps, self.output, self.budget) < 1:
            raise InvalidInput("a sandbox limit is at least 1", witness=self)


@dataclass(frozen=True, slots=True, kw_only=True)
class DryRun:
    """How far the run came: steps that passed, and the first violation, None where there is none.

    A violation quotes nothing of the procedure, which may be made of what was withdrawn: it tells the place,
    counted from 1, and names only what the interfaces hold.
    """

    passed: int
    violation: str | None


class _Violation(Exception):
    pass


def _check(template: Json, schema: Mapping[str, Json]) -> None:
    """Refuse an argument that no result of earlier steps can make satisfy its schema.

    One without references is known. Of one with text or structure around them only the type is; of one that
    is a reference and nothing else, nothing.
    """
    if isinstance(template, str) and PLACEHOLDER.fullmatch(template):
        return
    references = 0

    def count(text: str) -> str:
        nonlocal references
        references += len(PLACEHOLDER.findall(text))
        return text

    map_texts(template, count)
    known = schema if not references else {"type": schema["type"]} if "type" in schema else {}
    broken = violation(known, template)
    if broken is not None:
        raise _Violation(f"it breaks its schema: {broken}")


def dry_run(
    procedure: Procedure, contracts: Mapping[str, Contract], limits: SandboxLimits | None = None
) -> DryRun:
    """Run every step with stub tools, in order, until the first violation.

    A step passes when its tool exists, takes every argument given and is given every argument required, each
    reference in its templates names an input or an output of an earlier step, what is known of an argument
    satisfies its schema, and the tool gives every output named.

    Notes
    -----
    Linear in the procedure's text; a stub's result does not grow with its arguments, so neither does the run.
    """
    bounds = limits or SandboxLimits()
    known = {name: f"<{name}>" for name in procedure.inputs}
    spent = 0
    written = 0

    place = ""

    def fill(template: Json) -> Json:
        def resolve(reference: str) -> str:
            nonlocal spent
            spent += 1
            if spent > bounds.budget:
                raise _Violation(f"more than {bounds.budget} units of work")
            if reference not in known:
                raise _Violation("a reference to no input and no output of an earlier step")
            return known[reference]

        return map_texts(template, lambda text: PLACEHOLDER.sub(lambda match: resolve(match[1]), text))

    def account(text: str) -> None:
        nonlocal written
        written += len(text)
        if written > bounds.output:
            raise _Violation(f"more than {bounds.output} characters of arguments and results")

    passed = 0
    try:
        for passed, step in enumerate(procedure.steps):
            here = place = f"step {passed + 1}"
            if passed == bounds.steps:
                raise _Violation(f"more than {bounds.steps} steps")
            spent += 1
            if spent > bounds.budget:
                raise _Violation(f"more than {bounds.budget} units of work")
            contract = contracts.get(step.tool)
            if contract is None:
                raise _Violation("no interface has its tool")
            for number, name in enumerate(step.arguments, start=1):
                if name not in contract.arguments:
                    raise _Violation(f"{step.tool} does not take its argument {number}")
            for name, entry in contract.arguments.items():
                if entry.required and name not in step.arguments:
                    raise _Violation(f"{step.tool} requires the argument {name}")
            filled: dict[str, Json] = {}
            for number, (name, template) in enumerate(step.arguments.items(), start=1):
                place = f"{here}, argument {number}"
                filled[name] = fill(template)
                schema = contract.arguments[name].schema
                if schema is not None:
                    _check(template, schema)
            place = here
            account(canonical(filled))
            for number, output in enumerate(step.outputs, start=1):
                if contract.outputs is not None and output not in contract.outputs:
                    raise _Violation(f"{step.tool} does not give its output {number}")
                known[f"{step.name}.{output}"] = f"<{step.name}.{output}>"
                account(known[f"{step.name}.{output}"])
        passed = len(procedure.steps)
        place = "the result"
        account(canonical(fill(procedure.result)))
    except _Violation as violation:
        return DryRun(passed=passed, violation=f"{place}: {violation}")
    return DryRun(passed=passed, violation=None)
