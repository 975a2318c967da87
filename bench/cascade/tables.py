"""Tables of the experiment for people, and what in it must not be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bench.cascade.families import WORLDS
from bench.cascade.price import GREEDY
from bench.cascade.systems import NAIVE

_SHOWN = 12
_ASIDE = (
    ("mincut", "optimum_bound"),
    ("mincut_cutoff", "released_share"),
    ("mincut_cutoff", "cost_saved"),
    ("mincut_evidence", "semantics"),
    ("mincut_reselect", "at_fault"),
)
COLUMNS = ("exposure", "stale_use", "recovered_value", "recovered_count", "cost_ratio")


def _rows(result: Mapping[str, object], name: str) -> Mapping[str, Mapping[str, object]]:
    found = result[name]
    assert isinstance(found, Mapping)
    return found


def stale_systems(result: Mapping[str, object]) -> list[str]:
    """Where a system that withdraws first has left something stale although provenance was complete."""
    return [
        f"{workload} {system}: exposure {row['exposure']}, stale use {row['stale_use']}"
        for workload in WORLDS
        if workload in result
        for system, row in _rows(result, workload).items()
        if system not in NAIVE and (row["exposure"] != 0 or row["stale_use"] != 0)
    ]


def show(result: Mapping[str, object]) -> None:
    """Everything, on standard error."""
    from rich.console import Console
    from rich.table import Table

    console = Console(stderr=True, width=120)
    for workload in [name for name in WORLDS if name in result]:
        table = Table(workload, *(name.replace("_", " ") for name in COLUMNS))
        for system, row in _rows(result, workload).items():
            table.add_row(system, *(_cell(row[name]) for name in COLUMNS))
        console.print(table)
    more = _rows(result, "more")
    for workload in [name for name in WORLDS if name in result]:
        rows = _rows(result, workload)
        curve = [point for point in _list(rows["mincut"], "frontier") if isinstance(point, Sequence)]
        console.print(f"frontier of {workload}: {len(curve)} prices")
        for price, cost, value in curve[:: max(1, len(curve) // _SHOWN)]:
            console.print(f"  price {price:10.5g}   cost {cost:6.3f}   value {value:6.3f}")
        for selector in GREEDY:
            console.print(f"  {selector} misses: {rows[selector]['missed']}")
        for system, name in _ASIDE:
            console.print(f"  {system} {name}: {rows[system][name]}")
    for name in [one for one in ("dropout", "validation", "neural") if one in result]:
        for key, told in _rows(result, name).items():
            console.print(f"{name} {key}: {told}")
    for name, told in more.items():
        console.print(f"{name}: {told}")


def _at(table: object, name: str) -> object:
    assert isinstance(table, Mapping)
    return table[name]


def _list(table: object, name: str) -> Sequence[object]:
    found = _at(table, name)
    assert isinstance(found, Sequence)
    return found


def _cell(value: object) -> str:
    return "-" if value is None else f"{value:.4f}" if isinstance(value, float) else str(value)
