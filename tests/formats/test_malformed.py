"""A malformed file is refused with its line and the reason; nothing is half read, nothing else escapes."""

from __future__ import annotations

import io
import json
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memorepair import SelectionInstance, formats
from memorepair.errors import InvalidFile, InvalidInput
from memorepair.graphs import Digraph

MAX = "c a comment\np max 3 2\nn 1 s\nn 3 t\na 1 2 5\na 2 3 4\n"
LP = """\\ two candidates
Maximize
 obj: 3 x0 - 1.5 x1
Subject To
 r0: x0 - x1 <= 0
 budget0: 1 x0 + 2 x1 <= 3
Bounds
 0 <= x0 <= 1
 0 <= x1 <= 1
Generals
 x0 x1
End
"""
MPS = """* two candidates
NAME closure
OBJSENSE
 MAX
ROWS
 N obj
 L r0
 G r1
COLUMNS
 x0 obj 3
 x0 r0 1
 x0 r1 -1
 x1 obj -1.5 r0 -1
 x1 r1 1
RHS
BOUNDS
 UP BND x0 1
 FX BND x1 1
ENDATA
"""
UPIT = "NAME: pit\nTYPE: UPIT\nNBLOCKS: 2\nOBJECTIVE_FUNCTION:\n0 3\n1 -1.5\nEOF\n"
CPIT = """NAME: pit
TYPE: CPIT
NBLOCKS: 2
NPERIODS: 2
NRESOURCE_SIDE_CONSTRAINTS: 1
DISCOUNT_RATE: 0.1
OBJECTIVE_FUNCTION:
0 3
1 -1.5
RESOURCE_CONSTRAINT_COEFFICIENTS:
1 0 2
RESOURCE_CONSTRAINT_LIMITS:
0 0 L 4
0 1 L 5.5
EOF
"""
PREC = "% block, how many, which\n0 1 1\n1 0\n"
LINKS = {
    "directed": True,
    "multigraph": False,
    "graph": {"tradeoff": 0.5},
    "nodes": [{"id": "a", "value": 3}, {"id": "b", "value": -1, "cost": 2}],
    "edges": [{"source": "a", "target": "b"}],
}
LAST = 0
"""The fault is in what is not there: the last line is named."""

GOOD = {"max": MAX, "lp": LP, "mps": MPS, "upit": UPIT, "cpit": CPIT, "node-link.json": json.dumps(LINKS)}


def read(folder: Path, suffix: str, text: str, prec: str = PREC) -> Any:
    path = folder / f"file.{suffix}"
    path.write_text(text, encoding="utf-8")
    path.with_suffix(".prec").write_text(prec, encoding="utf-8")
    return formats.read(path)


@pytest.mark.parametrize("suffix", GOOD)
def test_the_examples_are_well_formed(suffix: str, tmp_path: Path) -> None:
    content = read(tmp_path, suffix, GOOD[suffix])
    assert suffix == "max" or content.requires.heads.tolist()[0] == 1


def test_limits_of_all_periods_add_up(tmp_path: Path) -> None:
    instance = read(tmp_path, "cpit", CPIT)
    assert instance.budget == 9.5
    assert instance.cost.tolist() == [0, 2]


