"""Neural ablation: skills trained on real requests of which some are mislabelled, and made to forget them.

The labels are the categories of the tools that real users asked for. One source has called some of the
largest category by the name of the second, by seed, and the event deletes what it brought. Beside the skill
there are its cached verdicts on new requests, and digests of the training requests.
"""

from __future__ import annotations

import json
import lzma
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.cascade.measures import ratio
from memorepair.facade import Memory
from memorepair.graphs.terms import Arch, Kind, Relation
from memorepair.memory.artifact import Draft, Key, Read, Recipe
from memorepair.repair import engine
from memorepair.repair.events import EventKind, RepairEvent
from memorepair.repair.operators.closedform import NaiveBayes, NearestCentroid, Ridge
from memorepair.repair.operators.learner import Learner
from memorepair.repair.operators.operator import Call, Input, Operator
from memorepair.repair.operators.recompute import FunctionOperator
from memorepair.repair.operators.registry import Operators
from memorepair.repair.operators.sentences import words
from memorepair.repair.operators.shards import ShardedSoftmax
from memorepair.repair.plan import REPAIR_ALL

LEARNERS: tuple[Learner, ...] = (NaiveBayes(), NearestCentroid(), Ridge(), ShardedSoftmax())
VARIANTS = ("nothing", "parameters_only", "cascade_only", "both")

_LABELS = 4
_TRAINED = 180
_ASKED = 100
_WRONG = 0.2
_DIGESTS = 20
_SCOPE = ("neural",)
_MODEL = Key(_SCOPE, "skill")
_PARAMS = {"width": 128}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Task:
    """Requests with their labels; `wrong` ones have another label in the memory."""

    trained: Mapping[Key, tuple[str, str]]
    wrong: Mapping[Key, str]
    asked: Mapping[Key, tuple[str, str]]
    labels: tuple[str, ...]

    def row(self, key: Key) -> str:
        text, label = self.trained[key]
        return json.dumps({"label": self.wrong.get(key, label), "text": text})


def requests(folder: Path) -> list[tuple[str, str]]:
    """(request, category of the first tool it is meant for) of the recorded queries."""
    found: dict[str, str] = {}
    for file in sorted((folder / "queries").glob("G*.json.xz")):
        with lzma.open(file, "rt", encoding="utf-8") as stream:
            for one in json.load(stream):
                found.setdefault(one["query"], one["api_list"][0]["category_name"])
    return sorted(found.items())


def _task(folder: Path, seed: int) -> _Task:
    draw = random.Random(f"neural {seed}")
    rows = requests(folder)
    labels = tuple(label for label, _ in Counter(label for _, label in rows).most_common(_LABELS))
    kept = [row for row in rows if row[1] in labels]
    draw.shuffle(kept)
    asked = {Key(_SCOPE, f"asked-{n}"): row for n, row in enumerate(kept[:_ASKED])}
    trained = {Key(_SCOPE, f"trained-{n}"): row for n, row in enumerate(kept[_ASKED : _ASKED + _TRAINED])}
    # One source at fault: it calls requests of the first category by the name of the second.
    first = [key for key in sorted(trained) if trained[key][1] == labels[0]]
    wrong = dict.fromkeys(draw.sample(first, min(len(first), round(_WRONG * len(trained)))), labels[1])
    return _Task(trained=trained, wrong=wrong, asked=asked, labels=labels)


def _input(key: Key, content: str) -> Input:
    return Input(key=key, version=1, kind=Kind.RECORD, relation=Relation.DERIVE, content=content)


def _said(learner: Learner, model: str, labels: Sequence[str], text: str) -> str:
    """The label that the skill gives a text: the one under which it would be right."""
    for label in labels:
        if learner.accuracy(model, [_input(_MODEL, json.dumps({"label": label, "text": text}))]) == 1.0:
            return label
    return ""


class _Verdicts:
    """Cached verdicts of the skill on new requests: a function of the skill and the request."""

    def __init__(self, learner: Learner, labels: Sequence[str]) -> None:
        self._learner, self._labels = learner, labels

    def __call__(self, call: Call) -> str:
        model = next(source.content for source in call.inputs if source.key == _MODEL)
        text = next(source.content for source in call.inputs if source.key != _MODEL)
        return _said(self._learner, model, self._labels, text)


def _drafts(task: _Task, learner: Learner, verdict: FunctionOperator, seed: int) -> list[Draft]:
    draw = random.Random(f"digests {seed}")
    rows = {key: task.row(key) for key in task.trained}
    drafts = [Draft(key=key, content=row) for key, row in rows.items()]
    drafts += [Draft(key=key, content=text) for key, (text, _) in task.asked.items()]
    recipe = Recipe(operator=learner.name, params=_PARAMS)
    model = learner.train([_input(key, row) for key, row in rows.items()], _PARAMS)
    reads = tuple(Read(key=key) for key in rows)
    drafts.append(
        Draft(key=_MODEL, content=model, kind=Kind.SKILL, arch=Arch.NEURAL, recipe=recipe, reads=reads)
    )
    for number, (key, (text, _)) in enumerate(task.asked.items()):
        sources = (_input(_MODEL, model), _input(key, text))
        said = verdict.make(Call(key=key, inputs=sources, params={}, interfaces={}, own=None)).content
        drafts.append(
            Draft(
                key=Key(_SCOPE, f"verdict-{number}"),
                content=said,
                kind=Kind.CACHE,
                recipe=Recipe(operator=verdict.name),
                reads=(Read(key=_MODEL), Read(key=key)),
            )
        )
    wrong, right = sorted(task.wrong), sorted(task.trained.keys() - task.wrong.keys())
    for number in range(_DIGESTS):
        of = [draw.choice(wrong), *draw.sample(right, 2)]
        text = " ".join(task.trained[key][0] for key in of)
        drafts.append(
            Draft(
                key=Key(_SCOPE, f"digest-{number}"),
                content=text,
                kind=Kind.SUMMARY,
                recipe=Recipe(operator="summarise"),
                reads=tuple(Read(key=key) for key in of),
            )
        )
    return drafts


