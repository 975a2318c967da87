"""NPZ files: an instance as NumPy arrays beside a JSON head, without pickle.

Arrays: ``head`` uint8, the JSON; ``value`` int64 or float64 (k,); ``cost`` likewise (k,) or (k, d);
``offsets`` (k + 1,) and ``heads`` (m,) int32, the prerequisites by compressed rows; ``executable``,
``required`` (k,) bool. Values or costs that are Fractions stand in the head instead, as text "p/q", as do
tradeoff and budget.
"""

from __future__ import annotations

import json
import re
import zipfile
import zlib
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import IO, ClassVar, cast

import numpy as np
import numpy.typing as npt

from memorepair.errors import InvalidFile, InvalidInput
from memorepair.formats import documents
from memorepair.formats.format import Content
from memorepair.formats.instance_json import FORMAT, check_head, instance_only
from memorepair.graphs.digraph import INDEX_LIMIT, Digraph, Index
from memorepair.problems import SelectionInstance
from memorepair.problems.integers import Number, Numbers, fraction

_HEAD = {"format", "version", "tradeoff", "budget", "ids", "value", "cost"}
_DTYPES: dict[str, tuple[str, ...]] = {
    "head": ("uint8",),
    "value": ("int64", "float64"),
    "cost": ("int64", "float64"),
    "offsets": ("int32",),
    "heads": ("int32",),
    "executable": ("bool",),
    "required": ("bool",),
}
_ALWAYS = {"head", "offsets", "heads", "executable", "required"}
_FLOAT = re.compile(r"-?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]{1,3})?")
_RATIO = re.compile(r"-?[0-9]{1,4000}(/[0-9]{1,4000})?")
_BROKEN = (OSError, ValueError, EOFError, KeyError, NotImplementedError, MemoryError, RuntimeError)

Array = npt.NDArray[np.generic]


class Npz:
    """NumPy's archive."""

    name: ClassVar[str] = "npz"
    suffixes: ClassVar[tuple[str, ...]] = (".npz",)

    def read(self, path: Path, /) -> SelectionInstance:
        """Types and shapes are checked before an array is loaded; nothing in the file is ever run."""
        try:
            with zipfile.ZipFile(path) as archive:
                arrays = _arrays(archive)
        except (zipfile.BadZipFile, zlib.error, *_BROKEN) as error:
            if isinstance(error, InvalidFile):
                raise
            raise InvalidFile.cannot("read", path, error) from error
        return _instance(arrays)

    def write(self, content: Content, path: Path, /) -> None:
        """Any finite number; ids must be text or integers."""
        instance = instance_only(content, self.name)
        head: dict[str, object] = {
            "format": FORMAT,
            "version": 1,
            "tradeoff": _text(instance.tradeoff),
            "ids": None
            if instance.ids is None
            else [json.loads(documents.identity_text(id)) for id in instance.ids],
        }
        if instance.budget is not None:
            several = isinstance(instance.budget, tuple)
            limits = [_text(limit) for limit in instance.limits]
            head["budget"] = limits if several else limits[0]
        arrays: dict[str, Array] = {
            "offsets": instance.requires.offsets,
            "heads": instance.requires.heads,
            "executable": instance.executable,
            "required": instance.required,
        }
        for name, column in (("value", instance.value), ("cost", instance.cost)):
            if column.dtype == np.object_:
                rows = column.reshape(instance.k, instance.kinds if name == "cost" else 1).tolist()
                texts = [[_text(entry) for entry in row] for row in rows]
                head[name] = texts if column.ndim == 2 else [row[0] for row in texts]
            else:
                arrays[name] = column
        arrays["head"] = np.frombuffer(json.dumps(head).encode("ascii"), np.uint8)
        try:
            with zipfile.ZipFile(path, "w") as archive:
                for name, array in arrays.items():
                    member = zipfile.ZipInfo(f"{name}.npy")  # of no date: equal instances are equal files
                    member.compress_type = zipfile.ZIP_DEFLATED
                    with archive.open(member, "w", force_zip64=True) as file:
                        np.lib.format.write_array(file, array, allow_pickle=False)
        except OSError as error:
            raise InvalidFile.cannot("written", path, error) from error


