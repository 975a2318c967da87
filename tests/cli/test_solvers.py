"""solvers lists what --solver takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memorepair.solvers import get_solver, solvers

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
