"""Tools: what an agent may call, each with its declared effect on the world."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from inspect import iscoroutinefunction
from typing import Any, TypeAlias

from memorepair.errors import InvalidInput
from memorepair.memory.artifact import Json
from memorepair.memory.values import check_type, check_word

Compensation: TypeAlias = Callable[[Mapping[str, Json], Json], object]
"""Takes a call back, given its arguments and its result."""


class Effect(StrEnum):
    """What running a tool again does to the world."""

    PURE = "pure"
    READ = "read"
    IDEMPOTENT_WRITE = "idempotent write"
    COMPENSATABLE_WRITE = "compensatable write"
    IRREVERSIBLE = "irreversible"

    @property
    def writes(self) -> bool:
        """Whether it changes the world."""
        return self not in (Effect.PURE, Effect.READ)


ONCE = frozenset({Effect.COMPENSATABLE_WRITE, Effect.IRREVERSIBLE})
"""Effects of calls that are not made twice unasked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A function with a name and a declared effect; calling it calls the function.

    Attributes
    ----------
    function
        Takes keyword arguments that are JSON, gives JSON; or a coroutine function of the same kind.
    effect
        Trusted as declared: a replay runs nothing irreversible without approval.
    compensation
        Takes a call back; there is one exactly where the effect is a compensatable write.
    """

    name: str
    function: Callable[..., Any]
    effect: Effect
    compensation: Compensation | None = None

    def __post_init__(self) -> None:
        check_word(self.name, "the name of a tool")
        check_type(self.effect, Effect, "the effect of a tool is an Effect")
        if not callable(self.function):
            raise InvalidInput(f"tool {self.name} is not callable", witness=self.name)
        if (self.compensation is not None) != (self.effect is Effect.COMPENSATABLE_WRITE):
            raise InvalidInput(
                f"tool {self.name}: a compensation belongs to a compensatable write, and to nothing else",
                witness=self.name,
            )
        back = self.compensation
        if back is not None and (not callable(back) or iscoroutinefunction(back)):
            raise InvalidInput(
                f"tool {self.name}: a compensation is called with the arguments and the result, not awaited",
                witness=self.name,
            )

    def __call__(self, **arguments: Any) -> Any:
        return self.function(**arguments)


def tool(
    *, effect: Effect | str, name: str | None = None, compensation: Compensation | None = None
) -> Callable[[Callable[..., Any]], Tool]:
    """Declare a function as a tool.

    Examples
    --------
    >>> @tool(effect="read")
    ... def weather(city): return {"city": city, "rain": False}
    >>> weather.effect.value, weather(city="Lyon")
    ('read', {'city': 'Lyon', 'rain': False})
    """
    try:
        declared = Effect(effect)
    except ValueError as error:
        choices = ", ".join(Effect)
        raise InvalidInput(f"{effect!r} is no effect: one of {choices}", witness=effect) from error

    def declare(function: Callable[..., Any]) -> Tool:
        return Tool(
            name=str(name or getattr(function, "__name__", "")),
            function=function,
            effect=declared,
            compensation=compensation,
        )

    return declare
