"""Tracing: functions whose results are stored with what they were made from, one line each."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import wraps
from typing import ParamSpec, TypeVar, cast

from memorepair.errors import InvalidInput
from memorepair.memory.arguments import KeyLike, as_key
from memorepair.memory.artifact import Json, Recipe
from memorepair.memory.capture import Derivation
from memorepair.memory.values import to_json

P = ParamSpec("P")
T = TypeVar("T")

Begin = Callable[[Recipe], Derivation]
"""Opens the derivation that a call is stored with."""
Name = Callable[..., str]
"""The id of a result, from the arguments of the call."""


def traced(
    function: Callable[P, T],
    begin: Begin,
    *,
    recipe: Recipe,
    id: Name | None = None,
    with_arguments: bool = False,
    reads: Callable[..., tuple[KeyLike, ...]] | None = None,
) -> Callable[P, T]:
    """The function, whose every result is written in a derivation of its own; it returns what it returned.

    A coroutine function stays one. A text is stored as it is, any other result as JSON.

    Parameters
    ----------
    begin
        Called with the recipe of the call.
    id
        Of the result; random unless given.
    with_arguments
        Whether the arguments of the call, by name, become the params of the recipe.
    reads
        What else the call reads, from its arguments.

    Raises
    ------
    InvalidInput
        The function gives a stream of results. By the call: an argument that is to be kept is no JSON
        (nothing was called), or the result is none (nothing was stored).
    """
    for what, given_ in (("what is traced", function), ("id", id), ("reads", reads)):
        if not callable(given_) and (given_ is not None or what == "what is traced"):
            raise InvalidInput(f"{what} is a function", witness=type(given_).__name__)
    try:
        signature = inspect.signature(function)
    except ValueError as error:
        raise InvalidInput("the function does not tell its arguments", witness=repr(function)) from error
    kinds = function, type(function).__call__  # an object may have a method of any kind as its call
    if any(inspect.isgeneratorfunction(one) or inspect.isasyncgenfunction(one) for one in kinds):
        raise InvalidInput("what is traced gives one result, not a stream of them", witness=repr(function))
    begin(recipe)  # what is wrong with it is told now, not by the first call

    def opened(*args: object, **kwargs: object) -> tuple[Derivation, str | None]:
        given = signature.bind(*args, **kwargs)
        given.apply_defaults()
        params = dict(recipe.params)
        if with_arguments:
            arguments: dict[str, object] = dict(given.arguments)
            to_json(arguments, "the arguments of a traced call", sorted(arguments))
            params |= cast("dict[str, Json]", arguments)
        return begin(replace(recipe, params=params)), None if id is None else id(*args, **kwargs)

    def look(d: Derivation, args: tuple[object, ...], kwargs: Mapping[str, object]) -> None:
        for key in () if reads is None else reads(*args, **kwargs):
            d.read(as_key(key))

    def kept(d: Derivation, result: object, name: str | None) -> None:
        d.write(
            result if isinstance(result, str) else to_json(result, "the result of a traced call", None),
            id=name,
        )

    if any(map(inspect.iscoroutinefunction, kinds)):

        @wraps(function)
        async def later(*args: P.args, **kwargs: P.kwargs) -> object:
            derivation, name = opened(*args, **kwargs)
            async with derivation as d:
                look(d, args, kwargs)
                result = await cast(Callable[P, Awaitable[object]], function)(*args, **kwargs)
                kept(d, result, name)
            return result

        return cast(Callable[P, T], later)

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        derivation, name = opened(*args, **kwargs)
        with derivation as d:
            look(d, args, kwargs)
            result = function(*args, **kwargs)
            kept(d, result, name)
        return result

    return call
