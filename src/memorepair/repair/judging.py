"""Judging: whether what a step was given, made or left as it was may go on."""

from __future__ import annotations

from dataclasses import dataclass, replace

from memorepair.errors import InvalidInput
from memorepair.memory.artifact import Draft, Key, Recipe
from memorepair.memory.exchange import Member
from memorepair.memory.points import VALIDATION, reach
from memorepair.memory.store import Store
from memorepair.repair.bygone import Bygone
from memorepair.repair.checks.check import Context, Given, Verdict
from memorepair.repair.footing import Footing
from memorepair.repair.inheritance import Gone, inheriting, omitted, recipe_tells, tells, without_quotes
from memorepair.repair.operators.operator import Made
from memorepair.repair.outcomes import Failed, Outcome, Staged, Unchanged
from memorepair.repair.validation import Checks, admit, first_refusal

PARAMS_REPEAT = "params rest on what was withdrawn: they repeat all of a text, however short"
FORBIDDEN = "what it says was removed and must not be learned again"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """Judges the steps of one repair, each by what is there and what is gone at that time.

    `migrates`: the event withdraws no statement, only an interface.
    """

    store: Store
    case: int
    checks: Checks
    footing: Footing
    bygone: Bygone
    migrates: bool

    def tells(self, key: Key, recipe: Recipe) -> bool:
        """Whether its description gives away what the roots said and nothing it stands on says still."""
        marks = self.bygone.root_marks
        old = self.bygone.of(key)
        if old is None:
            return False
        recipe = Recipe() if self.migrates else recipe
        gone = Gone(marks=(marks,), texts=self.bygone.root_texts)
        if not tells(old, gone) and not recipe_tells(recipe, gone):
            return False
        said = tuple(source.content for source in self.footing.inputs(key))
        gone = replace(gone, allowed=(old.content, *said, *self.footing.fresh(key)))
        return tells(old, gone) or recipe_tells(recipe, gone)

    def admit(self, given: Given) -> tuple[tuple[Verdict, ...], str | None]:
        """The verdicts on a step before it runs, and why it must not run; None where it may."""
        verdicts = admit(given)
        if (refusal := first_refusal(verdicts)) is not None:
            return verdicts, refusal.saw
        return verdicts, PARAMS_REPEAT if self._params_repeat(given) else None

    def _params_repeat(self, given: Given) -> bool:
        """Beside the check of params, which knows a text by passages and names, and no short one."""
        if self.migrates:
            return False
        said = (*(source.content for source in given.call.inputs), *given.fresh)
        texts = (*self.bygone.root_texts, *given.parent_texts.values())
        gone = Gone(marks=(), allowed=said, texts=texts)
        schema = given.call.schema
        return gone.repeated_by([dict(given.call.params), None if schema is None else dict(schema)])

    def judge(
        self, member: Member, given: Given, before: tuple[Verdict, ...], made: Made, cost: float
    ) -> Outcome:
        """Validate what was made, and stage it where it is something new; `before` are `admit`'s verdicts."""
        key = member.key
        reach(VALIDATION)
        verdicts = (*before, *self.checks.validate(self._shown(given, made)))
        refusal = first_refusal(verdicts)
        digest = self.store.digest(made.content)
        reads = self.footing.reads(key)
        same_parents = {read.key for read in reads} == {arc.parent for arc in self.footing.arcs(key)}
        old = self.bygone.of(key)
        gone = self._gone(key, given, made, None if old is None else old.content)
        recipe = given.recipe if self.migrates else without_quotes(given.recipe, gone)
        described = recipe == given.recipe and not (old is not None and tells(old, gone))
        if refusal is None and digest == member.digest and same_parents and described:
            if self.store.tombstoned(key, made.content):  # as `stage` refuses it of a successor
                return Failed(reason=f"it cannot be stored: {FORBIDDEN}", cost=cost, verdicts=verdicts)
            return Unchanged(reads=reads, verdicts=verdicts, cost=cost)
        draft = Draft(key=key, content=made.content, kind=member.kind, arch=member.arch, recipe=recipe)
        if old is not None:
            draft = replace(inheriting(draft, old, gone), source=old.source)
        try:
            version = self.store.stage(self.case, draft)
        except InvalidInput as error:
            return Failed(reason=f"it cannot be stored: {error}", cost=cost, verdicts=verdicts)
        if refusal is not None:
            reason = f"{refusal.check}: {refusal.saw}"
            return Failed(reason=reason, cost=cost, verdicts=verdicts, rejected=version)
        # Made from all of it: what were alternatives of the old text are none of the new one.
        together = tuple(dict.fromkeys(replace(read, group=0) for read in reads))
        return Staged(
            version=version,
            digest=digest,
            reads=together,
            verdicts=verdicts,
            cost=cost,
            omitted=() if old is None else omitted(old, draft, gone),
        )

    def _shown(self, given: Given, made: Made) -> Context:
        return Context(
            event=given.event,
            mode=given.mode,
            arch=given.arch,
            recipe=given.recipe,
            operator=given.operator,
            call=given.call,
            root_marks=given.root_marks,
            parent_texts=given.parent_texts,
            fresh=given.fresh,
            forget=given.forget,
            made=made,
            parents={
                source.key: (self.footing.digest(source.key), self.store.digest(source.content))
                for source in given.call.inputs
            },
        )

    def _gone(self, key: Key, given: Given, made: Made, old: str | None) -> Gone:
        """What its description must not give away: all that was withdrawn, but for what it still says."""
        own = {} if old is None else {key: old}
        withdrawn = {**given.parent_texts, **own}
        said = (made.content, *(source.content for source in given.call.inputs), *given.fresh)
        return Gone(
            marks=(given.root_marks, *(self.bygone.marks_of(one, text) for one, text in withdrawn.items())),
            allowed=said,
            texts=(*self.bygone.root_texts, *given.parent_texts.values(), *own.values()),
        )
