"""The picture of a cascade shows ids, states, reasons: well-formed, escaped, placed by depth."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memorepair.errors import InvalidInput
from memorepair.graphs.terms import Kind
from memorepair.memory.artifact import Key
from memorepair.picture import Look, Spot, draw_cascade

SVG = "{http://www.w3.org/2000/svg}"


def spot(id: str, before: Look = Look.WITHDRAWN, after: Look = Look.REPAIRED, **more: str) -> Spot:
    return Spot(key=Key(("user", "ada"), id), kind=Kind.SUMMARY, before=before, after=after, **more)


def drawn(spots: list[Spot], arcs: list[tuple[int, int]]) -> str:
    keys = [one.key for one in spots]
    pairs = [(keys[parent], keys[child]) for parent, child in arcs]
    return draw_cascade(spots, pairs, title="A title", before={"cascade": "3"}, after={"back": "2"})


def panels(page: str) -> list[ElementTree.Element]:
    return [svg for svg in ElementTree.fromstring(page).iter(f"{SVG}svg") if svg.get("role") == "img"]  # noqa: S314  our own output


def lefts(panel: ElementTree.Element) -> list[int]:
    found = [re.search(r"translate\((\d+)", g.get("transform", "")) for g in panel.iter(f"{SVG}g")]
    return [int(match.group(1)) for match in found if match]


@settings(max_examples=60)
@given(data=st.data(), n=st.integers(1, 25))
def test_every_acyclic_arc_runs_left_to_right(data: st.DataObject, n: int) -> None:
    pairs = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda pair: pair[0] < pair[1])
    arcs = data.draw(st.lists(pairs, max_size=60)) if n > 1 else []
    fed = {child for _, child in arcs}
    spots = [spot(f"a{i}", Look.WITHDRAWN if i in fed else Look.SERVED, Look.LEFT) for i in range(n)]
    before, after = panels(drawn(spots, arcs))
    assert lefts(before) == lefts(after)
    assert all(lefts(before)[parent] < lefts(before)[child] for parent, child in arcs)


@settings(max_examples=60)
@given(st.text(min_size=1).filter(str.isprintable), st.text(), st.text())
def test_any_id_and_reason_stays_text(id: str, note: str, why: str) -> None:
    page = drawn([spot(id, note=note, why=why)], [])
    before, after = panels(page)
    assert (
        len(list(before.iter()))
        == len(list(after.iter()))
        == len(list(panels(drawn([spot("x")], []))[0].iter()))
    )


def test_hostile_ids_are_escaped() -> None:
    page = drawn([spot('<script>alert("1")</script>', why="</title><b>\x1b[2J")], [])
    assert not [markup for markup in ("<script", "<b>", "\x1b") if markup in page]
    tips = [title.text or "" for title in panels(page)[0].iter(f"{SVG}title")]
    assert '<script>alert("1")</script>' in tips[0]


def test_cycles_loops_and_repeated_arcs_are_drawn() -> None:
    page = drawn(
        [spot("a", Look.ROOT, Look.ROOT), spot("b"), spot("c")], [(0, 1), (1, 2), (2, 1), (2, 2), (0, 1)]
    )
    before, _ = panels(page)
    assert len([path for path in before.iter(f"{SVG}path") if "arc" in path.get("class", "")]) == 4


def test_every_state_is_told_by_word_and_sign() -> None:
    signs = {look.sign for look in Look}
    assert len(signs) == len({look.word for look in Look}) == len(Look)
    page = drawn([spot(f"s{i}", Look.WITHDRAWN, look) for i, look in enumerate(Look)], [])
    words = " ".join(panels(page)[1].itertext())
    assert all(look.word in words and look.sign in page for look in Look)


def test_an_empty_cascade_is_a_page_too() -> None:
    assert len(panels(drawn([], []))) == 2


def test_bad_pictures_name_what_is_wrong() -> None:
    with pytest.raises(InvalidInput) as twice:
        drawn([spot("a"), spot("a")], [])
    assert twice.value.witness == Key(("user", "ada"), "a")
    other = Key((), "other")
    with pytest.raises(InvalidInput) as outside:
        draw_cascade([spot("a")], [(spot("a").key, other)], title="t", before={}, after={})
    assert outside.value.witness == (spot("a").key, other)
