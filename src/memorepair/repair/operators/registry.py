"""Operators by reference: `name@version`, or the bare name for the one registered last."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import EntryPoint, entry_points
from typing import Self

from memorepair.errors import InvalidInput
from memorepair.repair.operators.chain import ChainRewrite
from memorepair.repair.operators.closedform import NaiveBayes, NearestCentroid, Ridge
from memorepair.repair.operators.operator import Operator
from memorepair.repair.operators.regen import ExtractiveSummariser, Generator, RegenOperator
from memorepair.repair.operators.shards import ShardedSoftmax

GROUP = "memorepair.operators"
"""Entry point group: each entry loads to an iterable of operators."""


def reference(operator: Operator) -> str:
    """`name@version`."""
    return f"{operator.name}@{operator.version}"


class Operators:
    """The operators a repair may call.

    What is not registered is looked up in the installed entry points of the group ``memorepair.operators``,
    loaded only when first asked for: the entry point ``tau-bench`` serves ``tau-bench`` and every name
    ``tau-bench.*``.
    """

    def __init__(self, operators: Iterable[Operator] = ()) -> None:
        self._by_reference: dict[str, Operator] = {}
        self._newest: dict[str, Operator] = {}
        self._installed: tuple[EntryPoint, ...] | None = None
        for operator in operators:
            self.register(operator)

    @classmethod
    def default(cls, generator: Generator | None = None) -> Self:
        """The operators that come with the package; `generator` writes, the extractive one unless given."""
        writer = generator or ExtractiveSummariser()
        return cls(
            [
                RegenOperator(name="summarise", generator=writer),
                RegenOperator(name="prompt-skill", generator=writer),
                ChainRewrite(),
                Ridge(),
                NaiveBayes(),
                NearestCentroid(),
                ShardedSoftmax(),
            ]
        )

    def register(self, operator: Operator) -> None:
        """Add an operator.

        Raises
        ------
        InvalidInput
            Its name or version is empty or holds an ``@``, it is no operator, or one of this reference is
            there.
        """
        given: object = operator
        if not isinstance(given, Operator):
            kind = type(operator).__name__
            raise InvalidInput(
                f"what is registered is an Operator, not of type {kind}; see `operator(name=...)`",
                witness=kind,
            )
        for part in (operator.name, operator.version):
            if not isinstance(part, str) or not part or "@" in part or not part.isprintable():
                raise InvalidInput("an operator's name or version is printable text without @", witness=part)
        name = reference(operator)
        if name in self._by_reference:
            raise InvalidInput(f"operator {name} is registered twice", witness=name)
        self._by_reference[name] = operator
        self._newest[operator.name] = operator

    def get(self, reference: str) -> Operator | None:
        """The operator of this reference, None where nobody has it."""
        name, versioned, _ = reference.partition("@")
        table = self._by_reference if versioned else self._newest
        if reference not in table:
            self._load(name)
        return table.get(reference)

    def _load(self, name: str) -> None:
        # Looked for once: what is installed is read from files, and a plan may ask for one name per member.
        if self._installed is None:
            self._installed = tuple(entry_points(group=GROUP))
        serving = [
            entry for entry in self._installed if name == entry.name or name.startswith(f"{entry.name}.")
        ]
        for entry in serving:
            # To load it is to run other people's code. One that fails stays: it is told each time, not once.
            try:
                loaded = [*entry.load()]
            except Exception as error:
                told = f"the operators of {entry.name} cannot be loaded"
                raise InvalidInput(told, witness=entry.value) from error
            for operator in loaded:
                self.register(operator)
            self._installed = tuple(one for one in self._installed if one != entry)