@pytest.mark.parametrize(
    ("suffix", "old", "new", "line"),
    [
        ("max", "p max 3 2", "p min 3 2", 2),
        ("max", "p max 3 2", "", 3),
        ("max", "p max 3 2", "p max 3 2\np max 3 2", 3),
        ("max", "p max 3 2", "p max 3 3", 6),
        ("max", "p max 3 2", "p max 3 1", 6),
        ("max", "p max 3 2", "p max 3 2.0", 2),
        ("max", "p max 3 2", "p max 99999999999 2", 2),
        ("max", "p max 3 2", "p max 3 ٢", 2),
        ("max", "n 3 t", "n 4 t", 4),
        ("max", "n 3 t", "n 0 t", 4),
        ("max", "n 3 t", "n 3 s", 4),
        ("max", "n 3 t\n", "", 4),
        ("max", "a 2 3 4", "a 2 3", 6),
        ("max", "a 2 3 4", "a 2 4 4", 6),
        ("max", "a 2 3 4", "a 2 3 -4", 6),
        ("max", "a 2 3 4", "a 2 3 3.5", 6),
        ("max", "a 2 3 4", "a 2 3 9223372036854775808", 6),
        ("max", "a 2 3 4", "a 2 3 " + "9" * 5000, 6),
        ("max", "a 2 3 4", "x 2 3 4", 6),
        ("max", "n 3 t", "n 1 t", LAST),
        ("lp", "Maximize", "Minimize", 2),
        ("lp", "3 x0 - 1.5 x1", "3 x0 - 1.5 x0", 3),
        ("lp", "3 x0 - 1.5 x1", "3 x0 1.5 x1", 3),
        ("lp", "3 x0 - 1.5 x1", "3x0 - 1.5 x1", 3),
        ("lp", "3 x0 - 1.5 x1", "3 x0 - [ x1 ^ 2 ]", 3),
        ("lp", "3 x0 - 1.5 x1", "3 x0 - 1.5 x1 + 7", 3),
        ("lp", "x0 - x1 <= 0", "x0 - x1 = 0", 5),
        ("lp", "x0 - x1 <= 0", "x0 - x1 <= 1", 5),
        ("lp", "x0 - x1 <= 0", "2 x0 - x1 <= 0", 5),
        ("lp", "x0 - x1 <= 0", "x0 - x2 <= 0", 5),
        ("lp", "x0 - x1 <= 0", "x0 - x0 <= 0", 5),
        ("lp", "x0 - x1 <= 0", "x0 - x1 <= nought", 5),
        ("lp", "1 x0 + 2 x1 <= 3", "1 x0 + 2 x1 <= -3", 6),
        ("lp", "1 x0 + 2 x1 <= 3", "1 x0 + 2 x1 >= 3", 6),
        ("lp", "Generals\n x0 x1\n", "Generals\n x0\n", 6),
        ("lp", "0 <= x1 <= 1", "0 <= x1 <= 2", 9),
        ("lp", "0 <= x1 <= 1", "x1 free", 9),
        ("lp", "0 <= x1 <= 1\n", "0 <= x1\n", LAST),
        ("lp", "0 <= x1 <= 1", "0 <= x0 <= 1", 9),
        ("lp", "End\n", "", 12),
        ("lp", "End\n", "End\nmore", 13),
        ("lp", "Generals", "Semi-continuous", 10),
        ("lp", "Bounds", "Maximize", 7),
        ("mps", " MAX", " MIN", 4),
        ("mps", "OBJSENSE\n MAX\n", "", LAST),
        ("mps", " N obj", " E obj", 6),
        ("mps", " L r0", " L r1", 8),
        ("mps", " L r0", " E r0", 7),
        ("mps", "x0 r0 1", "x0 r2 1", 11),
        ("mps", "x0 r0 1", "x0 r0 one", 11),
        ("mps", "x0 r0 1", "x0 r0", 11),
        ("mps", "x0 r0 1", "x0 r0 2", 7),
        ("mps", "x0 r0 1", "x0 r0 1\n x0 r0 1", 12),
        ("mps", " x1 r1 1", " x0 r1 1", 14),
        ("mps", "RHS", "RANGES", 15),
        ("mps", "BOUNDS", "BOUNDS\n MI BND x0", 17),
        ("mps", "UP BND x0 1", "UP BND x0 2", 17),
        ("mps", "UP BND x0 1", "UP BND x0 1\n UP BND x0 1", 18),
        ("mps", " UP BND x0 1\n", "", LAST),
        ("mps", "ENDATA\n", "", 18),
        ("mps", "ENDATA", "ENDATA\n more", 20),
        ("mps", "COLUMNS\n", "COLUMNS\n M 'MARKER' 'INTEND'\n", 10),
        ("upit", "TYPE: UPIT", "TYPE: CPIT", 2),
        ("upit", "NBLOCKS: 2", "NBLOCKS: two", 3),
        ("upit", "NBLOCKS: 2", "NBLOCKS: 2\nNBLOCKS: 2", 4),
        ("upit", "NBLOCKS: 2", "NPERIODS: 2", 3),
        ("upit", "NBLOCKS: 2\n", "", 4),
        ("upit", "NBLOCKS: 2", "NBLOCKS: 3", LAST),
        ("upit", "1 -1.5", "1 -1.5 0", 6),
        ("upit", "1 -1.5", "0 -1.5", 6),
        ("upit", "1 -1.5", "2 -1.5", 6),
        ("upit", "1 -1.5", "1 nan", 6),
        ("upit", "1 -1.5", "1 1e999999", 6),
        ("upit", "1 -1.5\n", "", LAST),
        ("upit", "EOF", "EOF\n0 1", 8),
        ("upit", "OBJECTIVE_FUNCTION:", "OBJECTIVES:", 4),
        ("cpit", "0 1 L 5.5", "0 1 G 5.5", 14),
        ("cpit", "0 1 L 5.5", "0 1 L -1", 14),
        ("cpit", "0 1 L 5.5", "0 2 L 5.5", 14),
        ("cpit", "0 1 L 5.5", "0 0 L 5.5", 14),
        ("cpit", "0 1 L 5.5\n", "", LAST),
        ("cpit", "1 0 2", "1 0 -2", 11),
        ("cpit", "1 0 2", "1 1 2", 11),
        ("cpit", "DISCOUNT_RATE: 0.1", "DISCOUNT_RATE: -1", 6),
        ("cpit", "TYPE: CPIT", "TYPE: PCPSP", 2),
    ],
)
def test_the_line_at_fault_is_named(suffix: str, old: str, new: str, line: int, tmp_path: Path) -> None:
    assert old in GOOD[suffix]
    with pytest.raises(InvalidFile) as caught:
        read(tmp_path, suffix, GOOD[suffix].replace(old, new, 1))
    lines = GOOD[suffix].replace(old, new, 1).count("\n")
    assert caught.value.witness in ({lines, lines + 1} if line == LAST else {line})
    assert caught.value.message.startswith(f"line {caught.value.witness}: ")


