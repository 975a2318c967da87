"""The demo shows what it claims: complete withdrawal, sound publication, each way a repair can go."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from memorepair.demo import Act, Tour, run, show
from memorepair.demo.world import world
from memorepair.errors import InvalidFile
from memorepair.memory.artifact import Json
from memorepair.repair.report import Fate


@pytest.fixture(scope="module")
def tour(tmp_path_factory: pytest.TempPathFactory) -> Tour:
    return run(tmp_path_factory.mktemp("demo"))


@pytest.fixture(scope="module", params=["correct", "delete", "migrate"])
def act(request: pytest.FixtureRequest, tour: Tour) -> Act:
    return next(act for act in tour.acts if act.event == request.param)


def test_it_is_a_memory_of_about_two_hundred_artifacts(tour: Tour) -> None:
    assert 180 <= tour.artifacts <= 260
    assert tour.scopes == 4
    assert [act.event.value for act in tour.acts] == ["correct", "delete", "migrate"]


def test_the_whole_cascade_is_withdrawn_and_unreadable(act: Act) -> None:
    assert act.exposed == act.withdrawn == len(act.lines) + len(act.roots)
    assert act.exposed > 15
    assert act.readable == 0
    assert act.probe.before > 0
    assert act.probe.withdrawn == act.probe.after == 0


def test_what_comes_back_is_sound_and_worth_it(act: Act) -> None:
    assert act.sound
    assert act.exposed_after == 0
    assert act.optimal
    assert 0 < act.cost < act.cost_all
    assert 0.8 <= act.worth / act.worth_all <= 1
    back = act.lines_of(Fate.REPUBLISHED, Fate.UNCHANGED, Fate.RELEASED)
    assert len(back) + len(act.left) == len(act.lines)
    assert all(line.why for line in act.lines)


def test_every_fate_and_every_reason_is_shown(tour: Tour) -> None:
    fates = {line.fate for act in tour.acts for line in act.lines}
    assert fates >= {Fate.REPUBLISHED, Fate.UNCHANGED, Fate.RELEASED, Fate.FAILED, Fate.LEFT}
    reasons = " ".join(line.why for act in tour.acts for line in act.left)
    assert all(
        one in reasons
        for one in ("price", "observed", "neural", "input unavailable", "support", "warns of allergies")
    )
    modes = {line.mode for act in tour.acts for line in act.lines}
    assert modes == {"recompute", "regen", "remove"}


def test_pictures_are_well_formed_and_hold_no_content(act: Act) -> None:
    page = act.picture.read_text(encoding="utf-8")
    ElementTree.fromstring(page)  # noqa: S314  our own output
    assert all(str(line.key) in page for line in act.lines)
    said = {text for text in texts(world()) if len(text) > 20}
    assert not [text for text in said if text in page]
    assert not re.search(r"<script|https?://(?!www\.w3\.org)", page)


def texts(value: Json) -> list[str]:
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return [text for one in inner for text in texts(one)]


def test_two_runs_tell_the_same(tour: Tour, tmp_path: Path) -> None:
    def figures(told: Tour) -> dict[str, Json]:
        whole = told.to_json()
        events = whole["events"]
        assert isinstance(events, list)
        for event in events:
            assert isinstance(event, dict)
            del event["picture"]
        return whole

    assert figures(run(tmp_path)) == figures(tour)


def test_a_screen_an_event(
    tour: Tour, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    show(tour)
    screens = re.split(r"\n(?=\d  )", capsys.readouterr().out)[1:]
    assert len(screens) == 3
    for screen, act in zip(screens, tour.acts, strict=True):
        assert screen.count("\n") <= 40
        assert f"{act.withdrawn} at once" in screen
        assert str(act.picture) in screen


def test_as_a_module_it_prints_one_json_document(tour: Tour, tmp_path: Path) -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-W",
            "error",
            "-m",
            "memorepair.demo",
            "--json",
            "--out",
            str(tmp_path / "new" / "out"),
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    told = json.loads(done.stdout)
    assert told["sound"] is True
    assert told["artifacts"] == tour.artifacts
    assert sorted(path.name for path in (tmp_path / "new" / "out").iterdir()) == [
        "1-correct.html",
        "2-delete.html",
        "3-migrate.html",
    ]


def test_a_folder_that_cannot_be_made_is_bad_input(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidFile):
        run(tmp_path / "file" / "out")
