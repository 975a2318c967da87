"""The picture of a cascade: what an event withdrew, what its repair let back in; ids only, no content."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from memorepair.errors import InvalidInput
from memorepair.facade import Memory
from memorepair.graphs.digraph import Digraph
from memorepair.graphs.order import strong_components, waves
from memorepair.graphs.terms import Kind
from memorepair.memory.arguments import CaseLike, as_case
from memorepair.memory.artifact import Case, Key, Listing, State
from memorepair.memory.exchange import Member
from memorepair.recovery.trace import RunLike


class Look(Enum):
    """How an artifact stands: the word beside it, the colour of its frame, the sign in it (a 12 x 12 path).

    Colours are those of Okabe and Ito, told apart by colour-blind readers; sign, frame and word say it again.
    """

    SERVED = ("served", "served", "M6 2 A4 4 0 1 0 6 10 A4 4 0 1 0 6 2 Z")
    ROOT = ("root", "root", "M6 0 L12 6 L6 12 L0 6 Z M6 4 L8 6 L6 8 L4 6 Z")
    WITHDRAWN = ("withdrawn", "out", "M1 1 H11 V11 H1 Z M3 5 V7 H9 V5 Z")
    REPAIRED = ("repaired", "repaired", "M0 7 L2 5 L5 8 L10 1 L12 3 L5 12 Z")
    RELEASED = ("released early", "released", "M0 1 L6 6 L0 11 Z M6 1 L12 6 L6 11 Z")
    SPARED = ("spared", "spared", "M5 0 H7 V12 H5 Z M0 5 H12 V7 H0 Z")
    FROZEN = ("read back", "frozen", "M2 1 H4 V11 H2 Z M8 1 H10 V11 H8 Z")
    LEFT = ("left withdrawn", "left", "M1 3 L3 1 L6 4 L9 1 L11 3 L8 6 L11 9 L9 11 L6 8 L3 11 L1 9 L4 6 Z")

    def __init__(self, word: str, style: str, sign: str) -> None:
        self.word = word
        self.style = style
        self.sign = sign


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """One artifact in the picture.

    Attributes
    ----------
    before, after
        How it stands when the barrier is up, how when the repair has ended.
    note
        A word or two beside the word of `after`.
    why
        A sentence for the tooltip.
    """

    key: Key
    kind: Kind
    before: Look
    after: Look
    note: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layout:
    corners: tuple[tuple[int, int], ...]
    headings: tuple[tuple[int, str], ...]
    width: int
    height: int


_MOST = 2_000
"""Members of a cascade that one page can hold."""

_SVG = "http://www.w3.org/2000/svg"
_CHIP = (192, 34)
_GAP = (12, 8)
_CHANNEL = 44
_TOP = 26


def picture_of(memory: Memory, case: CaseLike, *, run: RunLike | None = None) -> str:
    """A page with the cascade of a case, as it was withdrawn and as it is now: a door without content.

    With a `run`: its trace, where the case has left it; a step that the fault does not reach is read back.

    Raises
    ------
    UnknownId
        There is no such case or run.
    InvalidInput
        It has more members than can be drawn.
    """
    store, number = memory.store, as_case(case)
    with store.reading():
        declared, members = store.case(number), store.members(number)
        steps: set[Key] = set()
        if run is not None:
            trace = memory.trace(run)
            steps = set(trace.steps)
            shown = {arc.parent for step in trace.steps.values() for arc in step.support}
            shown |= steps | trace.writers.keys()
            members = [member for member in members if member.key in shown]
        if len(members) + len(steps) > _MOST:
            many = len(members) + len(steps)
            raise InvalidInput(f"{many} artifacts are more than can be drawn", witness=many)
        now = {key: store.describe(key) for key in (*(member.key for member in members), *sorted(steps))}
        spared = {one.member.key for one in store.spared(number)} & now.keys()
        arcs = store.support(list(now))
        around = {arc.parent: store.describe(arc.parent) for arc in arcs if arc.parent not in now}
    spots = [_member(member, now[member.key], declared) for member in members]
    for key in sorted(now.keys() - {member.key for member in members}):
        look = Look.SPARED if key in spared else Look.FROZEN
        spots.append(Spot(key=key, kind=now[key].kind, before=Look.SERVED, after=look))
    for key, listing in around.items():
        look = Look.SERVED if listing.state is State.ACTIVE else Look.LEFT
        spots.append(Spot(key=key, kind=listing.kind, before=look, after=look))
    count = Counter(spot.after for spot in spots if spot.key in now)
    return draw_cascade(
        spots,
        [(arc.parent, arc.child) for arc in arcs],
        title=f"Case {number}: {declared.event}, {declared.status}" + (f"; run {run}" if run else ""),
        before={"withdrawn": f"{declared.withdrawn:,}"},
        after={look.word: f"{n:,}" for look in Look if (n := count[look])},
    )


def _member(member: Member, now: Listing, case: Case) -> Spot:
    if member.root:
        look = Look.ROOT
    elif now.state is not State.ACTIVE:
        look = Look.LEFT
    else:
        look = Look.REPAIRED if now.version > member.version else Look.RELEASED
    return Spot(
        key=member.key,
        kind=member.kind,
        before=Look.ROOT if member.root else Look.WITHDRAWN,
        after=look,
        note=now.state.name.lower() if now.state is not State.ACTIVE else f"version {now.version}",
        why=(case.reason or "") if member.root else "",
    )


def draw_cascade(
    spots: Sequence[Spot],
    arcs: Iterable[tuple[Key, Key]],
    *,
    title: str,
    before: Mapping[str, str],
    after: Mapping[str, str],
) -> str:
    """Draw a cascade with its direct support, left to right by provenance depth, before and after repair.

    Parameters
    ----------
    spots
        The cascade and what it directly stands on; about 200 stay readable.
    arcs
        Influence arcs (parent, child) among the spots; the arcs of a cycle stay within one layer.
    title
        Heading of the page.
    before, after
        Figures over each panel: what is counted -> the count, in this order.

    Returns
    -------
    str
        A self-contained page (XHTML, two inline SVGs; no script, nothing loaded), for light or dark screens.

    Raises
    ------
    InvalidInput
        Two spots have one key, or an arc ends outside the spots.

    Notes
    -----
    Hovering over an artifact shows its tooltip, its arcs and its neighbours. O(n + m) for n spots, m arcs.
    """
    place = {spot.key: number for number, spot in enumerate(spots)}
    if len(place) < len(spots):
        twice = next(spot.key for number, spot in enumerate(spots) if place[spot.key] != number)
        raise InvalidInput(f"{twice} is drawn twice", witness=twice)
    pairs = list(dict.fromkeys(arcs))
    for pair in pairs:
        if pair[0] not in place or pair[1] not in place:
            raise InvalidInput("an arc ends outside the picture", witness=pair)
    numbered = [(place[parent], place[child]) for parent, child in pairs]
    layout = _layout(spots, numbered)
    panels = (
        ("Before: served until the event, then withdrawn", before, [(s.before, "") for s in spots]),
        ("After: what repair let back in", after, [(s.after, s.note) for s in spots]),
    )
    body = "\n".join(
        f"<section><h2>{_text(heading)}</h2>{_figures(figures)}"
        f"{_svg(spots, numbered, looks, layout, heading)}</section>"
        for heading, figures, looks in panels
    )
    used = {look for spot in spots for look in (spot.before, spot.after)}
    return (
        '<!DOCTYPE html>\n<html xmlns="http://www.w3.org/1999/xhtml" lang="en"><head><meta charset="utf-8"/>'
        f"<title>{_text(title)}</title><style>{_STYLE}{_hover(len(spots), numbered)}</style></head>\n"
        f"<body><h1>{_text(title)}</h1>{_legend(used)}\n{body}</body></html>\n"
    )


def _layers(spots: Sequence[Spot], arcs: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Longest path from a source; support that nothing here feeds stands just before its first child."""
    tails = np.array([child for _, child in arcs], np.int64)
    heads = np.array([parent for parent, _ in arcs], np.int64)
    component = strong_components(Digraph.from_arcs(len(spots), tails, heads)).astype(np.int64)
    tail, head = component[tails], component[heads]
    between = tail != head
    condensed = Digraph.from_arcs(int(component.max(initial=-1)) + 1, tail[between], head[between])
    depth = waves(condensed)[component].tolist()
    fed = {child for _, child in arcs}
    first: dict[int, int] = {}
    for parent, child in arcs:
        first[parent] = min(first.get(parent, depth[child]), depth[child])
    layers: list[list[int]] = [[] for _ in range(max(depth, default=-1) + 1)]
    for node, spot in enumerate(spots):
        moved = spot.before is Look.SERVED and node not in fed and node in first
        layers[first[node] - 1 if moved else depth[node]].append(node)
    return _untangled(layers, arcs)


