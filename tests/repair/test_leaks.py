"""What was withdrawn comes back by no side door: description, params, words of errors."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from memorepair.errors import StepFailed, Withdrawn
from memorepair.graphs.terms import Arch, Kind
from memorepair.memory.artifact import Draft, Json, Key, Read, Recipe, Slot, TaskCase, Type
from memorepair.memory.sqlite import SqliteStore
from memorepair.repair import engine
from memorepair.repair.events import Correction, Deletion, EventKind, Interface, Migration, RepairEvent
from memorepair.repair.jsontext import canonical
from memorepair.repair.operators.operator import Call, Operator
from memorepair.repair.operators.recompute import operator
from memorepair.repair.operators.regen import Generated, RegenOperator, Request
from memorepair.repair.operators.registry import Operators
from memorepair.repair.report import Fate, RepairReport


def key(name: str) -> Key:
    return Key(("t",), name)


@contextmanager
def memory() -> Iterator[SqliteStore]:
    with TemporaryDirectory() as folder, SqliteStore.open(Path(folder) / "memory.db") as opened:
        yield opened


def deletion(*names: str) -> RepairEvent:
    return RepairEvent(kind=EventKind.DELETE, roots=tuple(map(key, names)), delta=Deletion())


def correction(**texts: str) -> RepairEvent:
    delta = Correction(replacements={key(name): text for name, text in texts.items()})
    return RepairEvent(kind=EventKind.CORRECT, roots=tuple(map(key, texts)), delta=delta)


def migration(name: str, content: str, rows: str | None = None) -> RepairEvent:
    delta = Migration(interfaces={key(name): Interface(key=key(name), content=content)}, rows=rows)
    return RepairEvent(kind=EventKind.MIGRATE, roots=(key(name),), delta=delta)


def repaired(store: SqliteStore, event: RepairEvent, operators: Operators) -> RepairReport:
    case = engine.withdraw(store, event, operators=operators)
    return engine.repair(store, case.id, operators=operators, solver="repair-all")


def fates(report: RepairReport) -> dict[str, Fate]:
    return {member.key.id: member.fate for member in report.members}


def summary(name: str, *reads: str, **more: object) -> Draft:
    draft = Draft(key=key(name), content="s", kind=Kind.SUMMARY, reads=tuple(Read(key=key(r)) for r in reads))
    for field_, value in more.items():
        object.__setattr__(draft, field_, value)
    return draft


@operator(name="parity")
def parity(call: Call) -> str:
    return "even" if sum(len(source.content) for source in call.inputs) % 2 == 0 else "odd"


@operator(name="join")
def join(call: Call) -> str:
    return " & ".join(source.content for source in call.inputs)


def table(*more: Operator) -> Operators:
    operators = Operators.default()
    for one in (parity, join, *more):
        operators.register(one)
    return operators


# description -----------------------------------------------------------------------------------------


def test_a_successor_inherits_no_statement_of_what_was_withdrawn() -> None:
    metadata: dict[str, Json] = {
        "basis": "Anna is ill",
        "who": ["x", {"name": "anna smith"}],
        "Anna": True,
        "lang": "en",
        "of": "Bob",
        "said": "Carol saw it",
    }
    with memory() as store:
        store.write(
            [
                Draft(key=key("a"), content="Anna Smith is ill. Anna is ill. We know Anna."),
                Draft(key=key("o"), content="We like Bob."),
                Draft(
                    key=key("s"),
                    content="They say Carol saw it.",
                    kind=Kind.SUMMARY,
                    metadata=metadata,
                    type=Type.FACT,
                    confidence=0.99,
                    slot=Slot(entity="Bob", attribute="health", value="ill", polarity=False, valid_to=9.0),
                    reads=(Read(key=key("a")), Read(key=key("o"))),
                ),
            ]
        )
        assert fates(repaired(store, deletion("a"), table())) == {"s": Fate.REPUBLISHED}
        made = store.get(key("s"))
        assert made.metadata == {"lang": "en", "of": "Bob"}
        assert made.confidence is None
        assert made.slot == Slot(entity="Bob", attribute="health")
        assert made.type is Type.FACT


@pytest.mark.parametrize(
    ("slot", "kept"),
    [
        (Slot(entity="Anna", attribute="x"), None),
        (Slot(entity="x", attribute="illness of Anna"), None),
        (Slot(entity="x", attribute="y", scene="with Anna"), Slot(entity="x", attribute="y")),
        (Slot(entity="x", attribute="y", scene="at home"), Slot(entity="x", attribute="y", scene="at home")),
    ],
)
def test_a_place_that_tells_of_what_was_withdrawn_is_left(slot: Slot, kept: Slot | None) -> None:
    with memory() as store:
        store.write(
            [
                Draft(key=key("a"), content="Anna is ill."),
                Draft(key=key("o"), content="It rains."),
                summary("s", "a", "o", slot=slot),
            ]
        )
        repaired(store, deletion("a"), table())
        assert store.get(key("s")).slot == kept


def test_a_replacement_inherits_no_statement_of_the_text_it_replaces() -> None:
    with memory() as store:
        store.write(
            [
                Draft(
                    key=key("a"),
                    content="She lives in Paris with Mei.",
                    metadata={"city": "Paris", "with": "Mei", "unit": "m"},
                    confidence=0.9,
                    slot=Slot(entity="Mei", attribute="city", value="Paris"),
                )
            ]
        )
        engine.withdraw(store, correction(a="She lives in Lyon with Mei."))
        there = store.get(key("a"))
        assert there.metadata == {"with": "Mei", "unit": "m"}
        assert there.confidence is None
        assert there.slot == Slot(entity="Mei", attribute="city")


@pytest.mark.parametrize("text", ["green", "green tea", "GREEN tea.", "绿茶", "42"])
def test_a_text_of_a_word_or_two_is_not_inherited_as_a_whole(text: str) -> None:
    """Too short for marks, and no less what was wrong."""
    metadata: dict[str, Json] = {"drinks": text.casefold(), "all": [{"drinks": text}], "unit": "cup"}
    with memory() as store:
        store.write([Draft(key=key("a"), content=text, metadata=metadata)])
        store.write(
            [
                Draft(
                    key=key("b"),
                    content="odd",
                    kind=Kind.CACHE,
                    recipe=Recipe(operator="parity"),
                    metadata=metadata,
                    reads=(Read(key=key("a")),),
                )
            ]
        )
        repaired(store, correction(a="black coffee, please"), table())
        assert store.get(key("a")).metadata == {"unit": "cup"}
        assert store.get(key("b")).metadata == {"unit": "cup"}


COPIES: dict[str, Json] = {
    "plain": "he drinks café au lait",
    "other case": "HE Drinks Café au Lait",
    "white space": "  he\tdrinks \n café  au lait ",
    "width": "ｈｅ ｄｒｉｎｋｓ ｃａｆｅ́ ａｕ ｌａｉｔ",
    "decomposed": "he drinks café au lait",
    "punctuation": "he drinks: 'café au lait'!",
    "nested": [{"deep": [{"er": "He drinks café au lait."}]}],
    "he drinks café au lait": True,
    "as a name": {"He drinks café au lait": 1},
    "spread": ["he", "drinks", {"café": "au lait"}],
    "beside": "yesterday he drinks café au lait again",
    "file name": "notes/he-drinks-cafe-au-lait.txt",
    "constant": "HE_DRINKS_CAFÉ_AU_LAIT",
    "run together": "heDrinksCaféAuLait",
    "address": "https://example.org/?q=he%20drinks%20caf%C3%A9%20au%20lait",
    "markup": "he&nbsp;drinks caf&eacute; au lait",
    "hyphenated": "he drinks ca\u00adfé au\u200b lait",
}


@pytest.mark.parametrize("text", ["he drinks café au lait", "café au", "Ｃａｆé", "饮茶", "👍", "+1", "4 2"])
@pytest.mark.parametrize("event", ["correct", "delete"])
def test_no_copy_of_a_withdrawn_text_is_inherited_in_whatever_form(text: str, event: str) -> None:
    """Long or short, of any letters or of none: neither by a replacement nor by what is made again."""
    forms = dict(COPIES) if text.startswith("he ") else {}
    metadata: dict[str, Json] = {
        **forms,
        "same": text,
        "upper": text.upper(),
        text: 1,
        "in": [{"x": f" {text}\n"}],
        "unit": "m",
    }
    with memory() as store:
        store.write([Draft(key=key("a"), content=text, metadata=metadata), Draft(key=key("o"), content="m")])
        reads = (Read(key=key("a")), Read(key=key("o")))
        places = [
            Slot(entity=text, attribute="x"),
            Slot(entity="x", attribute=text.upper()),
            Slot(entity="x", attribute="y", value=text, scene=f"{text}."),
        ]
        store.write(
            [
                Draft(
                    key=key(f"s{n}"),
                    content="even",
                    kind=Kind.SUMMARY,
                    metadata=metadata,
                    slot=slot,
                    reads=reads,
                )
                for n, slot in enumerate(places)
            ]
        )
        declared = correction(a="tea, and nothing else") if event == "correct" else deletion("a")
        report = repaired(store, declared, table())
        if event == "correct":
            assert store.get(key("a")).metadata == {"unit": "m"}
        assert fates(report) == {f"s{n}": Fate.REPUBLISHED for n in range(3)}
        for n in range(3):
            made = store.get(key(f"s{n}"))
            assert made.metadata == {"unit": "m"}
            assert made.slot == (Slot(entity="x", attribute="y") if n == 2 else None)
        for member in report.members:
            assert "without metadata" in member.why
            assert "1 of its metadata" in member.why or len(forms) > 0
            assert text not in member.why


def test_what_the_replacement_says_still_is_inherited() -> None:
    with memory() as store:
        metadata: dict[str, Json] = {"note": "he drinks green tea", "short": "green-tea"}
        store.write([Draft(key=key("a"), content="green tea", metadata=metadata)])
        engine.withdraw(store, correction(a="green tea, without sugar"))
        assert store.get(key("a")).metadata == metadata


def test_params_that_are_a_short_withdrawn_text_fail_the_step() -> None:
    with memory() as store:
        store.write([Draft(key=key("a"), content="green tea"), Draft(key=key("c"), content="water")])
        recipe = Recipe(operator="parity", params={"of": [{"drinks": "Green tea"}]})
        reads = (Read(key=key("a")), Read(key=key("c")))
        draft = Draft(key=key("b"), content="odd", kind=Kind.CACHE, recipe=recipe, reads=reads)
        store.write([draft])
        report = repaired(store, correction(a="black coffee"), table())
        assert fates(report) == {"b": Fate.FAILED}
        assert "params" in report.members[0].why
        with pytest.raises(Withdrawn):
            store.get(key("b"))


def test_an_interface_inherits_no_statement_of_the_one_it_supersedes() -> None:
    with memory() as store:
        store.write(
            [
                Draft(
                    key=key("i"), content='{"tool":"get_user"}', metadata={"tool": "get_user", "owner": "ops"}
                )
            ]
        )
        engine.withdraw(store, migration("i", '{"tool":"fetch"}'))
        assert store.get(key("i")).metadata == {"owner": "ops"}


def test_what_comes_out_the_same_is_not_served_again_with_a_description_that_tells() -> None:
    """Early cutoff compares contents; a description that gives the root away takes a new version."""
    with memory() as store:
        store.write(
            [
                Draft(key=key("n"), content="Lives in Paris."),
                *(
                    Draft(
                        key=key(name),
                        content="odd" if name == "p" else "odd & odd",
                        kind=Kind.CACHE,
                        recipe=Recipe(operator="parity" if name == "p" else "join"),
                        metadata={"of": text},
                        reads=tuple(Read(key=key(parent)) for parent in parents),
                    )
                    for name, text, parents in (("p", "Paris", "n"), ("q", "Paris", "p"), ("r", "x", "p"))
                ),
            ]
        )
        report = repaired(store, correction(n="Lives in Lyonn."), table())
        assert fates(report) == {"p": Fate.REPUBLISHED, "q": Fate.REPUBLISHED, "r": Fate.RELEASED}
        assert store.get(key("p")).metadata == store.get(key("q")).metadata == {}
        assert store.get(key("r")).metadata == {"of": "x"}


@dataclass
class Stubborn:
    """Says what it was told to, whatever its sources say."""

    says: str

    def generate(self, request: Request) -> Generated:
        return Generated(text=self.says, cites=tuple(source.key for source in request.sources))


def test_what_is_put_right_elsewhere_excuses_no_withdrawn_word() -> None:
    """Two were mixed up, and are exchanged in one event: what is right of one stays wrong of the other."""
    one, other = (
        "The account is 4711-0815-22 at Bank of Lyon.",
        "The account is 9822-3311-77 at Bank of Oslo.",
    )
    stubborn = Operators([RegenOperator(name="summarise", generator=Stubborn(one))])
    recipe = Recipe(operator="summarise")
    with memory() as store:
        store.write([Draft(key=key("a"), content=one), Draft(key=key("b"), content=other)])
        store.write([summary("of a", "a", recipe=recipe), summary("of b", "b", recipe=recipe)])
        report = repaired(store, correction(a=other, b=one), stubborn)
        fates = {member.key.id: (member.fate, member.why) for member in report.members}
        assert fates["of a"] == (Fate.FAILED, "canary: it repeats withdrawn content of t::a")
        assert fates["of b"][0] is Fate.REPUBLISHED


# params ----------------------------------------------------------------------------------------------


@dataclass
class Spy:
    """Remembers all that it is asked."""

    asked: list[Request] = field(default_factory=list)

    def generate(self, request: Request) -> Generated:
        self.asked.append(request)
        return Generated(text="text", cites=tuple(source.key for source in request.sources))


def test_no_operator_runs_on_a_withdrawn_value_in_its_params() -> None:
    called: list[str] = []

    @operator(name="weather")
    def weather(call: Call) -> str:
        called.append(call.key.id)
        return f"Sunny in {call.params['city']}"

    with memory() as store:
        store.write([Draft(key=key("home"), content="She lives in Paris")])
        store.write(
            [
                Draft(
                    key=key(f"in {city}"),
                    content=f"Sunny in {city}",
                    kind=Kind.CACHE,
                    recipe=Recipe(operator="weather", params={"city": city}),
                    reads=(Read(key=key("home")),),
                )
                for city in ("Paris", "Lyon")
            ]
        )
        report = repaired(store, correction(home="She lives in Lyon"), table(weather))
        assert set(called) == {"in Lyon"}
        why = {member.key.id: (member.fate, member.why) for member in report.members}
        assert why["in Paris"] == (Fate.FAILED, "params rest on what was withdrawn (t::home)")
        assert why["in Lyon"][0] is Fate.UNCHANGED
        assert report.verdicts["params", "fail"] == 1
        with pytest.raises(Withdrawn):
            store.get(key("in Paris"))


@pytest.mark.parametrize(
    "params",
    [
        {"instruction": "Explain that Anna Smith owes 500 euros."},
        {"template": "You serve Anna of Paris, code X9Y8Z7. {sources}"},
        {"template": "On Bob: {sources}"},
        {"notes": [{"deep": "X9Y8Z7"}]},
    ],
)
def test_no_generator_is_told_in_its_params_what_was_withdrawn(params: Mapping[str, Json]) -> None:
    spy = Spy()
    writer = Operators([RegenOperator(name="summarise", generator=spy)])
    with memory() as store:
        store.write(
            [
                Draft(key=key("debt"), content="Anna Smith owes 500 euros. She lives in Paris, code X9Y8Z7."),
                Draft(key=key("o"), content="It rains."),
                summary("s", "debt", "o", recipe=Recipe(operator="summarise", params=params)),
                Draft(
                    key=key("bob"), content="We saw Bob.", kind=Kind.SUMMARY, reads=(Read(key=key("debt")),)
                ),
                summary("u", "bob", "o", recipe=Recipe(operator="summarise", params=params)),
            ]
        )
        report = repaired(store, deletion("debt"), writer)
        told = "Bob" not in str(params)
        assert fates(report)["s"] is (Fate.FAILED if told else Fate.REPUBLISHED)
        assert fates(report)["u"] is Fate.FAILED
        assert len(spy.asked) == (not told)
        assert not any(word in json.dumps(report.to_json()) for word in ("Anna", "Paris", "X9Y8Z7", "euros"))


def test_params_may_name_what_another_case_keeps_out_no_more_than_what_this_one_does() -> None:
    spy = Spy()
    writer = Operators([RegenOperator(name="summarise", generator=spy)])
    with memory() as store:
        recipe = Recipe(operator="summarise", params={"instruction": "Write to Anna Smith."})
        store.write(
            [
                Draft(key=key("a"), content="We met Anna Smith."),
                Draft(key=key("b"), content="It rains."),
                Draft(key=key("c"), content="It snows."),
                summary("s", "a", "b", "c", recipe=recipe),
            ]
        )
        engine.withdraw(store, deletion("a"))
        report = repaired(store, correction(b="It hails."), writer)
        assert (report.members[0].fate, report.members[0].why) == (
            Fate.FAILED,
            "params rest on what was withdrawn (t::a)",
        )
        assert spy.asked == []


# words of errors -------------------------------------------------------------------------------------

SECRET = "SECRET-4711"  # noqa: S105 - no password


@operator(name="as-number", reads_own_version=True)
def as_number(call: Call) -> str:
    return str(int(call.own or ""))


@operator(name="quoting", reads_own_version=True)
def quoting(call: Call) -> str:
    raise StepFailed(f"no row: {call.own}")


@pytest.mark.parametrize(("rows", "why"), [(as_number, "ValueError"), (quoting, "StepFailed")])
def test_an_operator_that_reads_the_old_version_fails_without_words(rows: Operator, why: str) -> None:
    with memory() as store:
        store.write(
            [
                Draft(key=key("i"), content="{}"),
                Draft(key=key("row"), content=SECRET, reads=(Read(key=key("i")),)),
            ]
        )
        report = repaired(store, migration("i", "[]", f"{rows.name}@1"), table(rows))
        assert [(one.fate, one.why) for one in report.members] == [(Fate.FAILED, why)]
        assert SECRET not in json.dumps(report.to_json())


STEP: dict[str, Json] = {"name": "s", "tool": "get", "arguments": {"id": "x"}, "outputs": ["o"]}


@pytest.mark.parametrize(
    "chain",
    [
        {"steps": [STEP], "result": f"{{{SECRET}}}"},
        {"steps": [{**STEP, "tool": SECRET}]},
        {"steps": [{**STEP, "name": SECRET, "arguments": {SECRET: 1}}]},
        {"steps": [{**STEP, "arguments": {"id": f"{{{SECRET}}}"}}]},
        {"steps": [{**STEP, "outputs": [SECRET]}]},
        {"steps": [{**STEP, "name": SECRET}, {**STEP, "name": SECRET}]},
        {"steps": [], SECRET: 1},
        {"steps": [], "inputs": [f"{SECRET}."]},
    ],
)
def test_a_chain_is_refused_by_position_not_in_its_words(chain: dict[str, Json]) -> None:
    tools: Json = {"get": {"arguments": {"id": {"required": True}}, "outputs": {"o": {}}}}
    with memory() as store:
        store.write(
            [
                Draft(key=key("i"), content=canonical({"tools": {}})),
                Draft(
                    key=key("chain"),
                    content=canonical(chain),
                    kind=Kind.SKILL,
                    arch=Arch.CHAIN,
                    reads=(Read(key=key("i")),),
                ),
            ]
        )
        report = repaired(store, migration("i", canonical({"tools": tools})), table())
        assert fates(report) == {"chain": Fate.FAILED}
        assert SECRET not in json.dumps(report.to_json())


# what stays of a recipe
# --------------------------------------------------------------------------------------------------------


@operator(name="kept")
def says_what_is_kept(call: Call) -> str:
    return " ".join(source.content for source in call.inputs if "zebrafish" not in source.content)


@operator(name="same")
def says_the_same(call: Call) -> str:
    return "the same"


@pytest.mark.parametrize("former", [False, True])
@pytest.mark.parametrize("name", ["kept", "same"])
def test_no_file_has_an_erased_word_in_the_recipe_of_a_successor(name: str, former: bool) -> None:
    cases = (
        TaskCase(name="no fish", excludes=("zebrafish",)),
        TaskCase(name="it says something", contains=("e",), excludes=("spotted owl",)),
    )
    operators = Operators([says_what_is_kept, says_the_same])
    with memory() as store:
        store.write([Draft(key=key("secret"), content="the word is zebrafish")])
        if former:
            store.write([Draft(key=key("secret"), content="the word is another one")])
        text = "the same" if name == "same" else "what it said"
        store.write(
            [
                Draft(key=key("open"), content="we met here"),
                Draft(
                    key=key("made"),
                    content=text,
                    kind=Kind.CACHE,
                    reads=(Read(key=key("count")), Read(key=key("open"))),
                    recipe=Recipe(operator=name, cases=cases),
                ),
                Draft(
                    key=key("count"),
                    content="the same",
                    kind=Kind.SUMMARY,
                    reads=(Read(key=key("secret")), Read(key=key("open"))),
                    recipe=Recipe(operator="same", cases=cases),
                ),
            ]
        )
        case = engine.withdraw(store, deletion("secret"), operators=operators, erase=True)
        report = engine.repair(store, case.id, operators=operators, solver="repair-all")
        assert (
            fates(report)["made"] is Fate.REPUBLISHED
        )  # not released as it was, though nothing above changed
        assert store.recipes([key("made")])[key("made")].cases == cases[1:]
        assert store.receipt(case.id) is not None
        for file in store.path.parent.iterdir():
            assert b"zebrafish" not in file.read_bytes()
        assert store.check() == []
