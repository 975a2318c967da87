"""What the demo measures, as values: a line a descendant, an act an event, a tour the whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from memorepair.graphs.terms import Kind
from memorepair.memory.artifact import Json, Key
from memorepair.repair.events import EventKind
from memorepair.repair.report import Fate


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A descendant: what its repair was worth, its price (on the selection's scale), what became of it."""

    key: Key
    kind: Kind
    mode: str
    worth: float
    price: float
    fate: Fate
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """How many artifacts a search for what was wrong finds: before the event, withdrawn, repaired."""

    query: str
    before: int
    withdrawn: int
    after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """One event, measured.

    Attributes
    ----------
    exposed
        Members of the cascade that were served, and would go on being served, when the event was declared.
    withdrawn
        Of them, taken out of service by the event.
    readable
        Withdrawn artifacts that get, search or history still gave content of, before the repair.
    exposed_after
        Served after the repair without validation since the event.
    executable, chosen
        Of the candidates.
    recomputed, regenerated
        Executed and served again.
    worth, worth_all
        Of what is served again, and of all that could be repaired.
    verdicts
        ``check word`` -> how many.
    sound
        Whether the checker finds nothing wrong.
    """

    title: str
    event: EventKind
    roots: tuple[Key, ...]
    artifacts: int
    exposed: int
    withdrawn: int
    readable: int
    exposed_after: int
    executable: int
    chosen: int
    optimal: bool
    objective: float
    recomputed: int
    regenerated: int
    lines: tuple[Line, ...]
    verdicts: Mapping[str, int]
    worth: float
    worth_all: float
    cost: float
    cost_all: float
    unit: str
    probe: Probe
    sound: bool
    picture: Path

    def lines_of(self, *fates: Fate) -> tuple[Line, ...]:
        """Lines of these fates, most worth first."""
        found = [line for line in self.lines if line.fate in fates]
        return tuple(sorted(found, key=lambda line: (-line.worth, line.key)))

    @property
    def left(self) -> tuple[Line, ...]:
        """What stays out of service."""
        return self.lines_of(Fate.FAILED, Fate.SKIPPED, Fate.LEFT)

    def to_json(self) -> dict[str, Json]:
        """The figures; keys in written form."""
        fates = Counter(line.fate for line in self.lines)
        return {
            "title": self.title,
            "event": self.event.value,
            "roots": [str(root) for root in self.roots],
            "exposed_before": self.exposed,
            "withdrawn": self.withdrawn,
            "readable_after_withdrawal": self.readable,
            "exposed_after": self.exposed_after,
            "executable": self.executable,
            "chosen": self.chosen,
            "optimal": self.optimal,
            "objective": self.objective,
            "recomputed": self.recomputed,
            "regenerated": self.regenerated,
            **{fate.value: fates[fate] for fate in Fate},
            "left_withdrawn": {str(line.key): line.why for line in self.left},
            "verdicts": dict(self.verdicts),
            "worth": self.worth,
            "worth_all": self.worth_all,
            "cost": self.cost,
            "cost_all": self.cost_all,
            "cost_ratio": self.cost / self.cost_all if self.cost_all else None,
            "unit": self.unit,
            "probe": {
                "query": self.probe.query,
                "before": self.probe.before,
                "withdrawn": self.probe.withdrawn,
                "after": self.probe.after,
            },
            "sound": self.sound,
            "picture": str(self.picture),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Tour:
    """The whole demo."""

    artifacts: int
    arcs: int
    scopes: int
    acts: tuple[Act, ...]

    @property
    def sound(self) -> bool:
        """Whether every act is sound and left nothing readable that was withdrawn."""
        return all(act.sound and not act.readable and not act.exposed_after for act in self.acts)

    def to_json(self) -> dict[str, Json]:
        """The figures of all acts."""
        return {
            "artifacts": self.artifacts,
            "arcs": self.arcs,
            "scopes": self.scopes,
            "sound": self.sound,
            "events": [act.to_json() for act in self.acts],
        }
