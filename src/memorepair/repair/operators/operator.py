"""The operator port: what can make a successor, and what it is given to make it from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, Self, runtime_checkable

from memorepair.graphs.terms import Kind, Relation
from memorepair.memory.artifact import Artifact, Json, Key
from memorepair.repair.modes import Mode


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """One input as the operator sees it: retained, freshly replaced, or repaired; never withdrawn text."""

    key: Key
    version: int
    kind: Kind
    relation: Relation
    content: str

    @classmethod
    def of(cls, artifact: Artifact, relation: Relation = Relation.DERIVE) -> Self:
        """A served artifact as an operator would see it: what one trains or makes a first version from."""
        return cls(
            key=artifact.key,
            version=artifact.version,
            kind=artifact.kind,
            relation=relation,
            content=artifact.content,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """Everything an operator may look at.

    Attributes
    ----------
    key
        The artifact to repair.
    inputs
        In the order in which they were read when the artifact was written, each once.
    params
        Of the recipe.
    interfaces
        kappa_e: old interface -> content of the one that supersedes it, of those that the artifact stands on
        (empty unless the event migrates).
    own
        The before-image of the artifact itself, where `may_read_own` holds, else None.
    schema
        JSON Schema that the content has to satisfy; None where the recipe has none.
    """

    key: Key
    inputs: tuple[Input, ...]
    params: Mapping[str, Json]
    interfaces: Mapping[Key, str]
    own: str | None
    schema: Mapping[str, Json] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """What an operator returns.

    `cost` is in the unit of the candidates' costs (tokens by default); None leaves it to the price list.
    `cites` are the inputs the content stands on; None means all of them.
    """

    content: str
    cost: float | None = None
    cites: tuple[Key, ...] | None = None


@runtime_checkable
class Operator(Protocol):
    """pi_i. `name@version` identifies it; equal inputs give equal content where `deterministic`."""

    @property
    def name(self) -> str: ...
    @property
    def version(self) -> str: ...
    @property
    def mode(self) -> Mode: ...
    @property
    def deterministic(self) -> bool: ...
    @property
    def reads_own_version(self) -> bool: ...

    def make(self, call: Call) -> Made:
        """Make the successor's content; raise StepFailed when it cannot."""
        ...


def may_read_own(operator: Operator, mode: Mode, *, migrates: bool) -> bool:
    """Whether it is given the version that it is to replace.

    It declares so, and carries it to a new interface, or makes a model forget: never text from what was
    deleted or corrected.
    """
    return operator.reads_own_version and (migrates or mode is Mode.PARAM)
