"""An embedder behind an endpoint that speaks the OpenAI embeddings protocol."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from memorepair.errors import InvalidInput, StepFailed
from memorepair.memory.artifact import Json
from memorepair.memory.values import check_counts, check_type
from memorepair.memory.vectors import Vectors, space_of
from memorepair.repair.operators.endpoint import Endpoint

_BYTES_A_NUMBER = 32
_BYTES_BESIDE = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointEmbedder:
    """Has an endpoint embed, and checks what it answers: how many vectors, how long, finite.

    Attributes
    ----------
    endpoint
        Where, with its limits; failures that may pass (429, 5xx, time-outs) are asked again within them.
    dimension
        Numbers a vector has; `of` asks the endpoint.
    revision
        Of the model, by you: change it whenever any vector would be another, also with `characters`.
    normalised
        Bring every vector to length 1; else it is stored as it came.
    batch
        Texts a request.
    characters
        Where a text is cut off: models read some thousand tokens, and endpoints refuse more.
    shorten
        Ask for `dimension` numbers (``dimensions``), of models that can.

    Examples
    --------
    >>> import memorepair as mr  # doctest: +SKIP
    >>> endpoint = Endpoint(base_url="https://api.openai.com/v1", model="text-embedding-3-small")
    >>> embedder = EndpointEmbedder(endpoint=endpoint, dimension=1536)  # doctest: +SKIP
    >>> memory = mr.Memory.open("agent.db", embedder=embedder)  # doctest: +SKIP
    """

    endpoint: Endpoint
    dimension: int
    revision: str = "1"
    normalised: bool = True
    batch: int = 64
    characters: int = 4_000
    shorten: bool = False

    def __post_init__(self) -> None:
        check_type(self.endpoint, Endpoint, "the endpoint of an embedder is an Endpoint")
        check_type(self.shorten, bool, "shorten is True or False")
        check_counts(self, "an embedder", "batch", "characters")
        space_of(self)

    @classmethod
    def of(cls, endpoint: Endpoint, *, revision: str = "1", normalised: bool = True) -> Self:
        """Ask the endpoint for the vector of one word, to learn its dimension.

        Raises
        ------
        StepFailed
            It gives none.
        """
        rows = _asked(endpoint, {"model": endpoint.model, "input": ["dimension"]}, 1)
        return cls(endpoint=endpoint, dimension=len(rows[0]), revision=revision, normalised=normalised)

    @classmethod
    def from_environment(cls, prefix: str = "MEMOREPAIR_EMBED") -> Self:
        """As ``PREFIX_BASE_URL``, ``PREFIX_MODEL`` and ``PREFIX_KEY`` say, see `Endpoint.from_environment`.

        ``PREFIX_REVISION`` and ``PREFIX_DIMENSION`` are of the model; without a dimension the endpoint is
        asked.

        Raises
        ------
        InvalidInput
            A variable is missing or not valid.
        """
        endpoint = Endpoint.from_environment(prefix)
        revision = os.environ.get(f"{prefix}_REVISION") or "1"
        told = os.environ.get(f"{prefix}_DIMENSION", "")
        if not told:
            return cls.of(endpoint, revision=revision)
        if not told.isascii() or not told.isdigit():
            raise InvalidInput(f"{prefix}_DIMENSION is a whole number", witness=f"{prefix}_DIMENSION")
        return cls(endpoint=endpoint, dimension=int(told), revision=revision)

    @property
    def model(self) -> str:
        """As the endpoint names it."""
        return self.endpoint.model

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of the texts, (n, dimension) float32; zeros where there is only white space.

        Raises
        ------
        StepFailed
            No attempt gave vectors that can be used; the message never quotes a text or the answer.
        """
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        asked = [place for place, text in enumerate(texts) if text.strip()]
        for start in range(0, len(asked), self.batch):
            places = asked[start : start + self.batch]
            vectors[places] = self._batch([texts[place][: self.characters] for place in places])
        return vectors

    def _batch(self, texts: list[str]) -> Vectors:
        room = len(texts) * self.dimension * _BYTES_A_NUMBER + _BYTES_BESIDE
        endpoint = replace(self.endpoint, response_bytes=max(room, self.endpoint.response_bytes))
        body: dict[str, Json] = {
            "model": self.endpoint.model,
            "input": list[Json](texts),
            "encoding_format": "float",
        }
        if self.shorten:
            body["dimensions"] = self.dimension
        rows = _asked(endpoint, body, len(texts))
        lengths = {len(row) for row in rows}
        if lengths != {self.dimension}:
            raise StepFailed(
                f"{self.model} gave {max(lengths)} numbers a vector, not {self.dimension}",
                witness=max(lengths),
            )
        made = np.array(rows, np.float64)
        if self.normalised:
            norms = np.linalg.norm(made, axis=1, keepdims=True)
            np.divide(made, norms, out=made, where=norms > 0)
        with np.errstate(over="ignore"):
            vectors: Vectors = made.astype(np.float32)
        if not np.isfinite(vectors).all():
            raise StepFailed(f"{self.model} gave a number that is not finite", witness=self.model)
        return vectors


def _asked(endpoint: Endpoint, body: dict[str, Json], n: int) -> list[list[float]]:
    """The rows that the endpoint gives for n texts, in their order."""
    answer = endpoint.retrying()(endpoint.post, body, path="embeddings")
    data = answer.get("data")
    if not isinstance(data, list) or len(data) != n:
        count = len(data) if isinstance(data, list) else 0
        raise StepFailed(f"{endpoint.model} gave {count} vectors for {n} texts", witness=count)
    rows: dict[int, list[float]] = {}
    for place, one in enumerate(data):
        row, index = (one.get("embedding"), one.get("index", place)) if isinstance(one, dict) else (None, 0)
        if not isinstance(row, list) or not row or not isinstance(index, int):
            raise StepFailed(f"{endpoint.model} gave something that is no vector", witness=place)
        rows[index] = [_number(one, endpoint.model) for one in row]
    if sorted(rows) != list(range(n)):
        raise StepFailed(f"{endpoint.model} numbered its vectors otherwise than asked", witness=n)
    return [rows[place] for place in range(n)]


def _number(one: Json, model: str) -> float:
    try:
        number = float(one) if isinstance(one, int | float) and not isinstance(one, bool) else math.nan
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise StepFailed(f"{model} gave something that is no finite number", witness=model)
    return number
