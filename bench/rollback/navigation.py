"""Navigation: the transfer set, long ways taken by remembered directions, most with several faults."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType

from bench.rollback.agent import know, value_of
from bench.rollback.cases import Story, draw
from bench.rollback.happened import SEED, Case, happen
from bench.rollback.worlds import Domain, Errand, World
from memorepair.memory.artifact import Json
from memorepair.recovery import Effect, Recorder, Step, Tool
from memorepair.repair.jsontext import canonical

COUNT, SINGLE = 50, 5
"""Cases, and those among them with one fault only; the others have two to four."""

TURNS = 24
DIRECTIONS: Mapping[str, tuple[int, int]] = MappingProxyType(
    {"north": (0, 1), "east": (1, 0), "south": (0, -1), "west": (-1, 0)}
)

BUILDING = Domain(
    name="navigation",
    facts=MappingProxyType({f"turn {number}": tuple(DIRECTIONS) for number in range(1, TURNS + 1)}),
    errands=(),
    siblings=MappingProxyType({}),
)


@dataclass(slots=True)
class Building:
    """Where the walker is, and the way it came."""

    trail: list[tuple[int, int]] = field(default_factory=lambda: [(0, 0)])

    @property
    def state(self) -> str:
        """Hash of the way."""
        return sha256(canonical([list(place) for place in self.trail]).encode()).hexdigest()

    def copy(self) -> Building:
        """The same way, apart from this one."""
        return Building(trail=list(self.trail))

    def tools(self) -> dict[str, Tool]:
        """One move, which can be taken back."""

        def move(direction: str) -> Json:
            x, y = self.trail[-1]
            east, north = DIRECTIONS.get(direction, (0, 0))
            self.trail.append((x + east, y + north))
            return {"at": f"{x + east},{y + north}"}

        def back(arguments: Mapping[str, Json], result: Json) -> None:
            self.trail.pop()

        return {
            "move": Tool(name="move", function=move, effect=Effect.COMPENSATABLE_WRITE, compensation=back)
        }


class Walker:
    """Takes every turn as remembered, and says after each where it is."""

    def __init__(self, story: Journey, tools: Mapping[str, Tool]) -> None:
        self._story = story
        self._move = tools["move"]

    def __call__(self, run: Recorder) -> None:
        wish = run.input("walk the way and tell me where you are", id="wish")
        here: Step = wish
        for number in range(1, TURNS + 1):
            turn = know(run, self._story.user, f"turn {number}", self._story.summaries)
            here = self._leg(run, number, turn, here)
        run.answer(lambda: f"I am at {value_of(here)}", uses=[wish, here], id="answer")

    def _leg(self, run: Recorder, number: int, turn: Step, here: Step) -> Step:
        plan = run.plan(lambda: f"go {value_of(turn)}", uses=[here, turn], id=f"plan {number}")
        seen = run.call(
            self._move, plan=plan, uses=[here, turn], id=f"move {number}", direction=value_of(turn)
        )
        return run.claim(
            lambda: f"place {number} is {seen.content.split(chr(34))[3]}",
            uses=[seen],
            facet=(self._story.user, f"place {number}"),
            id=f"place {number}",
        )


class Journey(Story):
    """A story in a building instead of a shop."""

    __slots__ = ()

    @property
    def sibling(self) -> tuple[Errand, ...]:
        """No other task."""
        return ()

    def world(self) -> World:
        """The building, the walker at its door."""
        return Building()

    def agent(self, world: World, errands: tuple[Errand, ...], *, remembers: bool = True) -> Walker:
        """The walker; there are no errands."""
        return Walker(self, world.tools())


def journeys(root: Path, *, limit: int | None = None) -> Iterator[Case]:
    """The transfer set: 50 cases, 45 of them with two to four faults."""
    found, seed = 0, SEED
    while found < (limit or COUNT):
        seed += 1
        faults = 1 if found % (COUNT // SINGLE) == 0 else 2 + seed % 3
        case = happen(root, draw(BUILDING, seed, faults, sort=Journey))
        if case is not None:
            yield case
            found += 1
