"""What a command says may find nobody, or no room: it ends quietly, or says that it could not tell."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memorepair.cli import output
from memorepair.cli.guard import CUT_OFF, UNTOLD

if TYPE_CHECKING:
    from tests.cli.conftest import Shell

MAIN = [sys.executable, "-W", "error", "-c", "from memorepair.cli import main; main()"]
COMMANDS = [["list"], ["list", "--json"], ["get", "user/42::home"], ["get", "user/42::nobody", "--json"]]


def run(db: Path, command: list[str], output: int) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, with this standard output."""
    environment = os.environ | {"MEMOREPAIR_DB": str(db), "MEMOREPAIR_ACTOR": "tester"}
    return subprocess.run(
        [*MAIN, *command], env=environment, stdout=output, stderr=subprocess.PIPE, text=True, check=False
    )


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_reader_that_has_gone_is_no_problem_found(shell: Shell, command: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = run(shell.db, command, writer)
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (CUT_OFF, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_full_disk_is_told_on_standard_error(shell: Shell, command: list[str]) -> None:
    full = os.open("/dev/full", os.O_WRONLY)
    try:
        done = run(shell.db, command, full)
    finally:
        os.close(full)
    assert done.returncode == UNTOLD
    assert "could not be told" in done.stderr
    assert "Traceback" not in done.stderr


def test_what_cannot_be_told_is_done(shell: Shell) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        run(shell.db, ["delete", "user/42::home", "--reason", "r"], writer)
    finally:
        os.close(writer)
    assert shell.told("get", "user/42::home", code=2)["error"]["type"] == "Withdrawn"


def test_a_folder_that_cannot_be_made_is_bad_input(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    done = run(shell.db, ["demo", "--out", str(tmp_path / "file" / "below"), "--json"], subprocess.PIPE)
    assert done.returncode == 2
    assert json.loads(done.stdout)["error"]["type"] == "InvalidFile"
    assert "Traceback" not in done.stderr


def test_a_title_longer_than_its_table_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    output.rows("derived, but nothing is recorded that they stand on", ("key",), [["a"]])
    assert "derived, but nothing is recorded that they stand on\n" in capsys.readouterr().out


def test_what_a_library_prints_is_no_part_of_the_document(tmp_path: Path) -> None:
    # HiGHS leaves such lines on the descriptor itself, past sys.stdout.
    (tmp_path / "one.json").write_text(
        '{"format": "memorepair.selection", "version": 1, "candidates": [{"id": "a", "value": 1}]}'
    )
    noisy = (
        "import os, memorepair.cli.selecting as s; real = s.select\n"
        "s.select = lambda *a, **k: (os.write(1, b'noise'), real(*a, **k))[1]\n"
        "from memorepair.cli import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", noisy, "select", "one.json", "--json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "noise")
    assert json.loads(done.stdout)["chosen"] == ["a"]
