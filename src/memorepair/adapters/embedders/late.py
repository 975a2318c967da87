"""An endpoint whose dimension nobody has stated: it is asked when a vector is first wanted."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Self

from memorepair.adapters.embedders.endpoint import EndpointEmbedder
from memorepair.errors import StepFailed
from memorepair.memory.values import check_type, check_word
from memorepair.memory.vectors import Vectors
from memorepair.repair.operators.endpoint import Endpoint

logger = logging.getLogger(__name__)

REST_S = 300.0
"""Seconds for which an endpoint that has given no vector is not asked again."""


@dataclass(slots=True)
class _Learned:
    lock: threading.Lock = field(default_factory=threading.Lock)
    embedder: EndpointEmbedder | None = None
    failed: str = ""
    again: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LateEndpoint:
    """Asks an endpoint for its dimension once, and only where a vector is wanted.

    A memory opens, serves, withdraws and repairs without it. Where it gives nothing, that is told once in the
    log and remembered for `REST_S`: whatever wants a vector meanwhile fails at once, with the same words.

    Attributes
    ----------
    endpoint, revision, normalised
        As of `EndpointEmbedder`.
    clock
        Seconds, ascending.
    """

    endpoint: Endpoint
    revision: str = "1"
    normalised: bool = True
    clock: Callable[[], float] = field(default=time.monotonic, repr=False)
    _learned: _Learned = field(default_factory=_Learned, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_type(self.endpoint, Endpoint, "the endpoint of an embedder is an Endpoint")
        check_word(self.revision, "the revision of an embedder")
        check_type(self.normalised, bool, "normalised is True or False")

    @classmethod
    def from_environment(cls, prefix: str = "MEMOREPAIR_EMBED", *, revision: str = "1") -> Self:
        """As ``PREFIX_BASE_URL``, ``_MODEL`` and ``_KEY`` say, see `Endpoint.from_environment`."""
        return cls(endpoint=Endpoint.from_environment(prefix), revision=revision)

    @property
    def model(self) -> str:
        """As the endpoint names it."""
        return self.endpoint.model

    @property
    def known(self) -> bool:
        """Whether the dimension is known without asking."""
        return self._learned.embedder is not None

    @property
    def dimension(self) -> int:
        """Numbers a vector has; asks where it is not known.

        Raises
        ------
        StepFailed
            The endpoint gives none, or gave none a moment ago.
        """
        return self._asked().dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """As `EndpointEmbedder.embed`, and as `dimension`."""
        return self._asked().embed(texts)

    def _asked(self) -> EndpointEmbedder:
        learned = self._learned
        with learned.lock:  # who comes meanwhile waits for this answer instead of asking for another
            if learned.embedder is None:
                if learned.failed and self.clock() < learned.again:
                    raise StepFailed(learned.failed, witness=self.model)
                learned.embedder = self._learn()
            return learned.embedder

    def _learn(self) -> EndpointEmbedder:
        try:
            return EndpointEmbedder.of(self.endpoint, revision=self.revision, normalised=self.normalised)
        except StepFailed as error:
            failed = f"the endpoint of {self.model} has not told its dimension: {error.message}"
            self._learned.failed = failed
            self._learned.again = self.clock() + REST_S
            logger.warning("%s; nothing is embedded for now", failed)
            raise StepFailed(failed, witness=self.model) from error
