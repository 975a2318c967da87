"""Compiling of kernels by numba, which is loaded no earlier."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def compiled(function: Callable[P, R], /) -> Callable[P, R]:
    """`function` compiled at its first call for each combination of types, or from numba's cache.

    A function that calls compiled ones is cached with them: after a change of one of these its own file must
    be touched too.
    """
    import numba

    try:
        return numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # no place to keep the cache
        return numba.njit(nogil=True)(function)
