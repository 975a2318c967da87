"""Regeneration: text written anew from retained sources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from memorepair.errors import InvalidInput, StepFailed
from memorepair.memory.artifact import Json, Key
from memorepair.repair.modes import Mode
from memorepair.repair.operators.operator import Call, Input, Made
from memorepair.repair.operators.sentences import choose, sentences

DEFAULT_CHARACTERS = 600
SLOT = "{sources}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How long the text may become, in characters and in sentences (None: no limit of its own)."""

    characters: int = DEFAULT_CHARACTERS
    sentences: int | None = None

    def __post_init__(self) -> None:
        for limit in (self.characters, self.sentences):
            if limit is not None and limit < 1:
                raise InvalidInput("a limit is at least 1", witness=limit)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a generator is asked: `sources` are retained, fresh or repaired inputs, never withdrawn text.

    `schema` is the JSON Schema that the artifact has to satisfy; None where plain text is wanted.
    """

    instruction: str
    sources: tuple[Input, ...]
    limits: Limits
    schema: Mapping[str, Json] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Generated:
    """What a generator wrote, the sources it stands on, and what it spent (None: unknown).

    `cost` is in the unit of the candidates' costs; where only `tokens` are known, they are the cost.
    """

    text: str
    cites: tuple[Key, ...]
    tokens: int | None = None
    cost: float | None = None


class Generator(Protocol):
    """Writes text from sources; a language model stands behind this port, or the extractive default."""

    def generate(self, request: Request) -> Generated:
        """Write what the instruction asks, from the sources alone, within the limits."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractiveSummariser:
    """Chooses whole sentences of the sources: deterministic, offline, cannot invent.

    Each sentence (English or Chinese) is scored by how central it is among all of them; the best that fit are
    kept in their order, sentences of the same words once. JSON sources read as ``key: value.`` sentences.
    The instruction is not used.
    """

    def generate(self, request: Request) -> Generated:
        """The most central sentences within the limits.

        Raises
        ------
        StepFailed
            The sources hold no sentence, or none fits the limit.
        """
        texts: list[str] = []
        owners: list[Key] = []
        for source in request.sources:
            found = sentences(source.content)
            texts += found
            owners += [source.key] * len(found)
        chosen = choose(texts, request.limits.characters, request.limits.sentences)
        if not chosen:
            empty = tuple(source.key for source in request.sources)
            raise StepFailed("no sentence of the sources fits the limits", witness=empty)
        return Generated(
            text=" ".join(texts[place] for place in chosen),
            cites=tuple(dict.fromkeys(owners[place] for place in chosen)),
        )


def _number(params: Mapping[str, Json], name: str) -> int | None:
    value = params.get(name)
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise StepFailed(f"param {name} is a whole number", witness=name)


def _text(params: Mapping[str, Json], name: str, default: str) -> str:
    value = params.get(name, default)
    if isinstance(value, str):
        return value
    raise StepFailed(f"param {name} is a text", witness=name)


@dataclass(frozen=True, slots=True, kw_only=True)
class RegenOperator:
    """A generator under a name.

    Params of the recipe: `instruction`, `characters`, `sentences` (the limits), and `template`, a text whose
    slot ``{sources}`` takes what the generator wrote (a prompt skill); without one the generated text stands
    alone.
    """

    name: str
    generator: Generator
    version: str = "1"
    mode: Mode = field(default=Mode.REGEN, init=False)
    reads_own_version: bool = field(default=False, init=False)

    @property
    def deterministic(self) -> bool:
        """Holds for the extractive default; nothing is known of another generator."""
        return isinstance(self.generator, ExtractiveSummariser)

    def make(self, call: Call) -> Made:
        """The generated text, in its template where there is one; `cost` falls back on the tokens.

        Raises
        ------
        StepFailed
            There is no input, a param is malformed, or the template has no slot.
        """
        if not call.inputs:
            raise StepFailed("nothing is left to write it from", witness=call.key)
        template = _text(call.params, "template", SLOT)
        if SLOT not in template:
            raise StepFailed(f"the template has no {SLOT} slot", witness=call.key)
        limits = Limits(
            characters=_number(call.params, "characters") or DEFAULT_CHARACTERS,
            sentences=_number(call.params, "sentences"),
        )
        instruction = _text(call.params, "instruction", "Summarise the sources.")
        made = self.generator.generate(
            Request(instruction=instruction, sources=call.inputs, limits=limits, schema=call.schema)
        )
        return Made(
            content=template.replace(SLOT, made.text),
            cost=made.tokens if made.cost is None else made.cost,
            cites=made.cites,
        )
