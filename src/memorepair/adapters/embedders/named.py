"""Embedders by name, for the command line and the environment."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from types import MappingProxyType

from memorepair.errors import InvalidInput
from memorepair.memory.vectors import Embedder, HashedNgrams

VARIABLE = "MEMOREPAIR_EMBEDDER"
"""Names the embedder of the commands; see `named`."""


def _hashed(said: str) -> Embedder:
    if not said:
        return HashedNgrams()
    if not said.isascii() or not said.isdigit():
        raise InvalidInput(f"a dimension is a whole number, not {said[:40]!r}", witness=said[:40])
    return HashedNgrams(dimension=int(said))


def _minilm(said: str) -> Embedder:
    from memorepair.adapters.embedders.minilm import MiniLM

    return MiniLM(device=said or "cpu")


def _endpoint(said: str) -> Embedder:
    from memorepair.adapters.embedders.endpoint import EndpointEmbedder
    from memorepair.adapters.embedders.late import LateEndpoint

    prefix = said or "MEMOREPAIR_EMBED"
    if os.environ.get(f"{prefix}_DIMENSION"):
        return EndpointEmbedder.from_environment(prefix)
    return LateEndpoint.from_environment(prefix, revision=os.environ.get(f"{prefix}_REVISION") or "1")


NAMES: Mapping[str, Callable[[str], Embedder]] = MappingProxyType(
    {"hashed": _hashed, "minilm": _minilm, "endpoint": _endpoint}
)
"""Name -> what makes the embedder of what stands after a colon."""


def named(text: str) -> Embedder | None:
    """The embedder written ``NAME`` or ``NAME:DETAIL``; None for ``none``.

    ``hashed``, ``hashed:256`` (dimension); ``minilm``, ``minilm:cuda`` (device); ``endpoint``,
    ``endpoint:PREFIX`` (of its environment variables).

    Raises
    ------
    InvalidInput
        There is no such name.
    MissingDependency
        Its package is not installed.
    """
    name, _, detail = text.partition(":")
    if name == "none" and not detail:
        return None
    if name not in NAMES:
        raise InvalidInput(f"no embedder {name[:40]!r}: one of none, {', '.join(NAMES)}", witness=name[:40])
    return NAMES[name](detail)


def from_environment() -> Embedder | None:
    """The embedder that ``MEMOREPAIR_EMBEDDER`` names; hashed n-grams where it names none."""
    return named(os.environ.get(VARIABLE) or "hashed")
