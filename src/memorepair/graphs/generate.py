"""Seeded families of selection instances, from provenance layers to block models.

A name is a family and a size, ``prov-1e5``. The same name and seed give the same numbers everywhere, so that
measured tables stay comparable.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from memorepair.errors import InvalidInput
from memorepair.graphs.digraph import INDEX_LIMIT, Digraph, Int64, Mask, read_only

Floats = npt.NDArray[np.float64]
Rng = np.random.Generator


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GeneratedInstance:
    """What to select from: n candidates with their prerequisites.

    Attributes
    ----------
    requires : Digraph
        An arc i -> j reads "i requires j".
    value, cost : (n,) float64
        w_i and c_i; cost is at least 0.
    executable : (n,) bool
        v_i; a candidate that cannot be executed is barred.
    """

    requires: Digraph
    value: Floats
    cost: Floats
    executable: Mask

    def __post_init__(self) -> None:
        for array in (self.value, self.cost, self.executable):
            read_only(array)

    def profits(self, tradeoff: float = 1.0, scale: int = 1000) -> Int64:
        """Integer profits ``round(scale * (value - tradeoff * cost))``, (n,) int64.

        Parameters
        ----------
        tradeoff
            lambda, value per unit of cost.
        scale
            Units of profit per unit of value.

        Raises
        ------
        InvalidInput
            A profit is not finite or does not fit int64 (witness: its candidate).
        """
        scaled = np.rint((self.value - tradeoff * self.cost) * scale)
        outside = ~(np.abs(scaled) < 2.0**63)  # written so that NaN is outside
        if outside.any():
            node = int(np.flatnonzero(outside)[0])
            raise InvalidInput(f"the scaled profit of candidate {node} does not fit int64", witness=node)
        return scaled.astype(np.int64)


def generate(name: str, seed: int = 0) -> GeneratedInstance:
    """The instance called `name`, drawn with `seed`.

    Parameters
    ----------
    name
        ``<family>-<size>``, the size a number of nodes such as ``1e5``. Families, in `FAMILIES`:

        ======== ===================================================================================
        prov     records, caches, summaries, skills; each derived node requires 1 to 5 popular parents
        provD    the same, dense: the number of parents is uniform
        provR    the arcs of prov reversed: selecting a record forces what derives from it
        chain    each node requires the one before; random weights
        chainw   a chain with all value on top, all cost below
        star     one costly hub that every other node requires
        bip      projects that require four of as many machines
        mine5    a block model, each block below requires 5 above (sizes 1e4, 1e5, 1e6)
        mine9    the same with 9
        tree     each node requires one earlier node, uniformly chosen
        diamond  a ladder of diamonds: two nodes require one, one requires both
        greedy   clubs that pay together but not alone, baits with a good ratio above a costly shaft
        ======== ===================================================================================
    seed
        Any nonnegative integer.

    Raises
    ------
    InvalidInput
        No such family or size (witness: the part that is wrong), or a negative seed.

    Notes
    -----
    O(n + m) time and memory. prov, provD: m is about 1.1 n, 1.8 n.
    """
    family, _, size = name.partition("-")
    if seed < 0:
        raise InvalidInput("the seed must be at least 0", witness=seed)
    rng = np.random.default_rng(seed)
    if family in _GRIDS:
        if size not in _SHAPES:
            raise InvalidInput(f"{family} has the sizes {', '.join(_SHAPES)}, not {size!r}", witness=size)
        return _GRIDS[family](rng, size)
    if family in _SIZED:
        return _SIZED[family](rng, _number(size))
    raise InvalidInput(f"no family {family!r}; there are {', '.join(FAMILIES)}", witness=family)


def _number(size: str) -> int:
    try:
        number = float(size)
    except ValueError:
        number = -1.0
    if not (10 <= number < INDEX_LIMIT and number.is_integer()):
        raise InvalidInput(f"size {size!r} is no whole number from 10 to 2^31 - 2", witness=size)
    return int(number)


def _instance(
    tails: npt.NDArray[np.integer],
    heads: npt.NDArray[np.integer],
    value: Floats,
    cost: Floats,
    executable: Mask | None = None,
) -> GeneratedInstance:
    n = len(value)
    return GeneratedInstance(
        requires=Digraph.from_arcs(n, tails, heads),
        value=value,
        cost=cost,
        executable=np.ones(n, np.bool_) if executable is None else executable,
    )


def _distinct(tails: npt.NDArray[np.integer], heads: npt.NDArray[np.integer], n: int) -> tuple[Int64, Int64]:
    """Arcs without repetition, by tail and head."""
    key = np.unique(tails.astype(np.int64) * n + heads)
    return key // n, key % n


# The order of the draws below is part of the contract: reordering two of them renames every instance.

_LAYERS = np.array([0.4, 0.3, 0.2, 0.1])  # share of records, caches, summaries, skills
_PARENTS = np.arange(1, 6)


def _prov(rng: Rng, n: int, *, dense: bool = False, reverse: bool = False) -> GeneratedInstance:
    bounds = np.concatenate(([0], np.cumsum((_LAYERS * n).astype(int))))
    bounds[-1] = n
    layer = np.searchsorted(bounds, np.arange(n), side="right") - 1
    derived = np.arange(bounds[1], n)
    if dense:
        parents = rng.integers(1, 6, len(derived))
    else:
        weight = _PARENTS**-1.5
        parents = rng.choice(_PARENTS, size=len(derived), p=weight / weight.sum())
    tails = np.repeat(derived, parents)
    own = layer[tails]
    below = np.where(rng.random(len(tails)) < 0.8, own - 1, (rng.random(len(tails)) * own).astype(int))
    low, high = bounds[below], bounds[below + 1]
    # Popularity is skewed inside each layer, over a shuffle, so that a node's number tells nothing.
    shuffled = np.concatenate(
        [start + rng.permutation(stop - start) for start, stop in itertools.pairwise(bounds)]
    )
    heads = shuffled[low + ((high - low) * rng.random(len(tails)) ** 2.5).astype(int)]
    tails, heads = _distinct(tails, heads, n)
    cost = rng.lognormal(0, 1, n) * np.array([1.0, 0.5, 0.5, 0.3])[layer]
    value = rng.lognormal(0, 1, n) * np.array([0.5, 0.8, 1.2, 2.0])[layer]
    executable = rng.random(n) > 0.02
    if reverse:
        tails, heads = heads, tails
    return _instance(tails, heads, value, cost, executable)


def _chain(rng: Rng, n: int) -> GeneratedInstance:
    node = np.arange(1, n)
    return _instance(node, node - 1, rng.random(n), rng.random(n))


def _top_heavy_chain(rng: Rng, n: int) -> GeneratedInstance:
    del rng  # nothing is random: the worst case is one instance
    node = np.arange(1, n)
    value = np.zeros(n)
    value[-1] = n + 10.0
    return _instance(node, node - 1, value, np.ones(n))


def _star(rng: Rng, n: int) -> GeneratedInstance:
    value, cost = rng.random(n), rng.random(n)
    value[0], cost[0] = 0.0, n / 8
    return _instance(np.arange(1, n), np.zeros(n - 1, np.int64), value, cost)


def _bipartite(rng: Rng, n: int) -> GeneratedInstance:
    projects = n // 2
    tails = np.repeat(np.arange(projects), 4)
    heads = projects + rng.integers(0, n - projects, len(tails))
    tails, heads = _distinct(tails, heads, n)
    value, cost = np.zeros(n), np.zeros(n)
    value[:projects] = rng.lognormal(0, 1, projects) * 2
    cost[projects:] = rng.lognormal(0, 1, n - projects) * 2
    return _instance(tails, heads, value, cost)


def _tree(rng: Rng, n: int) -> GeneratedInstance:
    node = np.arange(1, n)
    return _instance(node, (rng.random(n - 1) * node).astype(int), rng.random(n), rng.random(n))


def _diamonds(rng: Rng, n: int) -> GeneratedInstance:
    # Joints 0, 3, 6, ... : the two sides of a diamond require the joint before, the next joint requires both.
    node = np.arange(1, n)
    joints = np.arange(3, n, 3)
    side = node[node % 3 != 0]
    tails = np.concatenate((side, joints, joints))
    heads = np.concatenate((side - side % 3, joints - 1, joints - 2))
    return _instance(tails, heads, rng.random(n), rng.random(n))


def _greedy_trap(rng: Rng, n: int) -> GeneratedInstance:
    # A block has 16 nodes. The club: a hub of cost 4 with 7 members of value 1 that require it; the cone of
    # one member loses 3, the whole club wins 3. The bait: value 2 at cost 1 above a shaft of 7 nodes of cost
    # 1; no node that costs has a better ratio, but its cone loses 6. The optimum is the clubs, without baits.
    place = np.arange(n) % 16
    node = np.arange(n)
    member, shaft = (place >= 1) & (place <= 7), place >= 9
    tails = np.concatenate((node[member], node[shaft]))
    heads = np.concatenate((node[member] - place[member], node[shaft] - 1))
    value, cost = np.zeros(n), np.zeros(n)
    value[member], value[place == 15] = 1.0, 2.0
    cost[place == 0], cost[place >= 8] = 4.0, 1.0
    jitter = rng.uniform(0.95, 1.05, n)  # 7 members at 0.95 still outweigh a hub at 1.05
    return _instance(tails, heads, value * jitter, cost * jitter)


_SHAPES = {"1e4": (25, 25, 16), "1e5": (58, 58, 30), "1e6": (150, 150, 45)}
_GRADE = {"1e4": 1.3, "1e5": 2.0, "1e6": 1.0}  # so that the best pit is neither empty nor everything
_PLUS = ((0, 0), (1, 0), (-1, 0), (0, 1), (0, -1))
_SQUARE = (*_PLUS, (1, 1), (1, -1), (-1, 1), (-1, -1))


def _mine(rng: Rng, size: str, pattern: tuple[tuple[int, int], ...]) -> GeneratedInstance:
    from scipy.ndimage import gaussian_filter

    nx, ny, nz = _SHAPES[size]
    n = nx * ny * nz
    grade = gaussian_filter(rng.standard_normal((nz, ny, nx)), 3)
    grade /= grade.std()
    z, y, x = np.meshgrid(np.arange(nz), np.arange(ny), np.arange(nx), indexing="ij")
    east, south, deep = (x - nx / 2) / (nx / 3), (y - ny / 2) / (ny / 3), (z - nz * 0.6) / (nz / 3)
    value = np.maximum(0, grade + 1.2 - (east**2 + south**2 + deep**2)).ravel() * 3
    cost = 1 + 0.5 * rng.random(n)
    block = np.arange(n).reshape(nz, ny, nx)
    tails, heads = [], []
    for dx, dy in pattern:  # a block at depth z requires its neighbours at depth z - 1
        tails.append(block[1:, _inner(-dy, ny), _inner(-dx, nx)].ravel())
        heads.append(block[:-1, _inner(dy, ny), _inner(dx, nx)].ravel())
    return _instance(np.concatenate(tails), np.concatenate(heads), value * _GRADE[size], cost)


def _inner(shift: int, length: int) -> slice:
    """Places 0 .. length - 1 moved by `shift`, as far as they stay inside."""
    return slice(max(0, shift), length + min(0, shift))


_SIZED: dict[str, Callable[[Rng, int], GeneratedInstance]] = {
    "prov": _prov,
    "provD": lambda rng, n: _prov(rng, n, dense=True),
    "provR": lambda rng, n: _prov(rng, n, reverse=True),
    "chain": _chain,
    "chainw": _top_heavy_chain,
    "star": _star,
    "bip": _bipartite,
    "tree": _tree,
    "diamond": _diamonds,
    "greedy": _greedy_trap,
}
_GRIDS: dict[str, Callable[[Rng, str], GeneratedInstance]] = {
    "mine5": lambda rng, size: _mine(rng, size, _PLUS),
    "mine9": lambda rng, size: _mine(rng, size, _SQUARE),
}

FAMILIES = (*_SIZED, *_GRIDS)
"""Names of the families `generate` knows."""
