"""Operators at fault: some steps fail, some cost more than anybody foresaw; which ones is drawn by key."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256

from memorepair.errors import StepFailed
from memorepair.repair.assignment import OperatorTable
from memorepair.repair.modes import Mode
from memorepair.repair.operators.operator import Call, Made, Operator

FAILING = 0.1
DEAR = 0.2
_TIMES = 3
_CHARACTERS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Faulty:
    """An operator whose runs fail or turn out dear, the same ones in every run of the bench with one draw."""

    inner: Operator
    draw: int

    @property
    def name(self) -> str:
        """That of the operator inside."""
        return self.inner.name

    @property
    def version(self) -> str:
        """That of the operator inside."""
        return self.inner.version

    @property
    def mode(self) -> Mode:
        """That of the operator inside."""
        return self.inner.mode

    @property
    def deterministic(self) -> bool:
        """That of the operator inside."""
        return self.inner.deterministic

    @property
    def reads_own_version(self) -> bool:
        """That of the operator inside."""
        return self.inner.reads_own_version

    def make(self, call: Call) -> Made:
        """What the operator inside makes; `cost` in tokens read and written, thrice where it is dear."""
        luck = int.from_bytes(sha256(f"{self.draw} {call.key}".encode()).digest()[:4]) / 2**32
        if luck < FAILING:
            raise StepFailed("the tool does not answer", witness=call.key)
        made = self.inner.make(call)
        size = sum(len(source.content) for source in call.inputs) + len(made.content)
        share = 0.25 if self.mode is Mode.RECOMPUTE else 1.0
        cost = share * size / _CHARACTERS_PER_TOKEN
        return Made(content=made.content, cites=made.cites, cost=cost * _TIMES if luck > 1 - DEAR else cost)


@dataclass(frozen=True, slots=True)
class FaultyTable:
    """Operators as another table has them, at fault."""

    inner: OperatorTable
    draw: int = 0

    def get(self, reference: str, /) -> Operator | None:
        """The operator at fault, None where nobody has it."""
        found = self.inner.get(reference)
        return None if found is None else Faulty(found, self.draw)
