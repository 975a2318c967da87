"""What a derivation reads is what its writes stand on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from random import Random
from typing import cast

import pytest

from memorepair import Memory
from memorepair.errors import InvalidInput, StaleRead, UnknownId, Withdrawn
from memorepair.graphs.terms import Kind, Relation
from memorepair.memory.artifact import Draft, Key, Recipe
from memorepair.memory.capture import Derivation, innermost, note_reads
from memorepair.memory.sqlite import SqliteStore
from memorepair.recovery.tools import tool
from memorepair.repair.operators.recompute import ToolOperator

Put = Callable[..., Key]


def test_every_read_so_far_is_an_arc_of_a_write(store: SqliteStore, put: Put) -> None:
    a, b = put("a"), put("b")
    recipe = Recipe(operator="f")
    with Derivation(store, kind=Kind.SUMMARY, recipe=recipe, scope=("s",)) as d:
        d.read(a, relation=Relation.CITE, group=2)
        early = d.write("from a")
        d.read(b)
        late = d.write("from a and b", id="late")
        with pytest.raises(LookupError):
            store.get(early)
    assert late == Key(("s",), "late")
    assert [(arc.parent, arc.relation, arc.group) for arc in store.support([early])] == [
        (a, Relation.CITE, 2)
    ]
    assert {arc.parent for arc in store.support([late])} == {a, b}
    assert store.get(early).kind is Kind.SUMMARY
    assert store.recipes([late]) == {late: recipe}
    assert store.journal()[0].act == "derive"


def derive(store: SqliteStore, key: Key, meanwhile: Callable[[], object]) -> None:
    with Derivation(store, kind=Kind.SUMMARY) as d:
        d.read(key)
        d.write("half")
        meanwhile()
        d.write("whole")


def interrupt() -> None:
    raise InterruptedError


def test_nothing_is_written_when_the_body_raises(store: SqliteStore, put: Put) -> None:
    a = put("a")
    with pytest.raises(InterruptedError):
        derive(store, a, interrupt)
    assert len(store.listing()) == 1


def test_what_was_read_must_not_change_meanwhile(store: SqliteStore, put: Put) -> None:
    a = put("a")
    with pytest.raises(StaleRead):
        derive(store, a, lambda: put("a", "changed"))
    with pytest.raises(Withdrawn):
        derive(store, a, lambda: store.open_case(event="delete", roots=[a], actor="x", reason="r"))
    assert [listing.key for listing in store.listing()] == [a]


def test_a_derivation_is_used_once_and_inside_its_block(store: SqliteStore, put: Put) -> None:
    a = put("a")
    d = Derivation(store, kind=Kind.SUMMARY)
    with pytest.raises(InvalidInput):
        d.read(a)
    with d:
        d.write("x", id="x")
        with pytest.raises(InvalidInput, match="twice"):
            d.write("y", id="x")
    with pytest.raises(InvalidInput):
        d.write("late")
    with pytest.raises(InvalidInput), d:
        pass


def test_an_update_of_what_was_not_read_is_an_ordinary_update(store: SqliteStore, put: Put) -> None:
    a, x = put("a"), put("x")
    with Derivation(store, kind=Kind.SUMMARY) as d:
        d.read(a)
        d.write("new x", id="x")
    assert store.get(x).version == 2
    store.write([Draft(key=a, content="later")])
    assert store.get(x).content == "new x"


# nested ---------------------------------------------------------------------------------------------


def parents(store: SqliteStore, key: Key) -> set[Key]:
    return {arc.parent for arc in store.support([key])}


def test_what_was_read_around_flows_in_and_what_was_written_inside_flows_out(
    store: SqliteStore, put: Put
) -> None:
    a, b, c = put("a"), put("b"), put("c")
    with Derivation(store, kind=Kind.SUMMARY) as outer:
        outer.read(a)
        with Derivation(store, kind=Kind.SUMMARY) as inner:
            inner.read(b)
            x = inner.write("x", id="x")
        assert store.get(x).content == "x"  # it commits when its own block ends
        assert outer.written == (x,)
        outer.read(c)
        y = outer.write("y", id="y")
    assert parents(store, x) == {a, b}
    assert parents(store, y) == {a, c, x}


def test_an_isolated_one_takes_nothing_and_still_hands_out(store: SqliteStore, put: Put) -> None:
    a, b = put("a"), put("b")
    with Derivation(store, kind=Kind.SUMMARY) as outer:
        outer.read(a)
        with Derivation(store, kind=Kind.SUMMARY, isolated=True) as inner:
            inner.read(b)
            x = inner.write("x", id="x")
        y = outer.write("y", id="y")
    assert parents(store, x) == {b}
    assert parents(store, y) == {a, x}


@pytest.mark.parametrize("raises", [False, True])
def test_what_wrote_nothing_hands_out_what_it_read(store: SqliteStore, put: Put, raises: bool) -> None:
    a, b = put("a"), put("b")
    with Derivation(store, kind=Kind.SUMMARY) as outer:
        outer.read(a)
        with suppress(InterruptedError), Derivation(store, kind=Kind.SUMMARY) as inner:
            inner.read(b)
            if raises:
                inner.write("never", id="never")
                interrupt()
        y = outer.write("y", id="y")
    assert parents(store, y) == {a, b}
    with pytest.raises(UnknownId):
        store.get(Key((), "never"))


def test_what_is_read_after_the_last_write_flows_out(store: SqliteStore, put: Put) -> None:
    a, b, c, e = put("a"), put("b"), put("c"), put("e")
    with Derivation(store, kind=Kind.SUMMARY) as outer:
        with Derivation(store, kind=Kind.SUMMARY) as inner:
            inner.read(a)
            inner.read(b)
            x = inner.write("x", id="x", uses=[[a], [b]])
            inner.read(c)
            inner.read(e)
            inner.release(e)
        y = outer.write("y", id="y")
    assert parents(store, x) == {a, b}
    assert parents(store, y) == {x, c}


def test_what_an_outer_one_reads_inside_counts_for_both(store: SqliteStore, put: Put) -> None:
    a = put("a")
    with Derivation(store, kind=Kind.SUMMARY) as outer, Derivation(store, kind=Kind.SUMMARY) as inner:
        outer.read(a)
        x = inner.write("x", id="x")
        y = outer.write("y", id="y")
    assert parents(store, x) == parents(store, y) == {a}


@pytest.mark.parametrize("isolated", [False, True])
def test_what_an_inner_one_has_read_is_in_what_the_outer_one_writes_inside(
    store: SqliteStore, put: Put, isolated: bool
) -> None:
    a, b, c = put("a"), put("b"), put("c")
    with Derivation(store, kind=Kind.SUMMARY) as outer:
        outer.read(a)
        with Derivation(store, kind=Kind.SUMMARY, isolated=isolated) as inner:
            inner.read(b)
            inner.read(c)
            inner.release(c)
            y = outer.write("y", id="y")
            z = outer.write("z", id="z", uses=[[b], [a]])
    assert parents(store, y) == parents(store, z) == {a, b}


def test_what_an_inner_one_reads_again_flows_out_though_the_outer_one_has_released_it(
    store: SqliteStore, put: Put
) -> None:
    a, b = put("a"), put("b")
    with Derivation(store, kind=Kind.SUMMARY) as outer:
        outer.read(a)
        outer.read(b)
        with Derivation(store, kind=Kind.SUMMARY) as inner:
            outer.release(a)
            outer.release(b)
            inner.read(a)
        y = outer.write("y", id="y")
    assert parents(store, y) == {a}


def test_a_second_handle_on_the_file_counts(store: SqliteStore, put: Put) -> None:
    a = put("a")
    with SqliteStore.open(store.path) as second, Derivation(store, kind=Kind.SUMMARY) as d:
        note_reads(second, [second.get(a)])
        x = d.write("x", id="x")
    assert parents(store, x) == {a}


def test_a_version_made_from_the_one_before_stands_on_what_that_stood_on(
    store: SqliteStore, put: Put
) -> None:
    a, b = put("a"), put("b")
    s = put("s", None, a)
    with Derivation(store, kind=Kind.SUMMARY) as d:
        d.read(s)
        d.read(b)
        d.write("s, too", id="s")
    assert parents(store, s) == {a, b}


def test_what_an_inner_one_wrote_must_not_change_before_the_outer_commits(
    store: SqliteStore, put: Put
) -> None:
    a = put("a")

    def run() -> None:
        with Derivation(store, kind=Kind.SUMMARY) as outer:
            with Derivation(store, kind=Kind.SUMMARY) as inner:
                inner.read(a)
                inner.write("x", id="x")
            outer.write("y", id="y")
            store.open_case(event="delete", roots=[a], actor="x", reason="r")

    with pytest.raises(Withdrawn):
        run()


def test_a_value_not_used_counts_unless_released(store: SqliteStore, put: Put) -> None:
    a, b = put("a"), put("b")
    with Derivation(store, kind=Kind.SUMMARY) as d:
        d.read(a)
        d.read(b)
        early = d.write("both", id="early")
        d.release(b)
        late = d.write("one", id="late")
        with pytest.raises(InvalidInput) as refused:
            d.release(b)
        assert refused.value.witness == b
        d.read(b)
        again = d.write("both again", id="again")
    assert (parents(store, early), parents(store, late), parents(store, again)) == ({a, b}, {a}, {a, b})
    with pytest.raises(InvalidInput):
        d.release(a)


def test_another_store_has_its_own(store: SqliteStore, put: Put, tmp_path: Path) -> None:
    a = put("a")
    with SqliteStore.open(tmp_path / "other.db") as other, Derivation(store, kind=Kind.SUMMARY) as outer:
        outer.read(a)
        with Derivation(other, kind=Kind.SUMMARY) as inner:
            assert innermost(other) is inner
            assert innermost(store) is outer
            x = inner.write("x", id="x")
        assert parents(other, x) == set()
        y = outer.write("y", id="y")
    assert parents(store, y) == {a}
    assert innermost(store) is None


@pytest.mark.parametrize("seed", range(12))
def test_whatever_could_be_in_a_write_is_above_it(store: SqliteStore, put: Put, seed: int) -> None:
    """Blocks in blocks read, write into any of them and raise; every value knows what it was made from."""
    draw = Random(seed)
    sources = [put(f"r{place}") for place in range(4)]
    made_from: dict[Key, set[Key]] = {}

    def block(value: set[Key], around: list[Derivation]) -> set[Key]:
        value = set(value)
        with Derivation(store, kind=Kind.SUMMARY) as here:
            for _ in range(draw.randint(1, 5)):
                act = draw.random()
                if act < 0.35:
                    value.add(draw.choice([here, *around]).read(draw.choice(sources)).key)
                elif act < 0.6 and len(around) < 3:
                    with suppress(InterruptedError):
                        value |= block(value, [*around, here])
                elif act < 0.9:
                    name = f"w{len(made_from)}"
                    made_from[draw.choice([here, *around]).write(name, id=name)] = set(value)
                elif around:
                    interrupt()
        return value

    for _ in range(6):
        block(set(), [])
    assert made_from
    for key, needed in made_from.items():
        above, waiting = {key}, [key]
        with suppress(UnknownId):  # its block has raised
            store.describe(key)
            while waiting:
                new = parents(store, waiting.pop()) - above
                above |= new
                waiting += new
            assert needed <= above


# threads and tasks ----------------------------------------------------------------------------------


def test_a_thread_belongs_to_the_block_that_bound_it(store: SqliteStore, put: Put) -> None:
    keys = [put(f"k{place}") for place in range(12)]
    stray = put("stray")

    def look(key: Key) -> None:
        note_reads(store, [store.get(key)])

    with ThreadPoolExecutor(3) as pool, Derivation(store, kind=Kind.SUMMARY) as d:
        list(pool.map(d.bound(look), keys))
        pool.submit(look, stray).result()  # not bound: not of this block
        x = d.write("x", id="x")
    assert parents(store, x) == set(keys)


def test_threads_write_side_by_side(store: SqliteStore, put: Put) -> None:
    a = put("a")
    with ThreadPoolExecutor(3) as pool, Derivation(store, kind=Kind.SUMMARY) as d:
        d.read(a)

        def make(name: str) -> Key:
            with Derivation(store, kind=Kind.SUMMARY) as inner:
                return inner.write(name, id=name)

        made = set(pool.map(d.bound(make), [f"m{place}" for place in range(9)]))
        x = d.write("x", id="x")
    assert set(d.written) == made
    assert parents(store, x) == made | {a}
    assert all(a in parents(store, key) for key in made)


def test_tasks_belong_to_the_block_they_were_begun_in(store: SqliteStore, put: Put) -> None:
    a, b, c, e = (put(name) for name in "abce")

    async def look(key: Key) -> None:
        await asyncio.sleep(0)
        note_reads(store, [store.get(key)])

    async def branch(name: str, key: Key) -> Key:
        async with Derivation(store, kind=Kind.SUMMARY) as d:
            await look(key)
            return d.write(name, id=name)

    async def main() -> Key:
        async with Derivation(store, kind=Kind.SUMMARY) as d:
            d.read(a)
            await asyncio.gather(branch("left", b), branch("right", c))
            await asyncio.to_thread(lambda: note_reads(store, [store.get(e)]))
            return d.write("all", id="all")

    whole = asyncio.run(main())
    left, right = Key((), "left"), Key((), "right")
    assert (parents(store, left), parents(store, right)) == ({a, b}, {a, c})
    assert parents(store, whole) == {a, e, left, right}


def test_a_task_that_outlives_its_block_belongs_to_the_one_around(store: SqliteStore, put: Put) -> None:
    a = put("a")

    async def late(go: asyncio.Event) -> None:
        await go.wait()
        note_reads(store, [store.get(a)])

    async def main() -> Key:
        go = asyncio.Event()
        async with Derivation(store, kind=Kind.SUMMARY) as outer:
            async with Derivation(store, kind=Kind.SUMMARY) as inner:
                task = asyncio.create_task(late(go))
                inner.write("x", id="x")
            go.set()
            await task
            return outer.write("y", id="y")

    assert parents(store, asyncio.run(main())) == {a, Key((), "x")}


# one line each --------------------------------------------------------------------------------------


def test_what_a_memory_serves_inside_counts(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "a.db") as memory:
        home = memory.record("Lives in Paris", id="home")
        likes = memory.record("Likes walks", id="likes")
        memory.record("Elsewhere", id="other")
        with memory.deriving(kind="summary") as d:
            memory.get(home)
            memory.search("walks")
            x = d.write("x", id="x")
        assert {one.key for one in memory.explain(x).parents} == {home, likes}
        memory.get("other")  # outside of any
        assert memory.explain("other").children == ()


def test_a_decorated_function_is_stored_with_what_it_read(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "a.db") as memory:
        home = memory.record("Lives in Paris", id="home", scope=("u",))

        @memory.derived(kind="summary", operator="summarise", scope=("u",), id=lambda who: f"profile-{who}")
        def profile(who: str) -> str:
            """What is known."""
            return f"{who}: {memory.get(home).content}"

        @memory.derived(kind="cache")
        async def longer(who: str) -> dict[str, str]:
            return {"profile": profile(who), "who": who}

        assert profile("ann") == "ann: Lives in Paris"
        assert (profile.__name__, profile.__doc__) == ("profile", "What is known.")
        stored = Key(("u",), "profile-ann")
        assert {one.key for one in memory.explain(stored).parents} == {home}
        with memory.deriving(kind="summary") as d:
            assert asyncio.run(longer("bob")) == {"profile": "bob: Lives in Paris", "who": "bob"}
            (outer,) = d.written
            x = d.write("x")
        assert memory.get(outer).content == '{"profile":"bob: Lives in Paris","who":"bob"}'
        assert {one.key.id for one in memory.explain(outer).parents} == {"profile-bob"}
        assert {one.key for one in memory.explain(x).parents} == {outer}
        case = memory.correct(home, "Lives in Lyon", reason="moved", actor="me")
        for key in (stored, outer, x):
            with pytest.raises(Withdrawn):
                memory.get(key)
        memory.repair(case)
        assert memory.get(stored).content == "Lives in Lyon."


def test_what_a_run_reads_and_observes_inside_counts(tmp_path: Path) -> None:
    @tool(effect="pure")
    def ask(city: str) -> str:
        return f"{city}: sunny"

    with Memory.open(tmp_path / "a.db") as memory:
        home = memory.record("Lives in Lyon", id="home")
        memory.record("Likes walks", id="likes")
        with memory.run(task="plan a walk", id="r") as run, memory.deriving(kind="summary") as d:
            seen = run.read(home)
            run.recall("walks")
            plan = run.plan("ask", uses=[seen])
            weather = run.call(ask, plan=plan, city="Lyon")
            key = d.write("A sunny walk in Lyon.", id="walk")
        assert {one.key.id for one in memory.explain(key).parents} == {"home", "likes", weather.key.id}
        memory.recover("r", [home], reason="moved", actor="me")
        with pytest.raises(Withdrawn):
            memory.get(key)


def test_what_gives_a_stream_is_refused_at_once_and_an_object_may_be_a_coroutine(tmp_path: Path) -> None:
    def stream() -> Iterator[str]:
        yield "x"

    async def later() -> AsyncIterator[str]:
        yield "x"

    class Tool:
        async def __call__(self, city: str) -> str:
            return f"{city}: sunny"

    with Memory.open(tmp_path / "a.db") as memory:
        for one in (stream, later, partial(stream)):
            with pytest.raises(InvalidInput, match="stream"):
                memory.derived(kind="summary")(one)
        weather = memory.tool(Tool(), name="weather", id=lambda city: city)
        assert asyncio.run(weather("Lyon")) == "Lyon: sunny"
        assert memory.get("Lyon").content == "Lyon: sunny"


def test_tools_and_generators_take_a_line_each(tmp_path: Path) -> None:
    calls: list[str] = []

    def rate(region: str, year: int = 2024) -> dict[str, float]:
        calls.append(region)
        return {"rate": 0.2 if region == "Paris" else 0.1}

    def book(hotel: str) -> str:
        return f"booked {hotel}"

    def model(prompt: str) -> str:
        return prompt.upper()

    replay = ToolOperator(name="rate", tool=lambda rows, params: {"rate": 0.1, "of": len(rows)})
    with Memory.open(tmp_path / "a.db", operators=[replay]) as memory:
        home = memory.record("Paris", id="home")
        ask_rate, reserve, ask = memory.tool(rate), memory.tool(book, observed=True), memory.generator(model)
        with memory.deriving(kind="summary") as d:
            found = ask_rate(memory.get(home).content)
            assert found == {"rate": 0.2}
            reserve(hotel="Ritz")
            text = ask(f"the rate is {found['rate']}")
            assert text == "THE RATE IS 0.2"
            tool, booking, written = d.written
        assert memory.get(tool).kind is Kind.CACHE
        assert memory.get(booking).kind is Kind.RECORD
        assert memory.store.recipes([tool])[tool] == Recipe(
            operator="rate", params={"region": "Paris", "year": 2024}
        )
        assert memory.store.recipes([booking])[booking].observed
        assert {one.key for one in memory.explain(tool).parents} == {home}
        assert {one.key for one in memory.explain(written).parents} == {home, tool, booking}
        with pytest.raises(InvalidInput):
            ask_rate(cast(str, object()))
        assert calls == ["Paris"]
        before = len(memory.list())
        with pytest.raises(InvalidInput):
            memory.tool(lambda: cast(str, object()), name="odd")()
        assert len(memory.list()) == before


def test_a_tool_names_what_it_looks_at_by_itself(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "a.db") as memory:
        table = memory.record("1,2", id="table")
        total = memory.tool(lambda key: 3, name="total", reads=lambda key: (key,), id=lambda key: f"of-{key}")
        assert total("table") == 3
        assert {one.key for one in memory.explain("of-table").parents} == {table}
    with pytest.raises(InvalidInput):
        memory.tool(cast("Callable[[], str]", "no function"))
