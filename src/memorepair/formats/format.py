"""Format: what a kind of file declares about itself."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Protocol, TypeAlias

from memorepair.graphs.network import MinCutNetwork
from memorepair.problems import SelectionInstance

Content: TypeAlias = SelectionInstance | MinCutNetwork
"""What a file holds."""


class Format(Protocol):
    """One kind of file."""

    name: ClassVar[str]
    """What `read` and `write` call it."""
    suffixes: ClassVar[tuple[str, ...]]
    """Ends of file names that mean it."""

    def read(self, path: Path, /) -> Content:
        """What the file at `path` holds; InvalidFile or InvalidInstance where it holds nothing."""
        ...

    def write(self, content: Content, path: Path, /) -> None:
        """Write `content`; InvalidFile, before anything is written, where the format cannot say it."""
        ...
