"""The demo on a terminal: one screen an event."""

from __future__ import annotations

from collections.abc import Iterable

from rich import box
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from memorepair.demo.figures import Act, Line, Tour
from memorepair.repair.report import Fate

_SHOWN = 6
_COLOURS = {Fate.RELEASED: "blue", Fate.REPUBLISHED: "green", Fate.UNCHANGED: "green"}


def show(tour: Tour) -> None:
    """Print all acts."""
    console = Console(highlight=False)
    console.print(
        f"An assistant's memory: {tour.artifacts} artifacts in {tour.scopes} scopes, "
        f"{tour.arcs} recorded reads between them."
    )
    for number, act in enumerate(tour.acts, start=1):
        roots = ", ".join(map(str, act.roots))
        console.print()
        console.rule(Text(f"{number}  {act.title}: {act.event} {roots}", "bold"), align="left")
        back = act.lines_of(Fate.REPUBLISHED, Fate.UNCHANGED, Fate.RELEASED)
        console.print(
            Group(_figures(act), "", _table("served again", back), "", _table("left withdrawn", act.left))
        )
        console.print(Text(f"picture: {act.picture}"), soft_wrap=True)
    console.print()
    if tour.sound:
        console.print(Text("Every publication is sound; nothing withdrawn was readable.", "bold green"))
    else:
        console.print(Text("A publication is unsound, or something withdrawn was readable.", "bold red"))


def _figures(act: Act) -> Table:
    counts = {fate: len(act.lines_of(fate)) for fate in Fate}
    probe = act.probe
    refused = counts[Fate.FAILED] + counts[Fate.SKIPPED]
    proof = f", proved optimal (objective {act.objective:.1f})" if act.optimal else ", not proved optimal"
    rows = {
        "exposed before": f"{act.exposed} of {act.artifacts} artifacts rest on the wrong source, all served",
        "withdrawn": f"{act.withdrawn} at once; {act.readable} still readable by get, search or history",
        "search": f"'{probe.query}': {probe.before} hits before, {probe.withdrawn} withdrawn, "
        f"{probe.after} repaired",
        "selected": f"{act.chosen} of {act.executable} that can be repaired{proof}",
        "executed": f"{act.recomputed} recomputed, {act.regenerated} regenerated, {refused} refused",
        "cut off early": f"{counts[Fate.RELEASED]} released unexecuted: what they read came out as it was",
        "validated": ", ".join(f"{name} {times}" for name, times in act.verdicts.items()) or "nothing",
        "republished": f"{counts[Fate.REPUBLISHED]} new versions, {counts[Fate.UNCHANGED]} unchanged",
        "left withdrawn": f"{len(act.left)}, each with its reason",
        "value": f"{_share(act.worth, act.worth_all)} of what repair-all would bring back",
        "cost": f"{act.cost:,.0f} of {act.cost_all:,.0f} {act.unit} for repair-all "
        f"({_share(act.cost, act.cost_all)})",
        "sound": f"{'yes' if act.sound else 'NO'}; {act.exposed_after} exposed after the repair",
    }
    table = Table.grid(padding=(0, 2))
    for name, value in rows.items():
        table.add_row(Text(name, "cyan"), Text(value))
    return table


def _share(part: float, whole: float) -> str:
    return f"{part / whole:.0%}" if whole else "nothing"


def _table(title: str, lines: Iterable[Line]) -> Table:
    """The lines, those with one reason together."""
    alike: dict[tuple[Fate, str], list[Line]] = {}
    for line in lines:
        alike.setdefault((line.fate, line.why), []).append(line)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for name in (title, "mode"):
        table.add_column(name)
    for name in ("worth", "price"):
        table.add_column(name, justify="right")
    table.add_column("why", ratio=1)
    for (fate, why), (first, *others) in list(alike.items())[:_SHOWN]:
        more = f" and {len(others)} more" if others else ""
        reason = why if fate is Fate.LEFT else f"{fate.value}: {why}"
        table.add_row(
            Text(f"{first.key.id}{more}"),
            first.mode,
            f"{first.worth:.1f}",
            f"{first.price:.1f}",
            Text(reason, _COLOURS.get(fate, "yellow")),
        )
    rest = sum(map(len, list(alike.values())[_SHOWN:]))
    if rest:
        table.add_row(Text(f"and {rest} more", "dim"))
    return table