def measure(data: Path, workshop: Path, *, learners: int, seeds: Sequence[int]) -> dict[str, object]:
    """Means over learners and seeds, by variant.

    `stale_share`: of what was derived from the deleted requests, in service unvalidated. `forget_score`: of
    the deleted requests, how many the parameters that exist treat as a skill does that never saw them.
    `task_change`: accuracy of what the memory answers to new requests, less that of a memory that never held
    a wrong label; where no skill is in service the answer is that of the most similar served request.
    """
    found: dict[str, list[tuple[float, float, float]]] = {variant: [] for variant in VARIANTS}
    for seed in seeds:
        task = _task(data / "traces-toolbench", seed)
        for learner in LEARNERS[:learners]:
            for variant in VARIANTS:
                file = workshop / f"{learner.name}-{variant}-{seed}.db"
                found[variant].append(_variant(task, learner, variant, file, seed))
    return {
        variant: {
            name: round(float(np.mean([row[place] for row in rows])), 4)
            for place, name in enumerate(("stale_share", "forget_score", "task_change"))
        }
        for variant, rows in found.items()
    }


def _variant(
    task: _Task, learner: Learner, variant: str, file: Path, seed: int
) -> tuple[float, float, float]:
    verdict = FunctionOperator(name="bench.verdict", function=_Verdicts(learner, task.labels))
    drafts = _drafts(task, learner, verdict, seed)
    kept = [_input(key, task.row(key)) for key in sorted(task.trained.keys() - task.wrong.keys())]
    derived = [draft.key for draft in drafts if draft.reads]
    before = next(draft.content for draft in drafts if draft.key == _MODEL)
    clean = learner.train(kept, _PARAMS)
    served = {draft.key: draft.content for draft in drafts}
    validated: set[Key] = set()
    if variant == "nothing":
        served = {key: text for key, text in served.items() if key not in task.wrong}
    elif variant == "parameters_only":
        served = {key: text for key, text in served.items() if key not in task.wrong}
        sources = tuple(kept)
        call = Call(key=_MODEL, inputs=sources, params=_PARAMS, interfaces={}, own=before)
        served[_MODEL] = learner.make(call).content
        validated.add(_MODEL)
    else:
        operators: list[Operator] = [verdict] if variant == "cascade_only" else [verdict, learner]
        served, validated = _repaired(file, drafts, tuple(task.wrong), operators)
    stale = [key for key in derived if key in served and key not in validated]
    weights = served.get(_MODEL, before)
    forgets = [
        _said(learner, weights, task.labels, task.trained[key][0])
        == _said(learner, clean, task.labels, task.trained[key][0])
        for key in sorted(task.wrong)
    ]
    ideal = [_said(learner, clean, task.labels, text) == label for text, label in task.asked.values()]
    right = [
        _answer(task, learner, served, number, text) == label
        for number, (text, label) in enumerate(task.asked.values())
    ]
    share = ratio(len(stale), len(derived)) or 0.0
    return share, float(np.mean(forgets)), float(np.mean(right) - np.mean(ideal))


def _answer(task: _Task, learner: Learner, served: Mapping[Key, str], number: int, text: str) -> str:
    cached = served.get(Key(_SCOPE, f"verdict-{number}"))
    if cached is not None:
        return cached
    if _MODEL in served:
        return _said(learner, served[_MODEL], task.labels, text)
    said = set(words(text))
    near = max(
        (key for key in sorted(task.trained) if key in served),
        key=lambda key: len(said & (there := set(words(task.trained[key][0])))) / len(said | there),
    )
    row = json.loads(served[near])
    return str(row["label"])


def _repaired(
    file: Path,
    drafts: Sequence[Draft],
    roots: tuple[Key, ...],
    operators: Sequence[Operator],
) -> tuple[dict[Key, str], set[Key]]:
    event = RepairEvent(kind=EventKind.DELETE, roots=roots, reason="wrong label", actor="bench")
    table = _Without(operators)
    with Memory.open(file, embedder=None) as memory:
        memory.ingest(drafts)
        case = engine.withdraw(memory.store, event)
        report = engine.repair(memory.store, case.id, operators=table, solver=REPAIR_ALL, cutoff=False)
        served = {
            key: there.content for key, there in memory.store.served([one.key for one in drafts]).items()
        }
    return served, {*report.republished, *report.unchanged, *report.released}


class _Without:
    """The built-in operators without any learner but those given."""

    def __init__(self, given: Sequence[Operator]) -> None:
        self._all = Operators.default()
        self._given = {one.name: one for one in given}

    def get(self, reference: str, /) -> Operator | None:
        """As the registry, but that learners must be given."""
        name = reference.partition("@")[0]
        if name in self._given:
            return self._given[name]
        found = self._all.get(reference)
        return None if isinstance(found, Learner) else found
