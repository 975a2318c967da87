"""Lockfiles: npm's own dev flags are what goes with the dev roots; uv requires all it names."""

from __future__ import annotations

import json
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest

from memorepair.adapters.lockfiles import read_npm, read_uv
from memorepair.errors import InvalidFile

LOCK = """
version = 1
[[package]]
name = "app"
source = { virtual = "." }
dependencies = [{ name = "web" }, { name = "numbers", marker = "python_version < '3.10'" }]
[package.optional-dependencies]
fast = [{ name = "speed" }]
[package.dev-dependencies]
dev = [{ name = "absent" }]
[[package]]
name = "web"
version = "2.0"
dependencies = [{ name = "numbers", version = "1.0" }]
[[package]]
name = "numbers"
version = "1.0"
[[package]]
name = "numbers"
version = "2.0"
[[package]]
name = "speed"
version = "0.1"
"""


def test_npm_flags_what_the_dev_roots_alone_support(real_input: Callable[[str], Path]) -> None:
    folder = real_input("npm-lockfiles")
    answers = json.loads((folder / "answers.json").read_text())
    assert sum(answer["reachability_agrees"] for answer in answers) == 3
    for answer in answers:
        path = folder / f"{answer['case']}.package-lock.json.xz"
        with lzma.open(path) as file:
            packages = json.load(file)["packages"]
        flagged = {place for place, package in packages.items() if package.get("dev")}
        assert len(flagged) == answer["n_flagged_dev"]
        graph = read_npm(path).graph()
        roots = [id for id in graph.ids if id.endswith("#dev")]
        gone = set(graph.withdrawn(roots, policy="grounded")) - set(roots)
        assert gone ^ flagged == set(answer.get("differing", ()))
        assert (
            gone <= set(graph.withdrawn(roots, policy="direct")) <= set(graph.withdrawn(roots, policy="none"))
        )


def test_a_package_is_found_where_node_looks_for_it(tmp_path: Path) -> None:
    path = tmp_path / "package-lock.json"
    packages = {
        "": {"name": "app", "dependencies": {"a": "1"}, "devDependencies": {"b": "1", "gone": "1"}},
        "node_modules/a": {"version": "1", "dependencies": {"b": "2"}, "peerDependencies": {"absent": "1"}},
        "node_modules/a/node_modules/b": {"version": "2", "dependencies": {"b": "1"}},
        "node_modules/b": {"version": "1"},
    }
    path.write_text(json.dumps({"lockfileVersion": 3, "packages": packages}))
    recording = read_npm(path)
    assert {(link.tail, link.head) for link in recording.links} == {
        (".", "node_modules/a"),
        (".#dev", "node_modules/b"),
        ("node_modules/a", "node_modules/a/node_modules/b"),
    }
    assert {one.what for one in recording.missing} == {
        "packages that are asked for and not locked",
        "links from something to itself, left out",
    }


def test_uv_requires_all_that_is_named(tmp_path: Path) -> None:
    path = tmp_path / "uv.lock"
    path.write_text(LOCK)
    recording = read_uv(path)
    graph = recording.graph()
    assert graph.support_form == "requirements"
    assert graph.withdrawn(["numbers==1.0"], policy="grounded") == ("app", "web==2.0", "numbers==1.0")
    assert graph.withdrawn(["numbers==2.0"], policy="grounded") == ("app", "numbers==2.0")
    assert graph.withdrawn(["speed==0.1"], policy="grounded") == ("app", "speed==0.1")
    assert {one.what: one.examples for one in recording.missing} == {
        "requirements of a name with several versions, all required": ("app -> numbers",),
        "requirements that no package meets": ("app -> absent",),
    }
    app = next(draft for draft in recording.drafts(("lock",)) if draft.key.id == "app")
    assert {read.group for read in app.reads} == {0}


@pytest.mark.parametrize(
    "wrong",
    [
        "{",
        "version = 1\n[[package]]\nversion = 2",
        'package = "x"\nversion = 1',
        "[a]\nb = 1",
        f"a = {'[' * 9_000}{']' * 9_000}",
        f"a = {'9' * 9_000}",
    ],
)
def test_a_malformed_uv_lock_is_told(tmp_path: Path, wrong: str) -> None:
    path = tmp_path / "uv.lock"
    path.write_text(wrong)
    with pytest.raises(InvalidFile, match=r"uv\.lock"):
        read_uv(path)


@pytest.mark.parametrize("wrong", ["{", "{}", '{"packages": []}', '{"packages": {"": {"dependencies": 1}}}'])
def test_a_malformed_package_lock_is_told(tmp_path: Path, wrong: str) -> None:
    path = tmp_path / "package-lock.json"
    path.write_text(wrong)
    with pytest.raises(InvalidFile, match=r"package-lock\.json"):
        read_npm(path)
