"""Cascades that other programs have worked out: ninja's rebuilds, apt's removals, a lockfile's dependents."""

from __future__ import annotations

import json
import lzma
from collections.abc import Callable
from pathlib import Path

import networkx as nx

from memorepair.graphs import Kind, ProvenanceBuilder


def test_ninja_rebuilds_what_the_cascade_of_a_touched_file_holds(real_input: Callable[[str], Path]) -> None:
    folder = real_input("build-ninja-cjson")
    edges = json.loads((folder / "graph.json").read_text())["edges"]
    answers = json.loads((folder / "answers.json").read_text())
    builder = ProvenanceBuilder[str]()
    files = {file for edge in edges for field in _FIELDS for file in edge[field]}
    for file in sorted(files):
        builder.add(file, kind=Kind.RECORD)
    for edge in edges:
        for output in edge["outputs"]:
            for field in ("inputs", "implicit", "discovered"):
                for file in edge[field]:
                    builder.influence(file, output)
            for file in edge["order_only"]:  # it says when, not from what
                builder.semantic(file, output)
    graph = builder.build()
    phony = {output for edge in edges if edge["rule"] == "phony" for output in edge["outputs"]}
    right = [
        touched
        for touched, answer in answers.items()
        if set(graph.descendants([touched])) - phony == set(answer["rebuilt"])
    ]
    assert len(right) == len(answers) == 22


_FIELDS = ("outputs", "inputs", "implicit", "discovered", "order_only")


def test_apt_removes_what_loses_every_alternative_of_a_requirement(real_input: Callable[[str], Path]) -> None:
    folder = real_input("debian-installed")
    packages = json.loads((folder / "graph.json").read_text())
    answers = json.loads((folder / "answers.json").read_text())
    builder = ProvenanceBuilder[str](support_form="requirements")
    for package in packages:
        builder.add(package, kind=Kind.RECORD)
    for package, about in packages.items():
        for group, alternatives in enumerate(about["satisfied_by"]):
            for other in alternatives:
                builder.influence(other, package, group=group)
    graph = builder.build()
    right = [
        removed
        for removed, gone in answers.items()
        if set(graph.withdrawn([removed], policy="grounded")) == set(gone)
    ]
    assert len(right) == len(answers) == 430
    wider = [removed for removed in answers if len(graph.cascade([removed])) > len(answers[removed])]
    assert wider  # there are cases that following every arc gets wrong


def test_what_requires_a_package_goes_with_it(real_input: Callable[[str], Path]) -> None:
    with lzma.open(real_input("pypi-uv-lock-graphs") / "graphs.json.xz") as file:
        locks = json.load(file)
    assert [len(lock["packages"]) for lock in locks] == [185, 232, 523, 262]
    for lock in locks:
        builder = ProvenanceBuilder[str](support_form="requirements")
        for package in lock["packages"]:
            builder.add(package, kind=Kind.RECORD)
        groups = dict.fromkeys(lock["packages"], 0)
        for package, needed in lock["requires"]:
            builder.influence(needed, package, group=groups[package])
            groups[package] += 1
        graph = builder.build()
        known = nx.DiGraph([(needed, package) for package, needed in lock["requires"]])
        for package in lock["packages"]:
            above = nx.descendants(known, package) if package in known else set()
            # Each requirement is met in one way: whichever goes, all above it go, under every policy.
            for policy in ("none", "direct", "grounded"):
                assert set(graph.withdrawn([package], policy=policy)) == above | {package}
