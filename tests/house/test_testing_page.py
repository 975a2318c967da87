"""The page on testing is true: its example is a test file that passes, and its laws catch what is wrong."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import Phase, find, given, settings

from memorepair import SelectionInstance, Status, select, testing
from memorepair.testing import assert_certificate, assert_closed, assert_optimal, instances

PAGE = Path(__file__).parents[2] / "docs" / "testing.md"


def test_the_example_passes(tmp_path: Path) -> None:
    (code,) = re.findall(
        r"^```python\n(.*?)^```\n", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    example = tmp_path / "test_example.py"
    example.write_text(code, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(example)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "3 passed" in done.stdout


@pytest.mark.parametrize("name", testing.__all__)
def test_every_name_stands_on_the_page(name: str) -> None:
    assert f"`{name}(" in PAGE.read_text(encoding="utf-8")


@settings(max_examples=25)
@given(instances())
def test_an_answer_is_not_optimal_by_saying_so(instance: SelectionInstance) -> None:
    selection = select(instance, solver="repair-none")
    if selection.answer is None:
        return
    assert_certificate(selection)
    best = select(instance)
    lie = replace(selection, status=Status.OPTIMAL, certificate=best.certificate)
    if selection.objective == best.objective:
        return
    with pytest.raises(AssertionError):
        assert_optimal(lie)


@settings(max_examples=25)
@given(instances(budgets=True, max_size=6))
def test_an_optimum_within_a_budget_is_held_against_every_set(instance: SelectionInstance) -> None:
    selection = select(instance, gap=0)
    if selection.answer is None:
        return
    assert_closed(instance, selection.chosen)
    assert_certificate(selection)
    if selection.status is Status.OPTIMAL:
        assert_optimal(selection)


def test_a_lie_within_a_budget_is_caught() -> None:
    selection = select(value=[4, 4, 5], cost=[[1, 5], [5, 1], [3, 3]], budget=[6, 6], gap=0)
    assert_optimal(selection)
    poorer = np.array([False, False, True])
    assert selection.answer is not None
    with pytest.raises(AssertionError):
        assert_certificate(replace(selection, answer=replace(selection.answer, mask=poorer)))
    with pytest.raises(AssertionError):
        assert_certificate(replace(selection, leaves=selection.leaves * 2))


def test_the_wrong_extreme_is_caught() -> None:
    selection = select(value=[0, 1], ties="fewest")
    assert_optimal(selection)
    with pytest.raises(AssertionError, match="members"):
        assert_optimal(replace(selection, ties="most"))


def test_what_is_not_closed_is_caught() -> None:
    instance = select(value=[1, 1], requires=[("a", "b")], ids=["a", "b"]).instance
    assert_closed(instance, ["b"])
    with pytest.raises(AssertionError, match="'a' is chosen without 'b'"):
        assert_closed(instance, ["a"])
    with pytest.raises(AssertionError):
        assert_closed(instance, np.array([True, False]))


@pytest.mark.parametrize(
    "wanted",
    [
        lambda one: bool((one.requires.tails() == one.requires.heads).any()),
        lambda one: bool(one.required.any()) and not one.executable.all(),
        lambda one: one.kinds == 2,
        lambda one: one.ids is not None and any(isinstance(id, str) for id in one.ids),
        lambda one: one.value.dtype == np.object_,
        lambda one: one.value.dtype == np.float64 and one.k > 1,
    ],
    ids=["loop", "required and barred", "two costs", "text ids", "exact", "floats"],
)
def test_the_strategy_reaches(wanted: Callable[[SelectionInstance], bool]) -> None:
    strategy = instances(budgets=True, named=True)
    find(strategy, wanted, settings=settings(max_examples=2_000, phases=[Phase.generate]))
