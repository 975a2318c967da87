"""The probe of the audit: how much exposure is left after so many replays of suspects.

Deep chains of extractive summaries, whose operator is deterministic: a replay settles what it explains.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from bench.audit import THRESHOLD, dropped, figures_of
from bench.cascade.families import deep_world
from bench.registry import note
from bench.workloads import deep, requests_of
from memorepair.facade import Memory
from memorepair.memory.artifact import Key
from memorepair.repair.audit.probe import probe
from memorepair.repair.audit.report import audit_store

SPENT = (0, 10, 25, 50, 100, 200)
RATE = 0.05


def curve(data: Path, seeds: Sequence[int], rate: float = RATE) -> dict[str, dict[str, float]]:
    """Replays paid for -> exposure, wrongly withdrawn in all and in the touched scopes; means over seeds."""
    found: dict[int, list[tuple[float, float, float, float]]] = {spent: [] for spent in SPENT}
    for seed in seeds:
        made = deep("extractive", seed=seed, requests=requests_of(data / "traces-toolbench"))
        kept = dropped(made, rate, seed)
        world = deep_world(replace(made, arcs=tuple(kept)))
        position = {
            Key((item.scope,), f"{item.kind}-{place}"): place for place, item in enumerate(made.items)
        }
        with (
            tempfile.TemporaryDirectory() as folder,
            Memory.open(Path(folder) / "memory.db", operators=world.operators, embedder=None) as memory,
        ):
            memory.ingest(world.drafts)
            told = audit_store(memory.store, regularity=False)
            for spent, rows in found.items():
                probed = probe(memory.store, told.proposals, memory.operators, budget=spent)
                added = [
                    (position[one.parent], position[one.child])
                    for one in probed.proposals
                    if one.followed(THRESHOLD) and one.parent in position and one.child in position
                ]
                figures = figures_of(made, [*kept, *added])
                rows.append(
                    (figures.exposure, figures.wrongly_withdrawn, figures.local, float(probed.replays))
                )
        note(f"probe seed {seed}: {[round(rows[-1][0], 4) for rows in found.values()]}")
    names = ("exposure", "wrongly_withdrawn", "local", "replays")
    return {
        str(spent): {
            name: round(float(np.mean([row[place] for row in rows])), 5) for place, name in enumerate(names)
        }
        for spent, rows in found.items()
    }
