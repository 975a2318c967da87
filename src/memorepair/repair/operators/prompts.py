"""Prompts: what a model is told, kept as data in one file."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from memorepair.memory.artifact import Json
from memorepair.repair.jsontext import canonical
from memorepair.repair.operators.regen import Request


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """The texts of one task, with their slots in braces."""

    system: str
    user: str
    sentences: str


@cache
def prompt(task: str) -> Prompt:
    """The texts of a task, as ``prompts.toml`` has them."""
    told = tomllib.loads(files(__package__ or "").joinpath("prompts.toml").read_text(encoding="utf-8"))
    return Prompt(**told[task])


def messages(request: Request, schema: Json) -> tuple[str, str]:
    """What the system and the user say to a model.

    Sources go as JSON strings under their place, counted from 1: no text of a source can end its own frame,
    and no key leaves the process.
    """
    texts = prompt("generate")
    count = request.limits.sentences
    sources: list[Json] = [
        {"source": place, "text": source.content} for place, source in enumerate(request.sources, start=1)
    ]
    # One pass over the template each: what is filled in is never read for slots.
    user = texts.user.format(
        instruction=request.instruction,
        characters=request.limits.characters,
        sentences="" if count is None else texts.sentences.format(count=count),
        sources=canonical(sources),
    )
    return texts.system.format(schema=canonical(schema)).strip(), user.strip()