def _arrays(archive: zipfile.ZipFile) -> dict[str, Array]:
    members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
    if len(members) < len(archive.infolist()) or not _ALWAYS <= set(members) <= set(_DTYPES):
        names = sorted(info.filename for info in archive.infolist())
        raise InvalidFile("the archive does not hold the arrays of an instance", witness=names)
    arrays = {}
    for name, info in members.items():
        with archive.open(info) as file:
            shape, dtype = _announced(file, name)
            if dtype.name not in _DTYPES[name] or len(shape) > (2 if name == "cost" else 1):
                raise InvalidFile(f"{name} is {dtype.name} of shape {shape}", witness=name)
            size = int(np.prod(shape, dtype=object))
            if size >= INDEX_LIMIT or file.tell() + size * dtype.itemsize != info.file_size:
                raise InvalidFile(f"{name} does not have the size it announces", witness=name)
            file.seek(0)
            arrays[name] = cast("Array", np.lib.format.read_array(file, allow_pickle=False))
    return arrays


def _announced(file: IO[bytes], name: str) -> tuple[tuple[int, ...], np.dtype[np.generic]]:
    version = np.lib.format.read_magic(file)
    if version == (1, 0):
        shape, _, dtype = np.lib.format.read_array_header_1_0(file)
    elif version == (2, 0):
        shape, _, dtype = np.lib.format.read_array_header_2_0(file)
    else:
        raise InvalidFile(f"{name} has the array format {version}", witness=name)
    return shape, dtype


def _instance(arrays: Mapping[str, Array]) -> SelectionInstance:
    try:
        text = arrays["head"].tobytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidFile(f"head is no text: {error}", witness="head") from None
    head = documents.mapping(documents.parse(text), "head", _HEAD)
    check_head(head)
    ids = head.get("ids")
    names = None
    if ids is not None:
        names = tuple(
            documents.identity(id, f"ids[{n}]") for n, id in enumerate(documents.entries(head, "ids"))
        )
    offsets, heads = (cast("Index", arrays[name].astype(np.int32)) for name in ("offsets", "heads"))
    try:
        requires = Digraph(offsets=offsets, heads=heads)
    except InvalidInput as error:
        raise InvalidFile(f"prerequisites: {error}", witness=error.witness) from error
    budget = head.get("budget")
    return SelectionInstance(
        value=_column(head, arrays, "value"),
        cost=_column(head, arrays, "cost"),
        requires=requires,
        executable=arrays["executable"].astype(np.bool_),
        required=arrays["required"].astype(np.bool_),
        ids=names,
        tradeoff=_number(head.get("tradeoff"), "tradeoff"),
        budget=None if budget is None else _numbers(budget, "budget"),
    )


def _column(head: Mapping[str, object], arrays: Mapping[str, Array], name: str) -> Numbers:
    if (name in arrays) == (name in head):
        raise InvalidFile(f"{name} must stand in the archive or in its head", witness=name)
    if name in arrays:
        return cast("Numbers", arrays[name])
    rows = [_numbers(entry, name) for entry in documents.entries(head, name)]
    if len({len(row) if isinstance(row, tuple) else None for row in rows}) > 1:
        raise InvalidFile(f"{name} has rows of different lengths", witness=name)
    # A column of Fractions stays one, though all may be whole.
    exact = [tuple(map(fraction, row)) if isinstance(row, tuple) else fraction(row) for row in rows]
    return cast("Numbers", exact)


def _numbers(entry: object, name: str) -> Number | tuple[Number, ...]:
    if isinstance(entry, list):
        return tuple(_number(one, name) for one in entry)
    return _number(entry, name)


def _number(entry: object, name: str) -> Number:
    if isinstance(entry, str) and _RATIO.fullmatch(entry):
        top, _, bottom = entry.partition("/")
        if not bottom:
            return int(top)
        if int(bottom):
            return Fraction(int(top), int(bottom))
    elif isinstance(entry, str) and _FLOAT.fullmatch(entry):
        return float(entry)
    raise InvalidFile(f"{name} must be numbers as text, not {entry!r}", witness=name)


def _text(number: Number) -> str:
    try:
        return repr(float(number)) if isinstance(number, float) else str(fraction(number))
    except ValueError:  # Python writes and reads integers of up to 4,300 digits
        raise InvalidFile("a number has too many digits to write", witness="number") from None
