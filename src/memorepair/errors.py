"""Every error raised on purpose: one base, each also the built-in a caller would expect, each with a witness.

MemoRepairError
├── InvalidInput (ValueError)            an argument breaks the contract; nothing was changed
│   ├── InvalidInstance                  a selection instance: NaN, negative cost, a dangling arc
│   ├── InvalidEvent                     empty roots, a delta that does not fit the event
│   ├── InvalidFile                      a file that cannot be read as what it claims to be
│   ├── CycleFound                       a derivation that would close a cycle
│   └── Tombstoned                       content that was removed and must not be learned again
├── UnknownId (KeyError)                 no such artifact, case, solver, operator
├── Withdrawn (LookupError)              the artifact is behind the barrier
├── OtherSpace (LookupError)             vectors are searched in another space than this embedder's
├── NotAligned (RuntimeError)            a new space of vectors does not recall what the old one does
├── StaleRead (RuntimeError)             a derivation read something that has changed since
├── RepairInProgress (RuntimeError)      another repair holds the store
├── RepairsFailed (RuntimeError)         several repairs of the case have died or raised; ask for one more
├── UndoRefused (RuntimeError)           later work stands on the case, or its content is gone
├── TraceMismatch (RuntimeError)         a replay asks for something else than its run recorded
├── ApprovalNeeded (PermissionError)     something irreversible would run that no person approved
├── NoSolution (RuntimeError)            a value was asked of an answer whose status has none
├── ProofFailed (RuntimeError)           an answer does not satisfy its definition or its certificate
├── StepFailed (RuntimeError)            an operator could not produce a successor
├── StoreError (OSError)                 the database file
│   ├── CorruptStore                     damaged or its journal's seal does not verify
│   ├── ForeignStore                     a database of something else
│   └── NewerSchema                      written by a newer version of MemoRepair
└── MissingDependency (ImportError)      an optional package is not installed
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

_HEAD, _TAIL = 1_500, 400
"""Characters of a longer message that are kept: where it begins, where it ends."""


class MemoRepairError(Exception):
    """Base of every error raised on purpose.

    Parameters
    ----------
    message
        What is wrong, in words a user can act on. It becomes one line of bounded length whatever argument it
        quotes: what does not print is spelled out.
    witness
        The smallest thing that proves it: an id, an arc, a cycle, a line number.
    """

    def __init__(self, message: str, *, witness: object = None) -> None:
        line = _one_line(message)
        super().__init__(line)
        self.message = line
        self.witness = witness

    def __str__(self) -> str:  # KeyError would show the repr
        return self.message


def _one_line(message: str) -> str:
    if len(message) > _HEAD + _TAIL:
        message = f"{message[:_HEAD]} ... {message[-_TAIL:]}"
    if message.isprintable():
        return message
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in message)


class InvalidInput(MemoRepairError, ValueError):
    """An argument breaks the contract; nothing was changed."""


class InvalidInstance(InvalidInput):
    """A selection instance is malformed: NaN, negative cost or price, duplicate id, dangling arc."""


class InvalidEvent(InvalidInput):
    """A repair event is malformed: empty roots, or a delta that does not fit its kind."""


class InvalidFile(InvalidInput):
    """A file cannot be read as what it claims to be."""

    @classmethod
    def cannot(cls, done: str, path: object, error: Exception) -> InvalidFile:
        """The file at `path` cannot be `done` (read, written), as `error` tells; the path is said once."""
        told = error.strerror if isinstance(error, OSError) else None
        return cls(f"{path} cannot be {done}: {told or error}", witness=str(path))


class CycleFound(InvalidInput):
    """A derivation would close a cycle; the witness is the cycle."""


class Tombstoned(InvalidInput):
    """The content was removed by an event and must not be learned again."""


class UnknownId(MemoRepairError, KeyError):
    """No artifact, case, solver or operator has this id."""

    @classmethod
    def among(cls, what: str, name: object, known: Iterable[str]) -> UnknownId:
        """No `what` is called `name`: the message says which names are near, else all that are known."""
        known = list(known)
        near = get_close_matches(str(name), known, n=2)
        advice = f"did you mean {' or '.join(near)}?" if near else f"one of {', '.join(known)}"
        return cls(f"no {what} {name!r}{'; ' if near else ': '}{advice}", witness=name)


class Withdrawn(MemoRepairError, LookupError):
    """The artifact is behind the barrier.

    Parameters
    ----------
    key
        The artifact asked for.
    case
        The case that withdrew it.
    state
        Its state: withdrawn, quarantined, archived, superseded or erased.
    """

    def __init__(self, key: object, case: int | None, state: str = "withdrawn") -> None:
        where = "" if case is None else f" (case {case})"
        super().__init__(f"{key} is {state}{where}", witness=key)
        self.key = key
        self.case = case
        self.state = state


class OtherSpace(MemoRepairError, LookupError):
    """Memories live in another space of vectors than the one asked for; the witness is that space."""


class NotAligned(MemoRepairError, RuntimeError):
    """A new space of vectors does not recall what the old one does; the witness are the figures."""


class StaleRead(MemoRepairError, RuntimeError):
    """A derivation read something that has changed or been withdrawn since; its write was refused."""


class RepairInProgress(MemoRepairError, RuntimeError):
    """Another repair holds the store."""


class RepairsFailed(MemoRepairError, RuntimeError):
    """Several repairs of a case have died or raised; the witness is their number."""


class UndoRefused(MemoRepairError, RuntimeError):
    """Later work stands on the case, or content it would need is gone; nothing was changed."""


class TraceMismatch(MemoRepairError, RuntimeError):
    """A replay asks for something else than its run recorded; the witness is the step."""


class ApprovalNeeded(MemoRepairError, PermissionError):
    """Something irreversible would run that no person has approved; the witness is what."""


class NoSolution(MemoRepairError, RuntimeError):
    """A value was asked of an answer whose status has none."""


class ProofFailed(MemoRepairError, RuntimeError):
    """An answer does not satisfy its definition or its certificate."""


class StepFailed(MemoRepairError, RuntimeError):
    """An operator could not produce a successor.

    `cost` is what it has spent all the same, in the unit of the candidates' costs; None where it is not
    known. `quotes_own` is False where the operator says that the message quotes nothing of the artifact's own
    version before, which may have been withdrawn: of an operator that was given it, no other message is told.
    """

    def __init__(
        self, message: str, *, witness: object = None, cost: float | None = None, quotes_own: bool = True
    ) -> None:
        super().__init__(message, witness=witness)
        self.cost = cost
        self.quotes_own = quotes_own


class StoreError(MemoRepairError, OSError):
    """The database file cannot be used."""


class CorruptStore(StoreError):
    """The database is damaged, or its journal's seal does not verify."""


class ForeignStore(StoreError):
    """The file is a database of something else, or no database."""


class NewerSchema(StoreError):
    """The file was written by a newer version of MemoRepair."""


class MissingDependency(MemoRepairError, ImportError):
    """An optional package is not installed; the message names the extra that brings it."""
