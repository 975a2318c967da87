"""Execution: a plan carried out in order, with early cutoff, up to what could be published."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from memorepair.errors import InvalidInput, StaleRead, Withdrawn
from memorepair.graphs.digraph import Digraph, Index
from memorepair.graphs.order import strong_components, waves
from memorepair.graphs.terms import PROPAGATING, Kind
from memorepair.memory.artifact import Artifact, Draft, Key, Read, Recipe, State
from memorepair.memory.exchange import Member, OperatorRun, Progress, SupportArc, SuspectedArc
from memorepair.memory.points import MADE, OPERATOR, VALIDATION, reach
from memorepair.memory.store import Store
from memorepair.problems.integers import fraction
from memorepair.repair.assignment import OperatorTable
from memorepair.repair.cascade import Cascade
from memorepair.repair.checks.check import Context, Given, Verdict
from memorepair.repair.checks.marks import Run, marked, unsaid
from memorepair.repair.events import Deletion, Migration, RepairEvent, Settlement
from memorepair.repair.inheritance import Gone, inheriting, omitted, recipe_tells, tells, without_quotes
from memorepair.repair.modes import Mode
from memorepair.repair.operators.attempt import Failure, attempt
from memorepair.repair.operators.operator import Call, Input, Made, Operator, may_read_own
from memorepair.repair.plan import RepairPlan
from memorepair.repair.reselection import Replan, Reselection
from memorepair.repair.validation import Checks, admit, first_refusal

INPUT_UNAVAILABLE = "input unavailable"
PARAMS_REPEAT = "params rest on what was withdrawn: they repeat all of a text, however short"
FORBIDDEN = "what it says was removed and must not be learned again"


@dataclass(frozen=True, slots=True, kw_only=True)
class Staged:
    """A validated successor in quarantine, ready to be published.

    `omitted` names what of the description before it was not taken over, for it repeats what was withdrawn.
    """

    version: int
    digest: str
    reads: tuple[Read, ...]
    verdicts: tuple[Verdict, ...]
    cost: float
    omitted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Unchanged:
    """Executed, validated, and the same as before: the old version can be released."""

    reads: tuple[Read, ...]
    verdicts: tuple[Verdict, ...]
    cost: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Released:
    """Not executed: everything it read is there again exactly as it read it."""

    reads: tuple[Read, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """No successor; `rejected` is the version that validation refused, None where there is none."""

    reason: str
    cost: float
    verdicts: tuple[Verdict, ...] = ()
    rejected: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """Not executed because a prerequisite has no successor."""

    because: Key


@dataclass(frozen=True, slots=True, kw_only=True)
class Unaffordable:
    """Not begun: it was foreseen to cost more than other steps, dearer than foreseen, left of the budget."""

    foreseen: float
    left: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """Not begun: planned at first, not worth its price any more after what became of other steps."""


Outcome: TypeAlias = Staged | Unchanged | Released | Failed | Skipped | Unaffordable | Dropped


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """What became of each chosen or released member, in the order of execution; nothing is published yet.

    `stale` is what ended it early, another event or an update that came between; None where nothing did.
    `reselections` counts how often the rest was chosen anew.
    """

    outcomes: Mapping[Key, Outcome]
    stale: StaleRead | Withdrawn | None = None
    reselections: int = 0

    @property
    def cost(self) -> float:
        """What was actually spent, in the candidates' unit."""
        run = (one for one in self.outcomes.values() if isinstance(one, Staged | Unchanged | Failed))
        return float(sum((fraction(one.cost) for one in run), Fraction(0)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Standing:
    """A version that this run may read."""

    key: Key
    version: int
    digest: str
    kind: Kind


def execute(
    store: Store,
    event: RepairEvent,
    cascade: Cascade,
    plan: RepairPlan,
    operators: OperatorTable,
    *,
    checks: Checks | None = None,
    replan: Replan | None = None,
    cutoff: bool = True,
    progress: Progress | None = None,
) -> Execution:
    """Carry the plan out over all of D(F), in topological order of what the members read.

    A member whose parents are all there, each with the digest the member had read, is released without
    execution, chosen or not (early cutoff; not without `cutoff`, which is for comparison). Any other is
    executed where the plan chose it: the operator is given served artifacts, fresh replacements and this
    run's validated results only; what it makes is validated and staged.

    Where the plan has a budget, no step is begun that is foreseen to cost more than the steps before it have
    left. What a step really costs is known only afterwards: the last one that fits may exceed the budget by
    what it costs more than foreseen. Once nothing is left only steps foreseen to cost nothing are begun.

    With `replan` what is left is chosen anew where a step has failed or cost more than foreseen, before the
    next wave begins, and where all chosen has been carried out and the budget has something left
    (`Reselection`).

    Notes
    -----
    O(members + arcs) besides the operators and the checks, and again for each re-selection.
    """
    run = _Run(store, event, cascade, plan, operators, checks or Checks(), cutoff)
    again = None if replan is None else Reselection(plan.candidates, replan)
    places = run.order()
    total, at = len(places), 0
    stale: StaleRead | Withdrawn | None = None
    try:
        while True:
            if again is not None and again.due and run.between_waves(places, at):
                places, at = run.anew(again), 0
            elif at < len(places):
                if progress is not None:
                    progress("execute", total - len(places) + at, total)
                run.step(places[at], again)
                at += 1
            elif again is not None and run.remains(again):
                places, at = run.anew(again, expected=False), 0
            else:
                break
        run.explain_left()
    except (StaleRead, Withdrawn) as error:
        stale = error
    store.note_operator_runs(run.runs)
    if progress is not None and stale is None:
        progress("execute", total, total)
    times = 0 if again is None else again.times
    return Execution(outcomes=MappingProxyType(run.outcomes), stale=stale, reselections=times)


class _Run:
    """The state of one execution; positions are those of the candidates."""

    def __init__(
        self,
        store: Store,
        event: RepairEvent,
        cascade: Cascade,
        plan: RepairPlan,
        operators: OperatorTable,
        checks: Checks,
        cutoff: bool,
    ) -> None:
        self.store = store
        self.event = event
        self.cascade = cascade
        self.plan = plan
        self.operators = operators
        self.checks = checks
        self.cutoff = cutoff
        self.candidates = plan.candidates
        self.chosen = {place for wave in plan.waves for place in wave}
        self.position = {key: place for place, key in enumerate(self.candidates.keys)}
        self.members = {member.key: member for member in cascade.members}
        self.roots = set(cascade.roots)
        self.recipes = store.recipes(self.candidates.keys)
        self.arcs: defaultdict[Key, list[SupportArc]] = defaultdict(list)
        for arc in store.support(self.candidates.keys):
            if arc.relation in PROPAGATING:
                self.arcs[arc.child].append(arc)
        self.suspected: defaultdict[Key, list[SuspectedArc]] = defaultdict(list)
        for suspicion in store.suspects(cascade.case):
            self.suspected[suspicion.child].append(suspicion)
        self.instead = self.event.instead
        self.served = store.served(sorted(self._outside()))
        self.outcomes: dict[Key, Outcome] = {}
        self.standing = self._served_standing()
        self.fresh = self._fresh_texts()
        self._root_marks: dict[Run, Key] | None = None
        self._marked: dict[tuple[Key, str], Mapping[Run, Key]] = {}
        self._said: dict[Key, list[str]] | None = None
        self.waves = np.zeros(len(self.candidates.keys), np.int32)
        # As exact decimals: 0.3 - 0.1 must leave 0.2 for what costs 0.2.
        self.runs: list[OperatorRun] = []
        self.left = None if plan.budget is None else fraction(plan.budget)

    def _outside(self) -> set[Key]:
        """What the run may read that is not one of its own results."""
        parents = {arc.parent for arcs in self.arcs.values() for arc in arcs} - self.position.keys()
        fresh = set() if isinstance(self.event.delta, Deletion) else {*self.roots, *self.instead.values()}
        return parents | fresh

    def _served_standing(self) -> dict[Key, _Standing]:
        """What is served at the beginning, each with the digest that the store has of it."""
        recorded = {
            (arc.parent, arc.parent_version): arc.parent_digest for arcs in self.arcs.values() for arc in arcs
        }
        standing = {}
        for key, there in self.served.items():
            digest = recorded.get((key, there.version)) or self.store.digest(there.content)
            standing[key] = _Standing(key=key, version=there.version, digest=digest, kind=there.kind)
        return standing

    # order
    # -----------------------------------------------------------------------------------------------------

    def order(self) -> list[int]:
        """All positions, each after what it reads; on a cycle only prerequisites count, which have none."""
        k = len(self.candidates.keys)
        pairs = [
            (place, self.position[arc.parent])
            for key, place in self.position.items()
            for arc in self.arcs.get(key, ())
            if arc.parent in self.position and arc.parent != key
        ]
        tails = np.array([tail for tail, _ in pairs], np.int64)
        heads = np.array([head for _, head in pairs], np.int64)
        component = strong_components(Digraph.from_arcs(k, tails, heads))
        between = component[tails] != component[heads]
        prerequisites = self._chosen_prerequisites()
        # A cycle of the arcs kept would lie inside one component, where only prerequisites among chosen ones
        # are kept, and the plan has put those into waves.
        read = Digraph.from_arcs(
            k,
            np.concatenate([tails[between], prerequisites[:, 0]]),
            np.concatenate([heads[between], prerequisites[:, 1]]),
        )
        self.waves = waves(read)
        return [int(place) for place in np.argsort(self.waves, kind="stable")]

    def between_waves(self, places: Sequence[int], at: int) -> bool:
        """Whether the place before has another wave: then nothing of one wave is chosen twice."""
        return not 0 < at < len(places) or bool(self.waves[places[at - 1]] != self.waves[places[at]])

    def remains(self, again: Reselection) -> bool:
        """Whether the budget has something left for what has not been begun."""
        left = None if self.left is None else float(self.left)
        return again.remainder([self.position[key] for key in self.outcomes], left)

    def anew(self, again: Reselection, *, expected: bool = True) -> list[int]:
        """What is left, in order, once it is chosen anew; at expected costs, or as foreseen."""
        keys = self.candidates.keys
        ended = [(self.position[key], key in self.standing) for key in self.outcomes]
        left = None if self.left is None else float(self.left)
        self.chosen = again.chosen(
            [place for place, stands in ended if stands],
            [place for place, stands in ended if not stands],
            left,
            expected=expected,
        )
        return [place for place in self.order() if keys[place] not in self.outcomes]

    def explain_left(self) -> None:
        """An outcome for what the plan had chosen and a later choice left."""
        for place in (place for wave in self.plan.waves for place in wave):
            key = self.candidates.keys[place]
            if key in self.outcomes:
                continue
            required = self.candidates.prerequisites.successors(place).tolist()
            missing = [self.candidates.keys[one] for one in required]
            because = next(
                (one for one in missing if isinstance(self.outcomes.get(one), Failed | Skipped)), None
            )
            self.outcomes[key] = Dropped() if because is None else Skipped(because=because)

    def _chosen_prerequisites(self) -> Index:
        requires = self.candidates.prerequisites
        mask = np.zeros(requires.n, np.bool_)
        mask[sorted(self.chosen)] = True
        tails, heads = requires.tails(), requires.heads
        kept = mask[tails] & mask[heads]
        return np.column_stack([tails[kept], heads[kept]])

    # one member
    # ------------------------------------------------------------------------------------------------

    def step(self, place: int, again: Reselection | None = None) -> None:
        """Release it, or execute it where it is chosen, or leave it."""
        key = self.candidates.keys[place]
        member = self.members[key]
        if self.cutoff and self._can_be_released(key) and not self._tells(key):
            outcome: Outcome = Released(reads=self._reads(key))
        elif place in self.chosen:
            outcome = self._execute(place, key, member)
        else:
            return
        self.outcomes[key] = outcome
        if again is not None and isinstance(outcome, Staged | Unchanged | Failed):
            again.saw(place, outcome.cost, failed=isinstance(outcome, Failed))
        if self.left is not None and isinstance(outcome, Staged | Unchanged | Failed):
            self.left = max(Fraction(0), self.left - fraction(outcome.cost))
        version, digest = member.version, member.digest
        if isinstance(outcome, Staged):
            version, digest = outcome.version, outcome.digest
        if not isinstance(outcome, Failed | Skipped | Unaffordable | Dropped):
            self.standing[key] = _Standing(key=key, version=version, digest=digest, kind=member.kind)

    def _parent(self, arc: SupportArc) -> _Standing | None:
        """What stands for a parent now: a result of this run, or what is served in its place."""
        return (
            None if arc.parent == arc.child else self.standing.get(self.instead.get(arc.parent, arc.parent))
        )

    def _can_be_released(self, key: Key) -> bool:
        """Whether all it read is there before it, as it was: so nothing released stands on itself."""
        for arc in self.arcs[key]:
            parent = self._parent(arc)
            # A parent under another key would change what the version stands on: that takes a successor.
            if parent is None or parent.key != arc.parent or parent.digest != arc.read_digest:
                return False
        return all(self._unchanged(suspicion) for suspicion in self.suspected.get(key, ()))

    def _unchanged(self, suspicion: SuspectedArc) -> bool:
        """Whether what it is suspected to stand on is there as it was; a suspicion is no input otherwise."""
        parent = self.standing.get(suspicion.parent)
        return parent is not None and parent.version == suspicion.parent_version

    def _tells(self, key: Key) -> bool:
        """Whether its description gives away what the roots said and nothing it stands on says still."""
        marks = self._marks()
        old = self._former([key]).get(key)
        if old is None:
            return False
        recipe = Recipe() if isinstance(self.event.delta, Migration) else self.recipes.get(key, Recipe())
        gone = Gone(marks=(marks,), texts=self._root_texts())
        if not tells(old, gone) and not recipe_tells(recipe, gone):
            return False
        said = tuple(source.content for source in self._inputs(key))
        gone = replace(gone, allowed=(old.content, *said, *self.fresh))
        return tells(old, gone) or recipe_tells(recipe, gone)

    def _reads(self, key: Key) -> tuple[Read, ...]:
        """The recorded reads, each of what stands for its parent now; dropped where nothing does."""
        reads = []
        for arc in self.arcs[key]:
            parent = self._parent(arc)
            if parent is not None:
                reads.append(
                    Read(key=parent.key, version=parent.version, relation=arc.relation, group=arc.group)
                )
        return tuple(dict.fromkeys(reads))

    def _execute(self, place: int, key: Key, member: Member) -> Outcome:
        mode = self.candidates.modes[place]
        for required in self.candidates.prerequisites.successors(place).tolist():
            if self.candidates.keys[required] not in self.standing:
                return Skipped(because=self.candidates.keys[required])
        if mode is Mode.RECOMPUTE:
            for arc in self.arcs[key]:
                if arc.parent != key and self._parent(arc) is None:
                    return Failed(reason=f"{INPUT_UNAVAILABLE}: {arc.parent}", cost=0.0)
        foreseen = float(self.candidates.cost[place])
        if self.left is not None and fraction(foreseen) > self.left:
            return Unaffordable(foreseen=foreseen, left=float(self.left))
        name = self.candidates.operators[place] or ""
        operator = self.operators.get(name)
        if operator is None:
            return Failed(reason=f"there is no operator {name}", cost=0.0)
        given = self._given(key, member, mode, operator)
        before = admit(given)
        if (refusal := first_refusal(before)) is not None:
            return Failed(reason=refusal.saw, cost=0.0, verdicts=before)
        if self._params_repeat(given):
            return Failed(reason=PARAMS_REPEAT, cost=0.0, verdicts=before)
        call = given.call
        began = time.perf_counter()
        reach(OPERATOR)
        made = attempt(operator, call)
        reach(MADE)
        seconds = time.perf_counter() - began
        cost = foreseen if made.cost is None else float(made.cost)
        if isinstance(made, Failure):
            outcome: Outcome = Failed(reason=made.reason, cost=cost)
        else:
            outcome = self._judge(member, given, before, made, cost)
        self.runs.append(
            OperatorRun(
                operator=name,
                unit=self.candidates.unit,
                size=float(sum(len(source.content) for source in call.inputs)),
                cost=made.cost,  # a listed price says nothing new of the operator
                seconds=seconds,
                succeeded=not isinstance(outcome, Failed),
            )
        )
        return outcome

    def _params_repeat(self, given: Given) -> bool:
        """Beside the check of params, which knows a text by passages and names, and no short one."""
        if isinstance(self.event.delta, Migration):
            return False
        said = (*(source.content for source in given.call.inputs), *given.fresh)
        texts = (*self._root_texts(), *given.parent_texts.values())
        gone = Gone(marks=(), allowed=said, texts=texts)
        schema = given.call.schema
        return gone.repeated_by([dict(given.call.params), None if schema is None else dict(schema)])

    def _given(self, key: Key, member: Member, mode: Mode, operator: Operator) -> Given:
        recipe = self.recipes.get(key, Recipe())
        migrates = isinstance(self.event.delta, Migration)
        call = Call(
            key=key,
            inputs=self._inputs(key),
            params=recipe.params,
            interfaces=self._fresh(),
            own=self.store.before_image(key) if may_read_own(operator, mode, migrates=migrates) else None,
            schema=recipe.schema,
        )
        return Given(
            event=self.event.kind,
            mode=mode,
            arch=member.arch,
            recipe=recipe,
            operator=operator,
            call=call,
            root_marks=self._marks(),
            parent_texts=self._parent_texts(key),
            fresh=self.fresh,
            forget=self._forget(key) if mode is Mode.PARAM else (),
        )

    def _forget(self, key: Key) -> tuple[Input, ...]:
        """What it was trained on that is not there any more as it was read."""
        gone: dict[Key, SupportArc] = {}
        for arc in self.arcs[key]:
            parent = self._parent(arc)
            if arc.parent != key and (parent is None or parent.digest != arc.read_digest):
                gone[arc.parent] = arc
        texts = self.store.former([(arc.parent, arc.read_version) for arc in gone.values()])
        return tuple(
            Input(
                key=one,
                version=gone[one].read_version,
                kind=there.kind,
                relation=gone[one].relation,
                content=there.content,
            )
            for one, there in texts.items()
        )

    def _inputs(self, key: Key) -> tuple[Input, ...]:
        inputs: dict[Key, Input] = {}
        for arc in self.arcs[key]:
            parent = self._parent(arc)
            if parent is not None and parent.key not in inputs:
                inputs[parent.key] = Input(
                    key=parent.key,
                    version=parent.version,
                    kind=parent.kind,
                    relation=arc.relation,
                    content=self._text(parent),
                )
        return tuple(inputs.values())

    def _text(self, parent: _Standing) -> str:
        if parent.key not in self.position:
            return self.served[parent.key].content
        if isinstance(self.outcomes[parent.key], Staged):
            return self.store.staged_content(parent.key, parent.version)
        # Released or unchanged: the old version, whose support stands again; it is published with its
        # readers.
        return self._former([parent.key])[parent.key].content

    def _former(self, keys: Sequence[Key]) -> dict[Key, Artifact]:
        """Members as the case withdrew them."""
        return self.store.former([(key, self.members[key].version) for key in keys if key in self.members])

    def _fresh(self) -> dict[Key, str]:
        """kappa_e: root -> content of what supersedes it; empty unless the event migrates."""
        if not isinstance(self.event.delta, Migration):
            return {}
        pairs = ((root, self.served.get(new.key)) for root, new in self.event.delta.interfaces.items())
        return {root: there.content for root, there in pairs if there is not None}

    def _fresh_texts(self) -> tuple[str, ...]:
        """X_Delta and kappa_e: what the event has brought, as it is served now."""
        instead = self.event.delta.winners if isinstance(self.event.delta, Settlement) else {}
        there = [instead.get(root, root) for root in self.cascade.roots]
        replaced = (self.served[key].content for key in there if key in self.served)
        return (*replaced, *self._fresh().values())

    def _parent_texts(self, key: Key) -> dict[Key, str]:
        """Its parents that are out of service, by this event or another, as they were; roots left out."""
        gone = {
            arc.parent: self.members[arc.parent].version if arc.parent in self.members else arc.read_version
            for arc in self.arcs[key]
            if arc.parent not in self.roots
            and arc.parent != key
            and (arc.parent in self.members or not arc.parent_served)
        }
        return {one: there.content for one, there in self.store.former(list(gone.items())).items()}

    def _judge(
        self, member: Member, given: Given, before: Sequence[Verdict], made: Made, cost: float
    ) -> Outcome:
        key, call = member.key, given.call
        context = Context(
            event=given.event,
            mode=given.mode,
            arch=given.arch,
            recipe=given.recipe,
            operator=given.operator,
            call=call,
            root_marks=given.root_marks,
            parent_texts=given.parent_texts,
            fresh=given.fresh,
            forget=given.forget,
            made=made,
            parents={
                source.key: (self.standing[source.key].digest, self.store.digest(source.content))
                for source in call.inputs
            },
        )
        reach(VALIDATION)
        verdicts = (*before, *self.checks.validate(context))
        refusal = first_refusal(verdicts)
        digest = self.store.digest(made.content)
        reads = self._reads(key)
        same_parents = {read.key for read in reads} == {arc.parent for arc in self.arcs[key]}
        old = self._former([key]).get(key)
        withdrawn = dict(given.parent_texts) if old is None else {**given.parent_texts, key: old.content}
        marks = [given.root_marks, *(self._marks_of(one, text) for one, text in withdrawn.items())]
        said = (made.content, *(source.content for source in call.inputs), *given.fresh)
        texts = (*self._root_texts(), *given.parent_texts.values(), *([] if old is None else [old.content]))
        gone = Gone(marks=tuple(marks), allowed=said, texts=texts)
        recipe = given.recipe
        if not isinstance(self.event.delta, Migration):  # which withdraws no statement
            recipe = without_quotes(recipe, gone)
        described = recipe == given.recipe and not (old is not None and tells(old, gone))
        same = digest == member.digest and same_parents and described
        if refusal is None and same:
            if self.store.tombstoned(key, made.content):  # as `stage` refuses it of a successor
                return Failed(reason=f"it cannot be stored: {FORBIDDEN}", cost=cost, verdicts=verdicts)
            return Unchanged(reads=reads, verdicts=verdicts, cost=cost)
        draft = Draft(key=key, content=made.content, kind=member.kind, arch=member.arch, recipe=recipe)
        if old is not None:
            draft = replace(inheriting(draft, old, gone), source=old.source)
        try:
            version = self.store.stage(self.plan.case, draft)
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

    def _marks_of(self, key: Key, text: str) -> Mapping[Run, Key]:
        """Marks of a withdrawn text: asked for by all that read it."""
        known = self._marked.get((key, text))
        if known is None:
            known = self._marked[key, text] = marked({key: text})
        return known

    def _marks(self) -> Mapping[Run, Key]:
        if self._root_marks is None:
            marks: dict[Run, Key] = {}
            for root, texts in self._roots().items():
                for text in texts:
                    marks |= marked({root: text})
            self._root_marks = unsaid(marks, self.fresh)
        return self._root_marks

    def _roots(self) -> Mapping[Key, Sequence[str]]:
        """What the roots said: a deletion concerns each of their versions, another event the last."""
        if self._said is None:
            if isinstance(self.event.delta, Deletion):
                versions = {
                    root: [self.store.former([(root, past.version)]) for past in self.store.history(root)]
                    for root in self.cascade.roots
                }
            else:
                versions = {root: [self._former([root])] for root in self.cascade.roots}
            self._said = {
                root: [
                    one.content for found in there for one in found.values() if one.state is not State.ACTIVE
                ]
                for root, there in versions.items()
            }
        return self._said

    def _root_texts(self) -> tuple[str, ...]:
        return tuple(text for texts in self._roots().values() for text in texts)
