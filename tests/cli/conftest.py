"""A small memory in a file, and the command line run on it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from memorepair.cli import app
from memorepair.facade import Memory
from memorepair.memory.snapshot import Snapshot

HOSTILE = "[red]She[/red] likes \x1b[2Jlong walks\u202e."


@dataclass(frozen=True, slots=True)
class Shell:
    """Runs commands on one file."""

    db: Path
    runner: CliRunner

    def run(self, *args: str, code: int = 0, input: str | None = None) -> tuple[str, str]:
        """Standard output and standard error of a command that ends with `code`."""
        env = {"MEMOREPAIR_DB": str(self.db), "MEMOREPAIR_ACTOR": "tester", "COLUMNS": "200"}
        done = self.runner.invoke(app, list(args), env=env, input=input)
        assert done.exit_code == code, (args, done.stdout, done.stderr)
        assert "Traceback" not in done.output
        return done.stdout, done.stderr

    def told(self, *args: str, code: int = 0) -> Any:
        """The JSON document that is all a command prints with ``--json``."""
        out, _ = self.run(*args, "--json", code=code)
        assert out.count("\n") == 1
        return json.loads(out)

    def shown(self, *args: str, code: int = 0) -> str:
        """What a person sees; never a character that acts on a terminal."""
        out, _ = self.run(*args, code=code)
        assert all(one.isprintable() or one == "\n" for one in out)
        return out

    def snapshot(self) -> Snapshot:
        """The whole memory."""
        with Memory.open(self.db, create=False) as memory:
            return memory.store.snapshot()

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        """What is done inside leaves the memory as it was."""
        before = self.snapshot()
        yield
        assert self.snapshot() == before


@pytest.fixture
def empty(tmp_path: Path) -> Shell:
    return Shell(tmp_path / "agent.db", CliRunner())


@pytest.fixture
def shell(empty: Shell) -> Shell:
    """home and likes; profile stands on both, greeting on profile, neural on home."""
    user = ("user", "42")
    with Memory.open(empty.db) as memory:
        home = memory.record("She lives in Paris.", id="home", scope=user)
        likes = memory.record(HOSTILE, id="likes", scope=user)
        with memory.deriving(kind="summary", operator="summarise", scope=user) as d:
            profile = d.write(" ".join(d.read(key).content for key in (home, likes)), id="profile")
        with memory.deriving(kind="skill", arch="prompt", operator="prompt-skill", scope=user) as d:
            d.write(d.read(profile).content, id="greeting")
    return empty


@pytest.fixture
def corrected(shell: Shell) -> Shell:
    """The same with case 1: home is corrected, nothing is repaired."""
    shell.run("correct", "user/42::home", "--content", "She lives in Lyon.", "--reason", "moved")
    return shell
