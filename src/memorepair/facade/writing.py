"""Verbs that write: what a memory learns, and what it stands on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from secrets import token_hex
from typing import ParamSpec, TypeVar

from memorepair.errors import InvalidInput
from memorepair.facade.base import Opened, check_callable
from memorepair.graphs.terms import Arch, Kind, Relation
from memorepair.memory.arguments import KeyLike, SlotLike, as_keys, as_member, as_scope, as_slot
from memorepair.memory.artifact import Draft, Embedding, Json, Key, Recipe, Scope, Source, State, Type
from memorepair.memory.capture import Derivation, OnStale
from memorepair.memory.store import Carried, MergeReport, WriteReport
from memorepair.memory.tracing import traced
from memorepair.memory.values import check_flags, check_type, check_word
from memorepair.repair.operators.operator import Operator

P = ParamSpec("P")
T = TypeVar("T")


class Writing(Opened):
    """Verbs that write: what a memory learns, and what it stands on."""

    def record(
        self,
        content: str,
        *,
        id: str | None = None,
        scope: Scope = (),
        kind: Kind | str = Kind.RECORD,
        arch: Arch | str = Arch.NONE,
        source: Source | str = Source.USER,
        type: Type | str | None = None,
        slot: SlotLike | None = None,
        confidence: float | None = None,
        metadata: Mapping[str, Json] | None = None,
        embedding: Embedding | None = None,
        semantic: KeyLike | Iterable[KeyLike] = (),
        recipe: Recipe | None = None,
        allow_tombstoned: bool = False,
        actor: str | None = None,
        reason: str | None = None,
    ) -> Key:
        """Store something that stands on its own; an id that exists gets its next version.

        Parameters
        ----------
        metadata
            Unless given, what the version before has; an empty one clears it.

        Returns
        -------
        Key
            Of the artifact; the id is random unless given.

        Raises
        ------
        Withdrawn
            The id is behind the barrier.
        Tombstoned
            The content was removed by an event and must not be learned again, unless a person signs for it:
            `allow_tombstoned` with `actor` and `reason`.
        """
        check_flags(allow_tombstoned=allow_tombstoned)
        key = Key(as_scope(scope), token_hex(8) if id is None else id)
        if metadata is None:
            before = {} if id is None else self._store.served([key])
            metadata = before[key].metadata if key in before else {}
        draft = Draft(
            key=key,
            content=content,
            kind=as_member(Kind, kind),
            arch=as_member(Arch, arch),
            source=as_member(Source, source),
            type=None if type is None else as_member(Type, type),
            slot=as_slot(slot),
            confidence=confidence,
            metadata=metadata,
            embedding=embedding,
            semantic=as_keys(semantic),
            recipe=Recipe() if recipe is None else recipe,
        )
        self._store.write(
            [draft], act="record", allow_tombstoned=allow_tombstoned, actor=actor, reason=reason
        )
        return key

    def deriving(
        self,
        *,
        kind: Kind | str,
        operator: str | None = None,
        operator_version: str = "1",
        params: Mapping[str, Json] | None = None,
        recipe: Recipe | None = None,
        scope: Scope = (),
        arch: Arch | str = Arch.NONE,
        source: Source | str = Source.EXTRACTION,
        relation: Relation | str = Relation.DERIVE,
        on_stale: OnStale = "raise",
        allow_tombstoned: bool = False,
        actor: str | None = None,
        reason: str | None = None,
        isolated: bool = False,
    ) -> Derivation:
        """A derivation under way: what it reads becomes an influence arc of what it writes.

        What `get` and `search` serve inside the block counts as read, as what `Derivation.read` does.
        Threads, tasks and nested derivations: see `Derivation`; `isolated` takes nothing from the one around.

        Everything written commits together when the ``with`` block ends, and nothing does if the block raises
        or something read has been changed or withdrawn since (`StaleRead`, `Withdrawn`); with `on_stale`
        ``quarantine`` it is kept instead, behind the barrier, and `Derivation.quarantined` names it.
        `operator`, `operator_version`, `params` say how to make the result again; `recipe` says it in full.
        """
        check_flags(allow_tombstoned=allow_tombstoned)
        if recipe is not None and operator is not None:
            raise InvalidInput("give the operator or the recipe, not both", witness=operator)
        if recipe is None:
            recipe = Recipe(
                operator=operator, version=operator_version, params={} if params is None else params
            )
        return Derivation(
            self._store,
            kind=kind,
            arch=arch,
            source=source,
            scope=scope,
            relation=relation,
            recipe=recipe,
            on_stale=on_stale,
            allow_tombstoned=allow_tombstoned,
            actor=actor,
            reason=reason,
            isolated=isolated,
        )

    def derived(
        self,
        *,
        kind: Kind | str,
        operator: str | None = None,
        operator_version: str = "1",
        params: Mapping[str, Json] | None = None,
        scope: Scope = (),
        arch: Arch | str = Arch.NONE,
        id: Callable[..., str] | None = None,
        isolated: bool = False,
    ) -> Callable[[Callable[P, T]], Callable[P, T]]:
        """A decorator: every result of the function is stored with what was read to make it.

        What the function reads of this memory counts, and what the derivation around the call has read. The
        function, plain or a coroutine, returns what it returned: text is stored as it is, anything else as
        JSON.

        Parameters
        ----------
        id
            Gives the id of the result from the arguments; random unless given.

        Examples
        --------
        >>> import memorepair as mr
        >>> with mr.Memory.open("derived.db") as memory:
        ...     home = memory.record("Lives in Paris", id="home")
        ...     @memory.derived(kind="summary", operator="summarise", id=lambda: "profile")
        ...     def profile():
        ...         return "Based in " + memory.get("home").content.removeprefix("Lives in ")
        ...     text = profile()
        ...     [parent.key.id for parent in memory.explain("profile").parents]
        ['home']
        """
        recipe = Recipe(operator=operator, version=operator_version, params={} if params is None else params)

        def begin(of_call: Recipe) -> Derivation:
            return self.deriving(kind=kind, recipe=of_call, scope=scope, arch=arch, isolated=isolated)

        if id is not None:
            check_callable(id, "what gives the id")
        begin(recipe)  # what is wrong with it is told now, not by the first call
        return lambda function: traced(function, begin, recipe=recipe, id=id)

    def tool(
        self,
        function: Callable[P, T],
        *,
        name: str | None = None,
        version: str = "1",
        observed: bool = False,
        scope: Scope = (),
        id: Callable[..., str] | None = None,
        reads: Callable[..., tuple[KeyLike, ...]] | None = None,
    ) -> Callable[P, T]:
        """The tool, whose every result is stored: one line a tool.

        The result is a cache that the operator `name@version` can compute again, with the arguments of the
        call as its params; with `observed` it is a record of a call that changed the world, never made again.
        It stands on what the derivation around the call has read, from which the arguments came.

        Parameters
        ----------
        name
            Of the operator that replays the tool; the function's own unless given.
        reads
            Gives, from the arguments, what of this memory the tool looks at by itself.

        Raises
        ------
        InvalidInput
            By the call: an argument is no JSON, nothing was called.
        """
        recipe = Recipe(
            operator=getattr(function, "__name__", None) if name is None else name,
            version=version,
            observed=observed,
        )

        def begin(of_call: Recipe) -> Derivation:
            kind = Kind.RECORD if observed else Kind.CACHE
            return self.deriving(kind=kind, recipe=of_call, scope=scope, source=Source.TOOL)

        return traced(function, begin, recipe=recipe, id=id, with_arguments=True, reads=reads)

    def generator(
        self,
        function: Callable[P, T],
        *,
        operator: str = "summarise",
        params: Mapping[str, Json] | None = None,
        scope: Scope = (),
        id: Callable[..., str] | None = None,
    ) -> Callable[P, T]:
        """A call of a language model, whose every text is stored as a summary: one line a model.

        It stands on what the derivation around the call has read, from which the prompt came; `operator` is
        what writes it anew. The prompt itself is not kept: it quotes what may have to go.
        """
        check_word(operator, "an operator")
        return self.derived(kind=Kind.SUMMARY, operator=operator, params=params, scope=scope, id=id)(function)

    def ingest(
        self,
        drafts: Sequence[Draft],
        *,
        allow_tombstoned: bool = False,
        actor: str | None = None,
        reason: str | None = None,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> WriteReport:
        """Store many artifacts at once, in any order; cycles among them are stored and reported.

        One transaction: on any error nothing is stored. `progress` is told the step (``rows``, ``index``),
        how many artifacts are done, and of how many.
        """
        check_flags(allow_tombstoned=allow_tombstoned)
        if progress is not None:
            check_callable(progress, "progress")
        return self._store.write(
            drafts,
            act="import",
            allow_cycles=True,
            allow_tombstoned=allow_tombstoned,
            actor=actor,
            reason=reason,
            progress=progress,
        )

    def merge(
        self,
        drafts: Sequence[Draft],
        *,
        update: bool = False,
        actor: str | None = None,
        reason: str | None = None,
        dry_run: bool = False,
    ) -> MergeReport:
        """Store those of many artifacts that are not here yet; what is here already stays as it is.

        Merging the same drafts again changes nothing. An artifact that is here with the same content,
        description and sources is counted as same; one that differs is refused and named, or gets its next
        version with `update`. Refused either way is what an event has taken out of service, and what stands
        on anything refused. One transaction; with `dry_run` it is taken back.

        Raises
        ------
        InvalidInput
            A key twice.
        UnknownId
            Something read is neither among the drafts nor here.
        """
        check_flags(update=update, dry_run=dry_run)
        items = [
            Carried(
                key=draft.key,
                version=1,
                current=True,
                barred=False,
                state=State.ACTIVE,
                kind=draft.kind,
                arch=draft.arch,
                created_at=None,
                reads=draft.reads,
                semantic=draft.semantic,
                draft=draft,
            )
            for draft in _drafts(drafts)
        ]
        return self._store.merge(items, update=update, actor=actor, reason=reason, dry_run=dry_run)

    def register(self, operator: Operator) -> None:
        """Add an operator that can make successors."""
        self._operators.register(operator)
        self._verdicts.forget()


def _drafts(drafts: Sequence[Draft]) -> Sequence[Draft]:
    check_type(drafts, Sequence, "drafts are a sequence of Draft")
    for draft in drafts:
        check_type(draft, Draft, "what is merged is a Draft")
    return drafts