def _untangled(layers: list[list[int]], arcs: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Each layer ordered by the mean place of its neighbours, there and back (Sugiyama's barycentre rule)."""
    neighbours: dict[int, list[int]] = {}
    for parent, child in arcs:
        neighbours.setdefault(parent, []).append(child)
        neighbours.setdefault(child, []).append(parent)
    height = {node: row / len(layer) for layer in layers for row, node in enumerate(layer)}

    def mean(node: int) -> float:
        around = neighbours.get(node, [node])
        return sum(height[other] for other in around) / len(around)

    for _ in range(4):
        for layer in (*layers, *reversed(layers)):
            layer.sort(key=mean)
            height.update({node: row / len(layer) for row, node in enumerate(layer)})
    return layers


def _layout(spots: Sequence[Spot], arcs: Sequence[tuple[int, int]]) -> _Layout:
    layers = _layers(spots, arcs)
    rows = min(24, max(6, round((len(spots) * 2.2) ** 0.5)))  # about as wide as a screen
    corners = [(0, 0)] * len(spots)
    headings: list[tuple[int, str]] = []
    left, tallest = 0, 0
    for depth, layer in enumerate(layers):
        columns = max(1, -(-len(layer) // rows))
        tall = -(-len(layer) // columns)
        headings.append((left, f"depth {depth}" if depth else "sources"))
        for number, node in enumerate(layer):
            column, row = divmod(number, tall)
            corners[node] = (left + column * (_CHIP[0] + _GAP[0]), _TOP + row * (_CHIP[1] + _GAP[1]))
        left += columns * (_CHIP[0] + _GAP[0]) - _GAP[0] + _CHANNEL
        tallest = max(tallest, tall)
    return _Layout(
        corners=tuple(corners),
        headings=tuple(headings),
        width=max(left - _CHANNEL, 1),
        height=_TOP + tallest * (_CHIP[1] + _GAP[1]),
    )


def _svg(
    spots: Sequence[Spot],
    arcs: Sequence[tuple[int, int]],
    looks: Sequence[tuple[Look, str]],
    layout: _Layout,
    heading: str,
) -> str:
    wide, narrow = layout.width + 4, layout.width * 6 // 10
    parts = [
        f'<div class="scroll"><svg xmlns="{_SVG}" role="img" aria-label={_attribute(heading)} '
        f'viewBox="-2 -2 {wide} {layout.height + 4}" style="max-width:{wide}px;min-width:{narrow}px">'
    ]
    parts += [f'<text class="depth" x="{left}" y="14">{text}</text>' for left, text in layout.headings]
    for parent, child in arcs:
        (x1, y1), (x2, y2) = layout.corners[parent], layout.corners[child]
        x1, y1, y2 = x1 + _CHIP[0], y1 + _CHIP[1] // 2, y2 + _CHIP[1] // 2
        bend = max(24, abs(x2 - x1) // 2)
        curve = f"M{x1} {y1} C{x1 + bend} {y1} {x2 - bend} {y2} {x2} {y2}"
        parts.append(f'<path class="arc a{parent} b{child}" d="{curve}"/>')
    for number, (spot, (look, note), (x, y)) in enumerate(zip(spots, looks, layout.corners, strict=True)):
        words = f"{spot.kind.name.lower()} · {look.word}" + (f": {note}" if note else "")
        tip = f"{spot.key}\n{words}" + (f"\n{spot.why}" if spot.why else "")
        parts.append(
            f'<g class="chip {look.style} n{number}" transform="translate({x} {y})">'
            f"<title>{_text(tip)}</title>"
            f'<rect width="{_CHIP[0]}" height="{_CHIP[1]}" rx="{9 if look is Look.SERVED else 4}"/>'
            f'<path class="sign" fill-rule="evenodd" transform="translate(8 11)" d="{look.sign}"/>'
            f'<text class="id" x="28" y="15">{_text(_clipped(spot.key.id, 23))}</text>'
            f'<text class="word" x="28" y="28">{_text(_clipped(words, 31))}</text></g>'
        )
    return "".join(parts) + "</svg></div>"


def _figures(figures: Mapping[str, str]) -> str:
    cells = "".join(
        f"<div><dt>{_text(name)}</dt><dd>{_text(value)}</dd></div>" for name, value in figures.items()
    )
    return f"<dl>{cells}</dl>" if cells else ""


def _legend(used: set[Look]) -> str:
    items = "".join(
        f'<li><svg xmlns="{_SVG}" width="30" height="20"><g class="chip {look.style}">'
        '<rect x="1" y="1" width="28" height="18" rx="4"/>'
        f'<path class="sign" fill-rule="evenodd" transform="translate(9 4)" d="{look.sign}"/>'
        f"</g></svg>{look.word}</li>"
        for look in Look
        if look in used
    )
    return f"<ul>{items}<li>influence runs left to right; hover for ids, reasons, neighbours</li></ul>"


def _hover(nodes: int, arcs: Sequence[tuple[int, int]]) -> str:
    """Rules that light a spot's arcs and neighbours while the pointer is on it; they work without script."""
    near: list[list[str]] = [[f".a{node}", f".b{node}"] for node in range(nodes)]
    beside: list[list[str]] = [[] for _ in range(nodes)]
    for parent, child in arcs:
        beside[parent].append(f".n{child} rect")
        beside[child].append(f".n{parent} rect")
    return "".join(
        f"svg:has(.n{node}:hover) :is({','.join(near[node] + beside[node])}){{stroke-width:2.6;opacity:1}}"
        for node in range(nodes)
        if beside[node]
    )


def _clipped(text: str, columns: int) -> str:
    """`text` cut to the width it may take; wide characters (Chinese, Japanese, Korean) count twice."""
    room = columns
    for position, character in enumerate(text):
        room -= 2 if unicodedata.east_asian_width(character) in "WF" else 1
        if room < 0:
            return text[: max(position - 1, 0)] + "…"
    return text


def _text(text: str) -> str:
    return escape("".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in text))


def _attribute(text: str) -> str:
    return quoteattr("".join(c if c.isprintable() else "\ufffd" for c in text))


_STYLE = """
:root{color-scheme:light dark;--page:#fff;--ink:#1b1f24;--dim:#5b6570;
--line:#8b96a3;--chip:#fff;--rule:#d9dee4}
@media(prefers-color-scheme:dark){:root{--page:#14171b;--ink:#e8ebef;--dim:#a3adb8;
--line:#76818d;--chip:#1d2127;--rule:#353c45}}
body{margin:24px;background:var(--page);color:var(--ink);font:14px/1.45 system-ui,sans-serif}
h1{font-size:20px;margin:0 0 10px}h2{font-size:15px;margin:26px 0 8px}
ul{display:flex;flex-wrap:wrap;gap:6px 20px;list-style:none;margin:0;padding:0;
color:var(--dim);font-size:13px}
li{display:flex;align-items:center;gap:7px}
dl{display:flex;flex-wrap:wrap;gap:6px 26px;margin:0 0 12px}dl div{min-width:70px}
dt{color:var(--dim);font-size:12px}dd{margin:0;font-size:19px;font-variant-numeric:tabular-nums}
.scroll{overflow-x:auto;border-top:1px solid var(--rule);padding-top:10px}
svg{display:block}.scroll svg{width:100%}
.depth{fill:var(--dim);font:12px system-ui,sans-serif}
.arc{fill:none;stroke:var(--line);stroke-width:1.1;opacity:.42}
.chip{--c:#8b96a3}.chip rect{fill:var(--chip);stroke:var(--c);stroke-width:1.3}.sign{fill:var(--c)}
.root{--c:#b85c93}.root rect{stroke-width:2.6}
.out{--c:#d55e00}.out rect{stroke-dasharray:5 3}
.repaired{--c:#009e73}.repaired rect{stroke-width:2}
.released{--c:#3a94d0}.released rect{stroke-width:2}
.spared{--c:#e69f00}.spared rect{stroke-width:2}
.frozen{--c:#56b4e9}.frozen .id{fill:var(--dim)}
.left{--c:#d55e00}.left rect{stroke-dasharray:5 3;stroke-width:1.6}
.chip:hover rect{stroke-width:3}
.id{fill:var(--ink);font:11px ui-monospace,Menlo,Consolas,monospace}
.word{fill:var(--dim);font:9.5px system-ui,sans-serif}
.served .id{fill:var(--dim)}
"""
