"""What a stranger wrote cannot redraw the terminal, and any value has a JSON form."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from memorepair.cli.output import rows
from memorepair.cli.plain import document
from memorepair.cli.text import some, visible
from memorepair.errors import InvalidFile, UnknownId
from memorepair.formats.text import read_text
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


def test_how_many_is_said_in_the_number_it_is() -> None:
    told = [some(1, "wave"), some(0, "wave"), some(1_200, "wave"), some(2, "memory", "memories")]
    assert told == ["1 wave", "0 waves", "1,200 waves", "2 memories"]


def test_a_column_is_one_form_and_an_empty_table_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    rows("prices", ("value",), [[1], [1.0], [10**400]])
    rows("artifacts (0)", ("key", "kind"), [])
    shown = capsys.readouterr().out
    assert shown.count(" 1.00") == 2
    assert shown.endswith("artifacts (0)\nnone\n")


def test_an_unknown_name_is_told_what_is_near_or_all_there_is() -> None:
    known = ("pseudoflow", "scipy")
    assert UnknownId.among("solver", "sciypy", known).message == "no solver 'sciypy'; did you mean scipy?"
    assert UnknownId.among("solver", "x", known).message == "no solver 'x': one of pseudoflow, scipy"


def test_a_file_is_named_once_and_the_reason_is_in_words(tmp_path: Path) -> None:
    with pytest.raises(InvalidFile, match=r"nothing\.json cannot be read: No such file or directory$"):
        read_text(tmp_path / "nothing.json")
