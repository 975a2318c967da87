"""Text that is safe to put on a terminal, whoever wrote it."""

from __future__ import annotations

from rich.text import Text


def visible(content: str, *, lines: bool = False) -> Text:
    """`content` with whatever is not printable spelled out, and no markup read from it.

    Escape sequences, line separators and direction overrides would let stored content redraw the screen or
    reorder what is read; they show as ``\\x1b``. `lines` keeps line feeds and tabs.
    """
    kept = "\n\t" if lines else ""
    return Text("".join(one if one.isprintable() or one in kept else _spelled(one) for one in content))


def _spelled(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def some(number: int, one: str, many: str | None = None) -> str:
    """How many of them there are: 1 artifact, 2 artifacts, 1 memory, 2 memories."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
