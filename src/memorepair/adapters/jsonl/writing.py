"""From a memory to a JSONL file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from io import TextIOBase
from pathlib import Path
from typing import BinaryIO

from memorepair.adapters.jsonl.lines import header, line_of
from memorepair.errors import InvalidInput
from memorepair.facade import Memory
from memorepair.memory.artifact import Json
from memorepair.memory.export import Export
from memorepair.repair.jsontext import canonical

_STEP = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportReport:
    """What an export wrote; `content` counts the versions that went with their content.

    `entry` is the journal's entry of a full backup, None of what the doors serve.
    """

    artifacts: int
    versions: int
    content: int
    entry: int | None


def export_jsonl(
    memory: Memory,
    target: str | Path | BinaryIO,
    *,
    with_withdrawn: bool = False,
    actor: str | None = None,
    reason: str | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> ExportReport:
    """Write a whole memory, a line a version, in order of scope, id and number, as of one instant.

    Content goes with what no barrier bars; of the rest id, number, kind, state, time and arcs. The same
    memory makes the same bytes.

    Parameters
    ----------
    target
        A path, which is replaced when the last line is written; or a stream of bytes.
    with_withdrawn
        A full backup: content behind the barrier too. A person signs with `actor` and `reason`; the journal
        names every version that leaves so.
    progress
        Told ``versions``, how many are written, of how many.

    Raises
    ------
    InvalidInput
        A full backup that nobody signs for; an actor or a reason for anything else; a stream of text.
    OSError
        The file cannot be written; the one that was there is as it was.
    """
    if not with_withdrawn and (actor is not None or reason is not None):
        raise InvalidInput("an export of what is served needs no signature", witness=actor or reason)
    if isinstance(target, TextIOBase):
        raise InvalidInput("an export writes bytes, not text", witness=type(target).__name__)
    signed = memory.store.sign_export(actor=actor or "", reason=reason or "") if with_withdrawn else 0
    with memory.store.exporting(signed) as export:
        if not isinstance(target, str | Path):
            content = _write(target, export, signed, progress)
        else:
            path = Path(target)
            part = path.with_name(f"{path.name}.part")
            try:
                with part.open("wb") as stream:
                    content = _write(stream, export, signed, progress)
                part.replace(path)
            finally:
                part.unlink(missing_ok=True)
    return ExportReport(
        artifacts=export.artifacts, versions=export.versions, content=content, entry=signed or None
    )


def _write(
    stream: BinaryIO, export: Export, signed: int, progress: Callable[[str, int, int], None] | None
) -> int:
    content = 0
    stream.write(_bytes(header("all" if signed else "served", export.artifacts, export.versions)))
    for done, item in enumerate(export.items, start=1):
        stream.write(_bytes(line_of(item)))
        content += item.draft is not None
        if progress is not None and (done % _STEP == 0 or done == export.versions):
            progress("versions", done, export.versions)
    return content


def _bytes(line: Json) -> bytes:
    return (canonical(line) + "\n").encode()
