"""Candidates: how each withdrawn descendant could be repaired, at what value and cost, on what it waits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from memorepair.errors import InvalidInput
from memorepair.graphs.digraph import Digraph, read_only
from memorepair.memory.artifact import Key
from memorepair.repair.modes import Mode


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """Why a candidate cannot be executed (v_i = 0).

    `witness` proves it: keys, the operator's name, the case that has deleted an input.
    """

    reason: str
    witness: tuple[object, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """q_i = (mu_i, pi_i, P_i, v_i, w_i, c_i) for every descendant i in D(F) still withdrawn; k of them.

    Attributes
    ----------
    keys : k keys
        In the order of every array here.
    modes : k modes
    operators : k texts
        ``name@version`` of pi_i, None where the mode is REMOVE.
    executable : (k,) bool
        v_i.
    value, cost : (k,) float64
        w_i and c_i, finite and >= 0; the cost's unit is `unit`.
    prerequisites : Digraph on k nodes
        i -> j reads "i requires j" (Pbar_i).
    bars : k bars
        The witness where v_i = 0 or the mode is REMOVE, else None.
    """

    keys: tuple[Key, ...]
    modes: tuple[Mode, ...]
    operators: tuple[str | None, ...]
    executable: npt.NDArray[np.bool_]
    value: npt.NDArray[np.float64]
    cost: npt.NDArray[np.float64]
    unit: str
    prerequisites: Digraph
    bars: tuple[Bar | None, ...]

    def __post_init__(self) -> None:
        k = len(self.keys)
        for name, array, dtype in (
            ("executable", self.executable, np.bool_),
            ("value", self.value, np.float64),
            ("cost", self.cost, np.float64),
        ):
            if array.shape != (k,) or array.dtype != dtype:
                raise InvalidInput(f"{name} must be {dtype.__name__} of shape ({k},)", witness=array.shape)
            read_only(array)
        if not len(self.modes) == len(self.operators) == len(self.bars) == self.prerequisites.n == k:
            raise InvalidInput(f"modes, operators, bars, prerequisites must be {k} each", witness=k)
        for name, array in (("value", self.value), ("cost", self.cost)):
            bad = np.flatnonzero(~(np.isfinite(array) & (array >= 0)))
            if len(bad):
                key = self.keys[int(bad[0])]
                raise InvalidInput(
                    f"the {name} of {key} is {array[bad[0]]}, not finite and >= 0", witness=key
                )
