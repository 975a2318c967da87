"""Folders of files that are recordings by themselves: each keeps to itself, under its own name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from memorepair.adapters.files import files_in
from memorepair.adapters.recording import EXAMPLES, Absence, Recording


def each_of(path: Path, endings: tuple[str, ...], read: Callable[[Path], Recording]) -> Recording:
    """`read` of a file; of a folder, all files below with one of the endings side by side.

    There the ids begin with the place of their file in the folder, so that two files may name the same thing.

    Raises
    ------
    InvalidFile
        As `read`; or the folder holds nothing of the kind.
    """
    if not path.is_dir():
        return read(path)
    parts = {
        file.relative_to(path).as_posix().removesuffix(".xz"): read(file) for file in files_in(path, endings)
    }
    missing: defaultdict[str, list[Absence]] = defaultdict(list)
    for name, part in parts.items():
        for one in part.missing:
            examples = tuple(f"{name}: {example}" for example in one.examples)
            missing[one.what].append(replace(one, examples=examples))
    first = next(iter(parts.values()))
    return Recording(
        kind=first.kind,
        items=tuple(
            replace(item, id=f"{name}/{item.id}") for name, part in parts.items() for item in part.items
        ),
        links=tuple(
            replace(link, tail=f"{name}/{link.tail}", head=f"{name}/{link.head}")
            for name, part in parts.items()
            for link in part.links
        ),
        form=first.form,
        missing=tuple(
            Absence(
                what=what,
                count=sum(one.count for one in found),
                examples=tuple(example for one in found for example in one.examples)[:EXAMPLES],
            )
            for what, found in missing.items()
        ),
    )
