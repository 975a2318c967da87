"""Registry of detectors: a name, where the class is, one line each."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from memorepair.errors import InvalidInput, UnknownId
from memorepair.health.detector import Detector

_DETECTORS = {
    "required": "memorepair.health.detectors.required:Required",
    "metadata": "memorepair.health.detectors.metadata:Metadata",
    "embeddings": "memorepair.health.detectors.embeddings:Embeddings",
    "provenance": "memorepair.health.detectors.provenance:Provenance",
    "barriers": "memorepair.health.detectors.barriers:Barriers",
    "scopes": "memorepair.health.detectors.scopes:Scopes",
    "duplicates": "memorepair.health.detectors.duplicates:Duplicates",
    "conflicts": "memorepair.health.detectors.conflicts:Conflicts",
    "staleness": "memorepair.health.detectors.staleness:Staleness",
}


def detectors() -> tuple[str, ...]:
    """Names of all detectors, in the order they run: what is cheap comes first."""
    return tuple(_DETECTORS)


def get_detector(name: str) -> Detector:
    """The detector called `name`.

    Raises
    ------
    UnknownId
        There is none (the message suggests names).
    """
    if not isinstance(name, str) or name not in _DETECTORS:
        raise UnknownId.among("detector", name, _DETECTORS)
    module, _, attribute = _DETECTORS[name].partition(":")
    found: Detector = getattr(import_module(module), attribute)()
    return found


def chosen(wanted: Sequence[str | Detector] | None) -> list[Detector]:
    """Detectors by name or as they are; None: all.

    Raises
    ------
    UnknownId, InvalidInput
        A name that nothing has; two of one name.
    """
    if isinstance(wanted, str):
        raise InvalidInput("detectors are a sequence of names", witness=wanted)
    found = [get_detector(one) if isinstance(one, str) else one for one in wanted or detectors()]
    names = [one.name for one in found]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise InvalidInput(f"detector {twice[0]} is asked for twice", witness=twice[0])
    return found
