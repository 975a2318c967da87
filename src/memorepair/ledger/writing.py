"""Writing: a case record for a person, as Markdown or as one HTML page without a script."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from html import escape as escaped

from memorepair.ledger.case import CaseRecord
from memorepair.ledger.plots import bars
from memorepair.memory.artifact import Json

_SHOWN = 200
_MARKS = re.compile(r"[\\|\[\]`]")
"""What would end a cell, or make a link or code of what others wrote."""


def visible(text: str) -> str:
    """A text on one line, what is not printable spelled out: nothing redraws or reorders what is read."""
    line = " ".join(text.split())
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode("ascii") for one in line)


def escape(text: str) -> str:
    """The same for a page: what others wrote is no markup."""
    return escaped(visible(text))


def _when(record: CaseRecord) -> str:
    return datetime.fromtimestamp(record.at / 1e9, UTC).strftime("%Y-%m-%d %H:%M UTC")


def _title(record: CaseRecord) -> str:
    return f"Check-up {record.id}, {_when(record)}"


def _summary(record: CaseRecord) -> list[str]:
    share = ", ".join(f"{n} {name}" for name, n in record.share().items() if n)
    lines = [f"{record.findings} findings in {record.artifacts} artifacts"]
    lines += [f"remedies: {share}"] if share else []
    lines += [f"waiting for a person: {', '.join(record.waiting)}"] if record.waiting else []
    return lines


def _found(record: CaseRecord) -> list[tuple[str, str, int]]:
    return [(damage, code, n) for damage, codes in record.found.items() for code, n in codes.items()]


def _figures(record: CaseRecord) -> list[tuple[str, float, float]]:
    return [(name, before, record.after.get(name, before)) for name, before in record.before.items()]


def _done(record: CaseRecord) -> list[tuple[str, int, str, str, str]]:
    lines: list[tuple[str, int, str, str, str]] = []
    for outcome in record.outcomes[:_SHOWN]:
        proposal = outcome.get("proposal")
        said = proposal if isinstance(proposal, dict) else {}
        keys = said.get("keys")
        state = "done" if outcome.get("done") else str(outcome.get("answer"))
        if outcome.get("failed"):
            state = f"failed: {outcome['failed']}"
        case = f" (case {outcome['case']})" if outcome.get("case") else ""
        level = outcome.get("grade")
        grade = "I" * level if isinstance(level, int) else ""
        lines.append(
            (
                f"{said.get('remedy')} ({grade})",
                len(keys) if isinstance(keys, list) else 0,
                str(said.get("why", "")),
                f"{state}{case}",
                str(said.get("way_back", "")) if outcome.get("done") else str(outcome.get("why", "")),
            )
        )
    return lines


def to_markdown(record: CaseRecord) -> str:
    """The record as Markdown; what others wrote breaks no cell, and is no link, code or HTML."""
    lines = [f"# {_title(record)}", "", *(f"- {_cell(one)}" for one in _summary(record)), ""]
    tables = (
        ("Findings", ("damage", "code", "number"), _found(record)),
        ("Figures", ("figure", "before", "after"), _figures(record)),
        ("Remedies", ("remedy", "artifacts", "why", "state", "way back, or why not"), _done(record)),
    )
    for title, columns, rows in tables:
        if rows:
            lines += [f"## {title}", "", _row(columns), _row(["---"] * len(columns))]
            lines += [_row(row) for row in rows]
            lines.append("")
    for title, items in (
        ("Root causes", record.causes),
        ("Prevention", record.prevention),
        ("Not looked at", record.left_out),
    ):
        if items:
            lines += [f"## {title}", "", *(f"- {_cell(one)}" for one in items), ""]
    return "\n".join(lines)


def _row(cells: object) -> str:
    return f"| {' | '.join(_cell(one) for one in cells)} |" if isinstance(cells, list | tuple) else ""


def _cell(value: Json | object) -> str:
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    return _MARKS.sub(r"\\\g<0>", visible(text)).replace("<", "&lt;")


_STYLE = """body{font-family:sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222}
table{border-collapse:collapse;margin:1rem 0}
td,th{border-bottom:1px solid #ddd;padding:.3rem .6rem;text-align:left}"""


def to_html(record: CaseRecord) -> str:
    """The record as one page: no script, no request; everything that others wrote is escaped."""
    parts = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>",
        f"<title>{escape(_title(record))}</title><style>{_STYLE}</style></head><body>",
        f"<h1>{escape(_title(record))}</h1><ul>",
        *(f"<li>{escape(one)}</li>" for one in _summary(record)),
        "</ul>",
    ]
    figures = _figures(record)
    if figures:
        parts += ["<h2>Before and after</h2>", bars(figures)]
    for title, columns, rows in (
        ("Findings", ("damage", "code", "number"), _found(record)),
        ("Remedies", ("remedy", "artifacts", "why", "state", "way back, or why not"), _done(record)),
    ):
        if rows:
            parts.append(f"<h2>{title}</h2><table><tr>")
            parts += [f"<th>{escape(column)}</th>" for column in columns]
            parts.append("</tr>")
            parts += [
                "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows
            ]
            parts.append("</table>")
    for title, items in (
        ("Root causes", record.causes),
        ("Prevention", record.prevention),
        ("Not looked at", record.left_out),
    ):
        if items:
            parts.append(f"<h2>{title}</h2><ul>")
            parts += [f"<li>{escape(one)}</li>" for one in items]
            parts.append("</ul>")
    return "".join([*parts, "</body></html>"])
