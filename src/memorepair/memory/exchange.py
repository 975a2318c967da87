"""Exchange: the values that pass between a store and who repairs it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from memorepair.graphs.terms import Arch, Kind, Relation
from memorepair.memory.artifact import Case, Draft, Erasure, Key, Read, State

Progress: TypeAlias = "Callable[[str, int, int], None]"
"""Told the step, how many are done, and of how many."""

Marks: TypeAlias = "Mapping[Key, float | None]"
"""Served artifacts to mark: their weight for ranking from now on, None where a person is to review them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteReport:
    """What a write stored.

    Attributes
    ----------
    keys
        In the order of the drafts.
    artifacts, arcs
        How many versions, how many influence arcs.
    cycles
        One cycle per strong component that the write closed, where the caller allowed cycles.
    quarantined
        Those of the keys whose draft is kept behind the barrier: something it read had left service.
    """

    keys: tuple[Key, ...]
    artifacts: int
    arcs: int
    cycles: tuple[tuple[Key, ...], ...]
    quarantined: tuple[Key, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """A version as it travels from one store to another.

    Attributes
    ----------
    current
        The newest published one of its key; each key has exactly one.
    barred
        It left through an event, or never served; what an ordinary update superseded is not barred.
    draft
        Its content and description, without reads; None where only its place travels.
    created_at
        Nanoseconds since the epoch; None for the instant of its arrival.
    """

    key: Key
    version: int
    current: bool
    barred: bool
    state: State
    kind: Kind
    arch: Arch
    created_at: int | None
    reads: tuple[Read, ...] = ()
    semantic: tuple[Key, ...] = ()
    draft: Draft | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """An artifact that a merge did not take over.

    `why`: ``differs`` (another content, description or sources here), ``removed`` (an event took this very
    content out of service), ``out of service`` (here, there, or where it stands), ``forbidden`` (an event
    removed the content from the scope), ``stands on`` what is refused or not here. `witness` is the case or
    the artifact behind it.
    """

    key: Key
    why: str
    witness: int | Key | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeReport:
    """What a merge took over.

    `written` are new here, `updated` got their next version, `same` were here already.
    """

    written: tuple[Key, ...]
    updated: tuple[Key, ...]
    same: int
    refused: tuple[Refusal, ...]
    versions: int
    arcs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A member of a case's cascade, as the case withdrew it, with its state today.

    `version` is the one that was withdrawn, `size` its characters, `uses` how often it was got,
    `dependents` how many artifacts read it directly.
    """

    key: Key
    version: int
    kind: Kind
    arch: Arch
    state: State
    digest: str
    root: bool
    updated_at: int
    uses: int
    last_accessed_at: int | None
    dependents: int
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Spared:
    """A member that evidence kept in service: it stands on `by`, its support group that the event left."""

    member: Member
    by: tuple[Key, ...]


class SupportArc(NamedTuple):
    """A live arc into `child`: what was read of `parent`, and what the parent is now (size in characters).

    A tuple, for a large case has very many.
    """

    child: Key
    parent: Key
    relation: Relation
    group: int
    read_version: int
    read_digest: str
    parent_state: State
    parent_version: int
    parent_digest: str
    parent_served: bool
    parent_size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SuspectedArc:
    """An influence arc that nobody recorded and the audit suspects; never one of the recorded arcs.

    Attributes
    ----------
    probability
        None where none was stated.
    firm
        A cascade that follows suspected arcs follows it whatever its threshold: the child is derived and
        stands on nothing recorded, or a person accepted it without a probability.
    why
        On what it rests, without content.
    case
        The case that brought it; None where a person did.
    """

    parent: Key
    parent_version: int
    child: Key
    child_version: int
    probability: float | None
    firm: bool = False
    why: str = ""
    case: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Successor:
    """A staged version to publish: the versions it was made from, and the words of its validation."""

    key: Key
    version: int
    reads: tuple[Read, ...]
    verdicts: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """A withdrawn version to serve again as it is: the versions of its parents it stands on now.

    `verdicts` are those of the execution that came out with the same content; none where there was none.
    """

    key: Key
    reads: tuple[Read, ...]
    verdicts: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """An entry of the journal; `rows` is how many versions it changed."""

    seq: int
    act: str
    case: int | None
    at: int
    actor: str | None
    reason: str | None
    rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoReport:
    """What an undo did, or would do.

    Attributes
    ----------
    case
        As it is afterwards.
    restored
        In service again in the version that the case had withdrawn or superseded.
    retired
        Out of service: the replacements and successors that the case had brought, by key and version.
    kept
        Released by the case: served before and after, on their own arcs again.
    still_withdrawn
        Out of service because an earlier case had withdrawn them.
    """

    case: Case
    restored: tuple[Key, ...]
    retired: tuple[tuple[Key, int], ...]
    kept: tuple[Key, ...]
    still_withdrawn: tuple[Key, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasedVersion:
    """A version whose content is gone; `digest` is its keyed digest (hex)."""

    key: Key
    version: int
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """Proof of an erasure, without what was erased.

    `entry` and `seal` (hex) are the sealed journal entry that names the same versions and digests. There is
    none where a dry run says what would go: entry 0, no seal, status `Erasure.ASKED`.
    """

    case: int
    status: Erasure
    erased_at: int
    actor: str | None
    reason: str | None
    versions: tuple[ErasedVersion, ...]
    entry: int
    seal: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PruneReport:
    """What a prune removed, or would remove: versions by key and number, and their characters.

    `clean` holds where no byte of it is left in the files; a reader of an older snapshot keeps it from
    that until a later prune.
    """

    versions: tuple[tuple[Key, int], ...]
    size: int
    clean: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovery:
    """What the opening of a store found left by dead processes, and did.

    `reopened` are cases whose repair had died, `discarded` how many staged versions were taken back,
    `erased` the cases whose erasure was finished.
    """

    reopened: tuple[int, ...] = ()
    discarded: int = 0
    erased: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorRun:
    """One run of an operator.

    Attributes
    ----------
    operator
        ``name@version``.
    unit
        Of the cost.
    size
        Characters of its input.
    cost
        As measured; None where it was not.
    seconds
    succeeded
        Whether what it made could be published.
    """

    operator: str
    unit: str
    size: float
    cost: float | None
    seconds: float
    succeeded: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorCost:
    """What an operator has cost so far on inputs of 2^octave to 2^(octave+1) characters.

    Attributes
    ----------
    runs, succeeded
        All, and those whose result could be published.
    seconds
        Mean of all.
    measured
        How many have told their cost; `size` and `cost` are means of these, in characters and in `unit`.
    cost
        None where none has.
    spread
        Standard deviation of the cost; None for fewer than two, or beyond what a float can hold.
    """

    operator: str
    unit: str
    octave: int
    runs: int
    succeeded: int
    seconds: float
    measured: int
    size: float
    cost: float | None
    spread: float | None


class Filled(NamedTuple):
    """A round of filling a space: vectors stored, versions (vid) that say nothing, and where to go on.

    `after` is 0 where nothing was left.
    """

    stored: int
    blank: tuple[int, ...]
    after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Something `check` found wrong with the file; `witness` is what proves it."""

    code: str
    message: str
    witness: object