@pytest.mark.parametrize("suffix", sorted(GOOD))
def test_the_line_that_is_no_utf8_is_named(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"latin.{suffix}"
    path.write_bytes("\nMontr\xe9al\n".encode("latin-1") + GOOD[suffix].encode())
    with pytest.raises(InvalidFile, match=r"line 2: .*0xe9") as caught:
        formats.read(path)
    assert caught.value.witness == 2


@pytest.mark.parametrize(
    ("prec", "line"),
    [
        ("0 0\n8 0\n", 2),
        ("0 1 1\n1 1\n", 2),
        ("0 1 1\n1\n", 2),
        ("0 1 1\n0 0\n", 2),
        ("0 1 2\n1 0\n", 1),
        ("0 1 1\n1 -1\n", 2),
        ("0 1 1\n1 ²\n", 2),
    ],
)
def test_precedences_at_fault_are_named(prec: str, line: int, tmp_path: Path) -> None:
    with pytest.raises(InvalidFile) as caught:
        read(tmp_path, "upit", UPIT, prec)
    assert caught.value.witness == line


@pytest.mark.parametrize("prec", ["0 0\n", "0 0\n1 0\n2 0\n"])
def test_precedences_are_for_the_same_blocks(prec: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidFile, match="blocks have precedences"):
        read(tmp_path, "upit", UPIT, prec)


def test_the_file_of_precedences_must_be_there(tmp_path: Path) -> None:
    path = tmp_path / "alone.upit"
    path.write_text(UPIT)
    with pytest.raises(InvalidFile, match=r"alone\.prec"):
        formats.read(path)


@pytest.mark.parametrize(
    ("change", "witness"),
    [
        ({"directed": False}, "directed"),
        ({"links": []}, "links"),
        ({"graph": {"price": 1}}, "graph.price"),
        ({"nodes": [{"id": "a", "value": 3, "executible": False}]}, "nodes[0].executible"),
        ({"nodes": [{"id": "a"}]}, "nodes[0].value"),
        ({"nodes": [{"id": ["a"], "value": 1}]}, "nodes[0].id"),
        ({"nodes": [{"id": "a", "value": "1"}]}, "nodes[0].value"),
        ({"nodes": [{"id": "a", "value": 1, "cost": [1]}, {"id": "b", "value": 1}], "edges": []}, "b"),
        ({"edges": [{"source": "a", "target": "c"}]}, "edges[0]"),
        ({"edges": [{"source": "a"}]}, "edges[0].target"),
        ({"edges": {}}, "edges"),
    ],
)
def test_a_node_link_document_at_fault_names_the_place(
    change: dict[str, object], witness: str, tmp_path: Path
) -> None:
    with pytest.raises(InvalidFile) as caught:
        read(tmp_path, "node-link.json", json.dumps(LINKS | change))
    assert caught.value.witness == witness


def arrays() -> dict[str, Any]:
    return {
        "head": {"format": "memorepair.selection", "version": 1, "tradeoff": "1/3", "ids": None},
        "value": np.array([3, -1]),
        "cost": np.array([0.5, 2]),
        "offsets": np.array([0, 1, 1], np.int32),
        "heads": np.array([1], np.int32),
        "executable": np.ones(2, np.bool_),
        "required": np.zeros(2, np.bool_),
    }


def packed(folder: Path, held: dict[str, Any]) -> Path:
    path = folder / "file.npz"
    text = json.dumps(held["head"]).encode()
    np.savez(path, **{**held, "head": np.frombuffer(text, np.uint8)})
    return path


@pytest.mark.parametrize(
    ("change", "witness"),
    [
        ({"value": np.array([1, 2], np.int32)}, "value"),
        ({"value": np.array([[1], [2]])}, "value"),
        ({"value": np.array([1 + 2j, 2])}, "value"),
        ({"value": np.array([1, None], np.object_)}, "value"),
        ({"heads": np.array([2], np.int32)}, 2),
        ({"offsets": np.array([0, 2, 1], np.int32)}, 1),
        ({"executable": np.ones(2, np.uint8)}, "executable"),
        ({"more": np.ones(2)}, None),
        ({"head": {"format": "other"}}, "format"),
        ({"head": {"format": "memorepair.selection", "version": 1, "tradeoff": "1/0"}}, "tradeoff"),
        ({"head": {"format": "memorepair.selection", "version": 1, "tradeoff": 1}}, "tradeoff"),
        ({"head": {"format": "memorepair.selection", "version": 1, "value": ["1", "2"]}}, "value"),
    ],
)
def test_an_archive_at_fault_names_the_array(change: dict[str, Any], witness: object, tmp_path: Path) -> None:
    formats.read(packed(tmp_path, arrays()))
    with pytest.raises(InvalidFile) as caught:
        formats.read(packed(tmp_path, arrays() | change))
    assert witness is None or caught.value.witness == witness


@pytest.mark.parametrize(
    "change",
    [{"executable": np.ones(3, np.bool_)}, {"value": np.array([np.nan, 1])}, {"cost": np.array([-1, 1])}],
    ids=["too long", "NaN", "negative cost"],
)
def test_an_archive_without_an_instance_is_refused(change: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(InvalidInput):
        formats.read(packed(tmp_path, arrays() | change))


def test_an_array_that_announces_more_than_it_holds_is_not_loaded(tmp_path: Path) -> None:
    path = packed(tmp_path, arrays())
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<i8", "fortran_order": False, "shape": (2_000_000_000,)}
    )
    with zipfile.ZipFile(path) as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in (held | {"value.npy": header.getvalue() + bytes(16)}).items():
            archive.writestr(name, content)
    with pytest.raises(InvalidFile) as caught:
        formats.read(path)
    assert caught.value.witness == "value"


@pytest.mark.parametrize("format", formats.formats())
@settings(max_examples=60)
@given(data=st.data())
def test_no_file_raises_anything_else(
    format: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / f"broken{formats.get_format(format).suffixes[0]}"
    formats.write(small(budget=4 if format == "cpit" else None), path)
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, max(len(content) - 1, 0)))
        piece = data.draw(st.binary(max_size=3) | st.sampled_from([b"\n", b"-", b"9", b" ", b"1e9", b"{"]))
        content[at : at + data.draw(st.integers(0, 4))] = piece
    path.write_bytes(bytes(content))
    with suppress(InvalidInput):
        formats.read(path)


def small(budget: int | None) -> SelectionInstance:
    return SelectionInstance(
        value=np.array([3, -1, 2]),
        cost=np.array([1, 2, 3]),
        requires=Digraph.from_arcs(3, (0, 2), (1, 1)),
        executable=np.ones(3, np.bool_),
        required=np.zeros(3, np.bool_),
        tradeoff=1,
        budget=budget,
    )
