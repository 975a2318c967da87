"""What a stranger wrote cannot redraw the terminal, and any value has a JSON form."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from memorepair.cli.plain import document
from memorepair.cli.text import visible
from memorepair.graphs.terms import Kind
from memorepair.memory.artifact import CaseStatus, Key, Read, State


@given(st.text())
def test_no_control_character_reaches_the_terminal(content: str) -> None:
    assert visible(content).plain.isprintable()
    assert all(one.isprintable() or one in "\n\t" for one in visible(content, lines=True).plain)


@given(st.text(alphabet=st.characters(codec="utf-8")).filter(str.isprintable))
def test_printable_text_is_shown_as_it_is(content: str) -> None:
    assert visible(content).plain == content


def test_markup_and_escapes_are_shown_not_obeyed() -> None:
    console = Console(force_terminal=True, width=200, no_color=True)
    with console.capture() as shown:
        console.print(visible("[bold]x[/bold] \x1b[2J\u202e [link=http://a]y[/link]"))
    assert shown.get() == "[bold]x[/bold] \\x1b[2J\\u202e [link=http://a]y[/link]\n"


def test_values_become_json() -> None:
    key = Key(("user", "42"), "home")
    told = json.loads(
        document(
            {
                (State.ACTIVE, Kind.CACHE): 1,
                key: [CaseStatus.CLOSED_PARTIAL, Fraction(1, 3), np.int32(4), np.array([True]), float("inf")],
                "read": Read(key=key),
            }
        )
    )
    assert told["user/42::home"] == ["closed_partial", "1/3", 4, [True], "inf"]
    assert told["read"] == {"key": "user/42::home", "version": None, "relation": "derive", "group": 0}


@given(st.text())
def test_json_is_ascii_whatever_it_says(content: str) -> None:
    assert document(content).isascii()
    assert json.loads(document(content)) == content
