"""Importing: a recording goes into a memory, once; what a repair has changed there stays as it is."""

from __future__ import annotations

from dataclasses import dataclass

from memorepair.adapters.recording import Recording
from memorepair.facade import Memory
from memorepair.memory.artifact import Json, Scope
from memorepair.memory.exchange import MergeReport


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """What an import found, and what became of it; nothing was stored where it was a `dry_run`."""

    recording: Recording
    merged: MergeReport
    dry_run: bool

    def to_json(self) -> dict[str, Json]:
        """Plain values for printing."""
        recording, merged = self.recording, self.merged
        return {
            "kind": recording.kind,
            "dry_run": self.dry_run,
            "artifacts": len(recording.items),
            "arcs": len(recording.links),
            "recorded": dict(recording.recorded.items()),
            "inferred": dict(recording.inferred.items()),
            "missing": [
                {"what": one.what, "count": one.count, "examples": list(one.examples)}
                for one in recording.missing
            ],
            "new": len(merged.written),
            "updated": len(merged.updated),
            "same": merged.same,
            "refused": [
                {
                    "key": str(one.key),
                    "why": one.why,
                    "witness": one.witness if isinstance(one.witness, int | None) else str(one.witness),
                }
                for one in merged.refused
            ],
        }


def bring(
    memory: Memory | None,
    recording: Recording,
    *,
    scope: Scope,
    update: bool = False,
    dry_run: bool = False,
) -> ImportReport:
    """Store a recording in one transaction; what is there already is left alone (`Memory.merge`).

    Parameters
    ----------
    memory
        None for one that does not exist yet, of which only a dry run is made.
    scope
        Where its artifacts live.
    update
        Whether what differs gets its next version instead of being refused. What a repair event has changed
        is refused either way.
    """
    drafts = recording.drafts(scope)
    if memory is not None:
        merged = memory.merge(drafts, update=update, dry_run=dry_run)
        return ImportReport(recording=recording, merged=merged, dry_run=dry_run)
    all_new = MergeReport(
        written=tuple(draft.key for draft in drafts),
        updated=(),
        same=0,
        refused=(),
        versions=len(drafts),
        arcs=len(recording.links),
    )
    return ImportReport(recording=recording, merged=all_new, dry_run=True)
