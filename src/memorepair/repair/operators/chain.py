"""Rewrite of a chain procedure: what carries one to a new interface."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter

from memorepair.errors import InvalidInput, StepFailed
from memorepair.memory.artifact import Json
from memorepair.repair.jsontext import parse
from memorepair.repair.modes import Mode
from memorepair.repair.operators.contracts import Contract, Entry, interfaces_of, read_contracts
from memorepair.repair.operators.operator import Call, Made
from memorepair.repair.operators.procedures import (
    PLACEHOLDER,
    Procedure,
    Step,
    map_texts,
    read_procedure,
    written,
)


def adapt(procedure: Procedure, contracts: Mapping[str, Contract], *, old_words: bool) -> Procedure:
    """Carry a procedure to the contracts.

    Tools, arguments and outputs get their new names, a step of a tool that was split becomes one step a part,
    what was dropped goes, missing defaults are filled in, references follow.

    Parameters
    ----------
    old_words
        The procedure is known to be written for the interface before; then a name that old and new interface
        both use is translated too (two tools may have swapped names). Otherwise only names the contracts do
        not have are translated, and adapting twice is adapting once.

    Raises
    ------
    InvalidInput
        Two names of the contracts were renamed from the same one, a tool was renamed and split as well, or
        the parts of one supply each other in a circle.
    StepFailed
        A step, or the result, uses an output that was dropped; two names of a step would become one; a
        default would be read as a template.

    No message quotes the procedure: it names what the contracts hold, and counts the steps.

    Notes
    -----
    Linear in the procedure and, for each step, in the contracts of its tool.
    """
    tools = _new_names({name: one.renamed_from for name, one in contracts.items()}, old_words=old_words)
    splits = _splits(contracts, tools, old_words=old_words)
    references = _References()
    taken = {*procedure.inputs, *(step.name for step in procedure.steps)}
    steps: list[Step] = []
    for number, step in enumerate(procedure.steps, start=1):
        parts = [
            _part(tool, contracts, old_words=old_words)
            for tool in splits.get(step.tool) or [tools.get(step.tool, step.tool)]
        ]
        # A part of a split may say that it has dropped what another part takes or gives.
        dropped = {name for part in parts for name in part.dropped_arguments}
        given = {
            name: references.follow(value, f"step {number}")
            for name, value in step.arguments.items()
            if name not in dropped or any(part.takes(name) for part in parts)
        }
        gone = {
            name
            for part in parts
            for name in part.dropped_outputs
            if not any(other.gives(name) for other in parts)
        }
        references.gone |= {(step.name, name): number for name in step.outputs if name in gone}
        outputs = [name for name in step.outputs if name not in gone]
        made = _divided(step.name, number, parts, given, outputs, taken)
        for one, renamed in made:
            steps.append(one)
            references.moved |= {(step.name, old): (one.name, new) for old, new in renamed.items()}
    result = references.follow(procedure.result, "the result")
    return Procedure(inputs=procedure.inputs, steps=tuple(steps), result=result)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """A tool that a step is to call; what had other names before, and what is dropped."""

    tool: str
    contract: Contract | None
    arguments: Mapping[str, str]
    outputs: Mapping[str, str]
    dropped_arguments: frozenset[str]
    dropped_outputs: frozenset[str]

    def takes(self, name: str) -> bool:
        """Whether it takes an argument that had this name."""
        if self.contract is None or name in self.dropped_arguments:
            return self.contract is None
        return self.arguments.get(name, name) in self.contract.arguments

    def gives(self, name: str) -> bool | None:
        """Whether it gives an output that had this name; None where its contract does not say."""
        known = None if self.contract is None else self.contract.outputs
        if name in self.dropped_outputs:
            return False
        return None if known is None else self.outputs.get(name, name) in known

    def supplied(self, given: Sequence[str]) -> dict[str, tuple[str, str]]:
        """Arguments that another part supplies, where the step does not give them."""
        entries: Mapping[str, Entry] = {} if self.contract is None else self.contract.arguments
        have = {self.arguments.get(name, name) for name in given}
        return {
            name: entry.supplied_by
            for name, entry in entries.items()
            if entry.supplied_by is not None and name not in have
        }


def _part(tool: str, contracts: Mapping[str, Contract], *, old_words: bool) -> _Part:
    contract = contracts.get(tool)
    arguments = {} if contract is None else contract.arguments
    outputs = {} if contract is None or contract.outputs is None else contract.outputs
    dropped = ((), ()) if contract is None else (contract.dropped_arguments, contract.dropped_outputs)
    return _Part(
        tool=tool,
        contract=contract,
        arguments=_new_names(
            {name: one.renamed_from for name, one in arguments.items()}, old_words=old_words
        ),
        outputs=_new_names({name: one.renamed_from for name, one in outputs.items()}, old_words=old_words),
        dropped_arguments=frozenset(name for name in dropped[0] if old_words or name not in arguments),
        dropped_outputs=frozenset(name for name in dropped[1] if old_words or name not in outputs),
    )


def _divided(
    name: str,
    number: int,
    parts: Sequence[_Part],
    given: Mapping[str, Json],
    outputs: Sequence[str],
    taken: set[str],
) -> list[tuple[Step, dict[str, str]]]:
    """The steps that call the parts in place of one, each with its outputs: name before -> name now."""
    takers = {one: [part.tool for part in parts if part.takes(one)] or [parts[0].tool] for one in given}
    owner = {one: _owner(one, parts) for one in outputs}
    # A part is called for what it alone can do; where nothing tells the parts apart, all are.
    wanted = {*owner.values(), *(tools[0] for tools in takers.values() if len(tools) == 1)}
    called = _in_order(parts, wanted or {part.tool for part in parts}, list(given))
    step_of: dict[str, str] = {}
    for part in called:
        step_of[part.tool] = _free(f"{name}-{part.tool}", taken) if step_of else name
        taken.add(step_of[part.tool])
    # A step that calls one part itself, of a tool that was split before, has nobody to be supplied by.
    supplied = {
        part.tool: part.supplied([one for one in given if part.tool in takers[one]])
        for part in called
        if len(parts) > 1
    }
    asked = [source for sources in supplied.values() for source in sources.values()]
    made = []
    for part in called:
        named = _named([one for one in given if part.tool in takers[one]], part.arguments, number)
        arguments = {new: given[old] for old, new in named.items()}
        for argument, (tool, output) in supplied.get(part.tool, {}).items():
            arguments[argument] = f"{{{step_of[tool]}.{output}}}"
        for argument, entry in ({} if part.contract is None else part.contract.arguments).items():
            if entry.fills and argument not in arguments:
                arguments[argument] = _literal(entry.default, argument)
        renamed = _named([one for one in outputs if owner[one] == part.tool], part.outputs, number)
        gives = dict.fromkeys([*renamed.values(), *(output for tool, output in asked if tool == part.tool)])
        step = Step(name=step_of[part.tool], tool=part.tool, arguments=arguments, outputs=tuple(gives))
        made.append((step, renamed))
    return made


def _named(names: Sequence[str], new: Mapping[str, str], number: int) -> dict[str, str]:
    """Name before -> name now, of what one step gives or takes: no two become one."""
    now = {name: new.get(name, name) for name in names}
    for twice, times in Counter(now.values()).items():
        if times > 1:
            raise StepFailed(f"step {number} has two names that would both be {twice}", witness=twice)
    return now


def _literal(default: Json, argument: str) -> Json:
    """The default, which must mean itself as a template."""

    def plain(text: str) -> str:
        if PLACEHOLDER.search(text):
            raise StepFailed(f"the default of {argument} would be read as a reference", witness=argument)
        return text

    return map_texts(default, plain)


def _owner(output: str, parts: Sequence[_Part]) -> str:
    """The first part that gives an output, or might; the first of all where none does."""
    sure = [part.tool for part in parts if part.gives(output)]
    return (sure or [part.tool for part in parts if part.gives(output) is None] or [parts[0].tool])[0]


def _in_order(parts: Sequence[_Part], wanted: set[str], given: Sequence[str]) -> list[_Part]:
    """The parts wanted with those that supply them, suppliers first."""
    if len(parts) == 1:  # only what was split has parts that supply each other
        return list(parts)
    by_tool = {part.tool: part for part in parts}
    order: TopologicalSorter[str] = TopologicalSorter()
    unvisited = [part.tool for part in reversed(parts) if part.tool in wanted]
    seen = set(unvisited)
    while unvisited:
        tool = unvisited.pop()
        part = by_tool[tool]
        suppliers = [
            source for source, _ in part.supplied([one for one in given if part.takes(one)]).values()
        ]
        for source in suppliers:
            if source not in by_tool:
                raise InvalidInput(f"{tool} is supplied by {source}, which is no part of it", witness=source)
        order.add(tool, *suppliers)
        unvisited += [source for source in suppliers if source not in seen]
        seen.update(suppliers)
    try:
        return [by_tool[tool] for tool in order.static_order()]
    except CycleError as error:
        raise InvalidInput("parts of a tool supply each other in a circle", witness=error.args[1]) from error


def _free(name: str, taken: set[str]) -> str:
    number = 2
    free = name
    while free in taken:
        free = f"{name}-{number}"
        number += 1
    return free


def _new_names(former: Mapping[str, str | None], *, old_words: bool) -> dict[str, str]:
    """Old name -> new name: of every renamed one with `old_words`, else only where the old name is gone."""
    new: dict[str, str] = {}
    for name, old in former.items():
        if old is None or (not old_words and old in former):
            continue
        if old in new:
            raise InvalidInput(f"both {new[old]} and {name} were renamed from {old}", witness=old)
        new[old] = name
    return new


def _splits(
    contracts: Mapping[str, Contract], renamed: Mapping[str, str], *, old_words: bool
) -> dict[str, list[str]]:
    """Old tool -> its parts, where it was split."""
    parts: dict[str, list[str]] = {}
    for name, contract in contracts.items():
        old = contract.split_from
        if old is not None and (old_words or old not in contracts):
            parts.setdefault(old, []).append(name)
    both = next((old for old in parts if old in renamed), None)
    if both is not None:
        raise InvalidInput(f"{both} was renamed to {renamed[both]} and split as well", witness=both)
    return parts


@dataclass(slots=True)
class _References:
    """What became of the outputs so far.

    `moved`: (step, output) -> where it is now; `gone`: a dropped one -> the number of its step.
    """

    moved: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)
    gone: dict[tuple[str, str], int] = field(default_factory=dict)

    def follow(self, template: Json, place: str) -> Json:
        """The template with its references to outputs led to where they are now."""

        def one(match: re.Match[str]) -> str:
            step, _, output = match[1].partition(".")
            if (step, output) in self.gone:
                number = self.gone[step, output]
                raise StepFailed(f"{place} uses an output of step {number} that was dropped", witness=number)
            moved = self.moved.get((step, output))
            return match[0] if moved is None else f"{{{moved[0]}.{moved[1]}}}"

        return map_texts(template, lambda text: PLACEHOLDER.sub(one, text))


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainRewrite:
    """Carries a chain procedure to the interfaces in force, by what they say was renamed or added.

    In a migration it rewrites the version before (`Call.own`), written in the old interface's words. After
    any other event the procedure is made again from the steps stored in the recipe's `procedure` param,
    adapted to the interfaces among the inputs where it names what they no longer have. A text that needs no
    change is returned as it is.
    """

    name: str = "rewrite-chain"
    version: str = "1"
    mode: Mode = field(default=Mode.REGEN, init=False)
    deterministic: bool = field(default=True, init=False)
    reads_own_version: bool = field(default=True, init=False)

    def make(self, call: Call) -> Made:
        """The procedure for the interfaces in force.

        Raises
        ------
        StepFailed
            There is no version to rewrite, and the recipe stores no steps; an interface is malformed, or the
            procedure cannot be carried to it.
        InvalidInput
            The procedure is malformed.
        """
        if call.own is not None:
            before = parse(call.own)
        elif "procedure" in call.params:
            before = call.params["procedure"]
        else:
            raise StepFailed("the recipe stores no procedure to make the chain from", witness=call.key)
        procedure = read_procedure(before)
        try:
            after = procedure
            if call.own is not None:
                after = adapt(after, read_contracts(call.interfaces.values()), old_words=True)
            after = adapt(after, read_contracts(interfaces_of(call)), old_words=False)
        except (InvalidInput, StepFailed) as error:
            # Those messages name what the interfaces hold, and count the steps; none quotes the procedure.
            raise StepFailed(error.message, witness=error.witness, quotes_own=False) from error
        if call.own is not None and after == procedure:
            return Made(content=call.own)
        return Made(content=written(after))
