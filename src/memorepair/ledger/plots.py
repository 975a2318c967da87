"""Plots: two figures side by side, as SVG text that needs nothing to be shown."""

from __future__ import annotations

from html import escape

_WIDTH, _BAR, _GAP, _NAME = 420, 14, 4, 170


def bars(figures: list[tuple[str, float, float]]) -> str:
    """Bars of each figure before and after, each pair on its own scale; O(figures)."""
    row = 2 * _BAR + 3 * _GAP
    height = row * len(figures) + _GAP
    room = _WIDTH - _NAME - 60
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" role="img"'
        ' font-family="sans-serif" font-size="11">'
    ]
    for place, (name, before, after) in enumerate(figures):
        top = _GAP + place * row
        most = max(abs(before), abs(after)) or 1.0
        parts.append(f'<text x="0" y="{top + _BAR + 2}">{escape(name)}</text>')
        for line, (value, colour) in enumerate(((before, "#b4534b"), (after, "#3f7f5f"))):
            y = top + line * (_BAR + _GAP)
            width = room * abs(value) / most
            parts.append(f'<rect x="{_NAME}" y="{y}" width="{width:.1f}" height="{_BAR}" fill="{colour}"/>')
            parts.append(f'<text x="{_NAME + width + 4:.1f}" y="{y + _BAR - 3}">{value:.4g}</text>')
    parts.append("</svg>")
    return "".join(parts)
