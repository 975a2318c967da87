"""The provenance audit: arcs are dropped from records that are known, and what a cascade then misses.

    python -m bench.audit [--quick] [--json] [--data DIR] [--family NAME]... [--rate R]...
                          [--seeds N] [--probe]

Exposure is the part of the true cascade that the barrier misses; wrongly withdrawn is what it takes out of
all that is healthy. Both are means over events and seeds, without the audit (plain) and with it. With
``--probe`` instead: what so many replays of suspects leave of it (`bench.probing`).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.registry import note
from bench.workloads import DEEP, FAMILIES, Arc, Workload
from memorepair.graphs.digraph import Digraph
from memorepair.graphs.reach import reach
from memorepair.repair.audit.proposals import Audit, audit

RATES = (0.005, 0.01, 0.02, 0.05, 0.25, 0.5)
THRESHOLD = 0.3
LOSSES = ("arcs", "scopes", "kinds")


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Means over the events of one drawn loss; shares of 1.

    `local` is wrongly withdrawn over the derived artifacts of the scopes that the cascade touches: stricter.
    """

    exposure: float
    wrongly_withdrawn: float
    local: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One drawn loss, without and with the audit.

    `precision` is that of the proposals acted on, where right means that the parent is a true ancestor;
    `recall` that of lost arcs whose parent the record does not reach any more, over all and over those that
    were not themselves told from content.
    """

    plain: Figures
    audit: Figures
    proposals: int
    precision: float | None
    recall: float | None
    recall_exact: float | None
    missing: float | None
    seconds: float


def dropped(workload: Workload, rate: float, seed: int, by: str = "arcs") -> list[Arc]:
    """The arcs that are left when a share is lost: single arcs, or all of a scope's, or all of a kind's."""
    draw = np.random.default_rng([seed, LOSSES.index(by)])
    if by == "arcs":
        lost = draw.random(len(workload.arcs)) < rate
        return [arc for arc, gone in zip(workload.arcs, lost.tolist(), strict=True) if not gone]
    blocks = [getattr(item, by[:-1]) for item in workload.items]
    known = sorted({blocks[child] for _, child in workload.arcs})
    count = max(1, round(rate * len(known)))
    gone = {known[place] for place in draw.choice(len(known), count, replace=False).tolist()}
    return [arc for arc in workload.arcs if blocks[arc[1]] not in gone]


def acted_on(found: Audit, threshold: float) -> list[Arc]:
    """Proposals that the policy ``barrier`` follows: the probable ones, and all of what stands on nothing."""
    lone = set(found.lone)
    return [
        (one.parent, one.child)
        for one in found.proposals
        if one.child in lone or (one.probability is not None and one.probability >= threshold)
    ]


def measure(
    workload: Workload,
    rate: float,
    seed: int,
    *,
    by: str = "arcs",
    threshold: float = THRESHOLD,
    regularity: bool = True,
) -> Measured:
    """Drop arcs of a workload, audit what is left, and compare cascades with the true ones."""
    kept = dropped(workload, rate, seed, by)
    begin = time.process_time()
    found = audit(workload.items, kept, regularity=regularity)
    seconds = time.process_time() - begin
    added = acted_on(found, threshold)
    lost = set(workload.arcs) - set(kept)
    below = _Descendants(workload, workload.arcs)
    right = [child in below[parent] for parent, child in added]
    still = _Descendants(workload, kept)
    after = _Descendants(workload, [*kept, *added])
    matter = [(u, v) for u, v in lost if v not in still[u]]
    exact = [arc for arc in matter if arc not in workload.circular]
    return Measured(
        plain=figures_of(workload, kept),
        audit=figures_of(workload, [*kept, *added]),
        proposals=len(added),
        precision=_mean(right),
        recall=_mean([v in after[u] for u, v in matter]),
        recall_exact=_mean([v in after[u] for u, v in exact]),
        missing=found.missing,
        seconds=seconds,
    )


def _mean(values: Sequence[bool | float]) -> float | None:
    return float(np.mean(values)) if len(values) else None


class _Descendants:
    """Sets of descendants, each found when it is first asked for."""

    def __init__(self, workload: Workload, arcs: Sequence[Arc]) -> None:
        self._graph = _graph(workload, arcs)
        self._known: dict[int, frozenset[int]] = {}

    def __getitem__(self, root: int) -> frozenset[int]:
        if root not in self._known:
            self._known[root] = frozenset(np.flatnonzero(reach(self._graph, [root])).tolist())
        return self._known[root]


def _graph(workload: Workload, arcs: Sequence[Arc]) -> Digraph:
    pairs = np.array(arcs, np.int64).reshape(-1, 2)
    return Digraph.from_arcs(len(workload.items), pairs[:, 0], pairs[:, 1])


def figures_of(workload: Workload, arcs: Sequence[Arc]) -> Figures:
    """Of cascades along these arcs against the true ones; means over the roots."""
    true, seen = _graph(workload, workload.arcs), _graph(workload, arcs)
    n = len(workload.items)
    scope = np.unique([item.scope for item in workload.items], return_inverse=True)[1]
    derived = np.zeros(n, np.bool_)
    derived[[child for _, child in workload.arcs]] = True
    exposure, wrong, local = [], [], []
    for root in workload.roots:
        cascade, withdrawn = reach(true, [root]), reach(seen, [root])
        exposure.append((cascade & ~withdrawn).sum() / cascade.sum())
        wrong.append((withdrawn & ~cascade).sum() / (n - cascade.sum()))
        near = derived & ~cascade & np.isin(scope, scope[cascade & derived])
        local.append((withdrawn & near).sum() / max(1, near.sum()))
    return Figures(
        exposure=float(np.mean(exposure)),
        wrongly_withdrawn=float(np.mean(wrong)),
        local=float(np.mean(local)),
    )


def pooled(family: str, data: Path, rate: float, seeds: Sequence[int], by: str = "arcs") -> dict[str, object]:
    """Means over seeds; each seed draws its own loss, and its own texts where the family generates them."""
    found = []
    for seed in seeds:
        found.append(measure(FAMILIES[family](seed, data), rate, seed, by=by, regularity=family not in _DEEP))
        one = found[-1]
        note(
            f"{family} {by} {rate:g} seed {seed}: exposure {one.plain.exposure:.3f} -> "
            f"{one.audit.exposure:.3f}, wrong {one.audit.wrongly_withdrawn:.4f}, {one.seconds:.1f} s"
        )
    told: dict[str, object] = {}
    for side in ("plain", "audit"):
        figures = [getattr(one, side) for one in found]
        told[side] = {
            name: round(float(np.mean([getattr(one, name) for one in figures])), 5)
            for name in ("exposure", "wrongly_withdrawn", "local")
        }
    for name in ("precision", "recall", "recall_exact", "missing", "proposals", "seconds"):
        values = [value for one in found if (value := getattr(one, name)) is not None]
        told[name] = round(float(np.mean(values)), 4) if values else None
    told["error"] = round(float(np.std([one.audit.exposure for one in found]) / len(found) ** 0.5), 5)
    return told


_DEEP = frozenset(f"deep-{family}" for family in DEEP)


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(prog="python -m bench.audit", description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object as the last line")
    parser.add_argument("--quick", action="store_true", help="two rates, two seeds, no block losses")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("MEMOREPAIR_DATA", "data")))
    parser.add_argument("--family", action="append", choices=sorted(FAMILIES), help="all unless given")
    parser.add_argument("--rate", action="append", type=float, help="share of arcs dropped")
    parser.add_argument("--seeds", type=int, default=5, help="draws a family and rate")
    parser.add_argument("--first-seed", type=int, default=1_000, help="of the draws")
    parser.add_argument("--probe", action="store_true", help="exposure by replays of suspects, alone")
    chosen = parser.parse_args()
    rates = chosen.rate or ((0.01, 0.05) if chosen.quick else RATES)
    seeds = range(chosen.first_seed, chosen.first_seed + (2 if chosen.quick else chosen.seeds))
    if chosen.probe:
        from bench.probing import curve  # which measures with what stands here

        print(json.dumps(curve(chosen.data, seeds)))
        return 0
    result: dict[str, dict[str, object]] = {}
    for family in chosen.family or sorted(FAMILIES):
        told = result.setdefault(family, {})
        for rate in rates:
            told[f"{rate:g}"] = pooled(family, chosen.data, rate, seeds)
        for by in () if chosen.quick or chosen.rate else LOSSES[1:]:
            told[by] = pooled(family, chosen.data, 0.1, seeds, by)
    if chosen.json:
        print(json.dumps(result))
    else:
        for family, told in result.items():
            for loss, figures in told.items():
                print(family, loss, figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
