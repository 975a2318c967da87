"""What an import brought."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from memorepair.memory.artifact import Json, Key
from memorepair.memory.exchange import Refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """A read call whose replay differs from its recorded result, with the reason."""

    key: Key
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadAgreement:
    """The four read tools' recorded results compared to the byte with a replay on each run's own state."""

    agree: int
    total: int
    disagreements: tuple[Disagreement, ...]

    @property
    def share(self) -> float:
        """In [0, 1]; 1 where nothing was compared."""
        return self.agree / self.total if self.total else 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TauBenchReport:
    """Counts of an import.

    Attributes
    ----------
    runs, artifacts, arcs
        How many.
    by_kind
        Artifacts by what they are here: interfaces, rows, caches, observed records, after-images, summaries,
        answers.
    changes
        Recorded calls that changed the run's database.
    reads
        Agreement of the read tools.
    skipped
        What is no memory, with counts: thoughts, users' messages, messages that state no result.
    same
        Artifacts that were in the memory already.
    refused
        Artifacts that were not taken over, because they differ here or were taken out of service.
    """

    runs: int
    artifacts: int
    arcs: int
    by_kind: Mapping[str, int]
    changes: int
    reads: ReadAgreement
    skipped: Mapping[str, int]
    same: int = 0
    refused: tuple[Refusal, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """Plain values for printing."""
        return {
            "runs": self.runs,
            "artifacts": self.artifacts,
            "arcs": self.arcs,
            "by_kind": dict(self.by_kind),
            "changes": self.changes,
            "read_agreement": {
                "agree": self.reads.agree,
                "total": self.reads.total,
                "share": self.reads.share,
                "disagreements": [{"key": str(it.key), "why": it.why} for it in self.reads.disagreements],
            },
            "skipped": dict(self.skipped),
            "same": self.same,
            "refused": [{"key": str(it.key), "why": it.why} for it in self.refused],
        }
