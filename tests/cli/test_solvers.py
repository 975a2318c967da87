"""solvers lists what --solver and --ilp take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memorepair.solvers import get_solver, solvers
from memorepair.solvers.ilp import ilp_solvers

if TYPE_CHECKING:
    from tests.cli.conftest import Shell


def test_the_table_is_the_registry(shell: Shell) -> None:
    told = shell.told("solvers")["solvers"]
    assert [one["name"] for one in told] == list(solvers())
    for one in told:
        solver = get_solver(one["name"])
        assert one["installed"] is True
        assert (one["exact"], one["max_size"], one["package"]) == (
            solver.exact,
            solver.max_size,
            solver.package,
        )
        assert one["ties"] == sorted(solver.ties)
        assert one["what"].endswith(".")
    assert told[0]["name"] in shell.run("solvers")[0]


def test_the_programs_for_a_budget_are_listed(shell: Shell) -> None:
    told = shell.told("solvers")["ilps"]
    assert [one["name"] for one in told] == list(ilp_solvers())
    assert all(one["installed"] and one["package"] and one["what"] for one in told)
    assert {one["name"]: (one["bounds"], one["counts_nodes"]) for one in told} == {
        "highs": (True, True),
        "highspy": (True, True),
        "cp-sat": (True, False),
        "cbc": (False, True),
    }
    shown = shell.run("solvers")[0]
    assert all(name in shown for name in ilp_solvers())
