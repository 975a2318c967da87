"""The root holds three doors to the core: relative links, in a checkout that makes links."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOORS = ["graphs", "reductions", "solvers"]


@pytest.mark.parametrize("door", DOORS)
def test_a_door_is_a_relative_link_to_its_room(door: str) -> None:
    link = ROOT / door
    if not link.is_symlink():
        pytest.skip(f"{link} is no link: this checkout makes none, or is an unpacked source distribution")
    assert link.readlink() == Path("src", "memorepair", door)
    assert (link / "__init__.py").is_file()


def test_the_repository_records_the_doors_as_links() -> None:
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        pytest.skip("not in a git repository")
    done = subprocess.run(
        [git, "ls-files", "--stage", "--", *DOORS], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        pytest.skip(f"git does not read this repository: {done.stderr.strip()}")
    recorded = {line.split("\t")[1]: line.split()[0] for line in done.stdout.splitlines()}
    assert recorded == dict.fromkeys(DOORS, "120000")
