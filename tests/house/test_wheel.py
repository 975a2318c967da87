"""What is shipped: an sdist that builds a wheel, a wheel that works with the source away."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

USE = """
from pathlib import Path
import memorepair
selection = memorepair.select(
    value=[1.0, 1.0, 9.0, 0.1], cost=[2.0, 2.0, 3.0, 9.0], requires=[(2, 0), (2, 1)], tradeoff=0.3
)
selection.verify()
print(Path(memorepair.__file__).parent)
print(selection.chosen)
"""


def run(*command: str | Path, cwd: Path, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("sdist")
    run(sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", out, ROOT, cwd=ROOT)
    return next(out.glob("memorepair-*.tar.gz"))


@pytest.fixture(scope="module")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from the sdist, where there is nothing but what was shipped."""
    out = tmp_path_factory.mktemp("wheel")
    with tarfile.open(sdist) as archive:
        archive.extractall(out, filter="data")
    source = out / sdist.name.removesuffix(".tar.gz")
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", out, source, cwd=out)
    return next(out.glob("memorepair-*.whl"))


def test_the_sdist_holds_source_tests_bench_and_no_doors(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        inside = [Path(*Path(member.name).parts[1:]) for member in archive.getmembers() if member.isfile()]
    top = {path.parts[0] for path in inside}
    assert {"src", "tests", "bench", "pyproject.toml", "README.md", "LICENSE"} <= top
    assert top.isdisjoint({"graphs", "reductions", "solvers"})
    shipped = {path.relative_to(ROOT) for path in (ROOT / "src" / "memorepair" / "graphs").glob("*.py")}
    assert shipped <= set(inside)
    assert not [path for path in inside if "__pycache__" in path.parts]


def test_the_wheel_holds_the_package_and_its_papers(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        inside = archive.namelist()
    papers = "-".join(wheel.name.split("-")[:2]) + ".dist-info"
    assert {name.partition("/")[0] for name in inside} == {"memorepair", papers}
    assert "memorepair/py.typed" in inside
    assert f"{papers}/licenses/LICENSE" in inside
    for room in ("graphs", "reductions", "solvers"):
        assert f"memorepair/{room}/__init__.py" in inside
    here = {path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src").rglob("*.py")}
    assert here <= set(inside)


def test_the_wheel_works_with_the_source_away(wheel: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    venv.create(home, with_pip=False)
    python = home / ("Scripts" if os.name == "nt" else "bin") / "python"
    command = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python)
    run(*command, "install", "--quiet", "--no-deps", "--no-index", wheel, cwd=tmp_path)
    # The dependencies are lent by the environment of this test, so that no network is needed. A folder on
    # PYTHONPATH has its .pth files left unread: an editable install of this source stays out of sight.
    env = {**os.environ, "PYTHONPATH": sysconfig.get_path("purelib")}
    where, chosen = run(python, "-c", USE, cwd=tmp_path, env=env).splitlines()
    assert Path(where).is_relative_to(home)
    assert chosen == "(0, 1, 2)"
    assert "Usage" in run(python.with_name("memorepair"), "--help", cwd=tmp_path, env=env)
