"""An erasure leaves no byte of what it removed in any file of the store, and says what it was."""

from __future__ import annotations

import random
import re
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memorepair.errors import InvalidEvent, InvalidInput, Tombstoned, UndoRefused, Withdrawn
from memorepair.graphs.terms import Kind
from memorepair.memory.artifact import (
    CaseStatus,
    Draft,
    Embedding,
    Erasure,
    Key,
    Read,
    Recipe,
    State,
    TaskCase,
)
from memorepair.memory.sqlite import SqliteStore
from memorepair.memory.store import Successor

Put = Callable[..., Key]
A, B, C, D = (Key((), name) for name in "abcd")

# Canaries are written in letters that nothing else in the store is written in: any three of them in a row, in
# any file or in any term of the index, are theirs, whole or cut.
LETTERS = [chr(code) for code in range(0x10D0, 0x10F1)]
LEAD = "\u10d0".encode()[:2]
TRACE = re.compile(rb"(?:\xe1\x83[\x80-\xbf]){3}")


def traces(store: SqliteStore) -> tuple[int, int]:
    """Places in the files, and terms in the segments of the index, that show canary letters.

    A search for bytes finds few of the terms, which are stored as what they add to the one before; a query of
    the vocabulary finds none whose postings are marked as deleted but still there.
    """
    folder, name = store.path.parent, store.path.name
    files = [folder / (name + end) for end in ("", "-wal", "-shm")]
    seen = sum(len(TRACE.findall(file.read_bytes())) for file in files if file.exists())
    other = sqlite3.connect(store.path)
    leaves = other.execute("SELECT block FROM fts_data WHERE id > 10 AND (id >> 31) & 63 = 0").fetchall()
    other.close()
    return seen, sum(LEAD in term for (leaf,) in leaves for term in terms(leaf))


def terms(leaf: bytes) -> Iterator[bytes]:
    """The terms of a leaf of an FTS5 segment: a footer of offsets; lengths kept and new."""
    footer, offset, term = int.from_bytes(leaf[2:4], "big"), 0, b""
    place = footer
    while place < len(leaf):
        step, place = varint(leaf, place)
        first, offset = not offset, offset + step
        kept, here = (0, offset) if first else varint(leaf, offset)
        new, here = varint(leaf, here)
        term = term[:kept] + leaf[here : here + new]
        yield term


def varint(data: bytes, place: int) -> tuple[int, int]:
    """A big-endian base-128 number, and where it ends."""
    value = 0
    while True:
        byte = data[place]
        value, place = value << 7 | byte & 127, place + 1
        if byte < 128:
            return value, place


def canary(chance: random.Random) -> str:
    return " ".join("".join(chance.choices(LETTERS, k=8)) for _ in range(4))


def test_nothing_of_a_thousand_canaries_is_left(path: Path) -> None:
    chance = random.Random(7)
    scopes = [("user", str(n)) for n in range(20)]
    doomed = [Key(chance.choice(scopes), f"{chance.getrandbits(64):x}") for _ in range(500)]
    plain = [Key(chance.choice(scopes), f"{chance.getrandbits(64):x}") for _ in range(3_000)]
    derived = [Key(key.scope, f"{key.id}-d") for key in doomed]

    def secret(key: Key, *reads: Key) -> Draft:
        text = canary(chance)
        return Draft(
            key=key,
            content=text,
            metadata={"note": text},
            embedding=Embedding(vector=(chance.random(),) * 8, model="m", revision="1", normalised=False),
            recipe=Recipe(params={"hint": text}, cases=(TaskCase(name="n", contains=(text,)),)),
            reads=tuple(Read(key=read) for read in reads),
        )

    def word() -> str:
        return "plain " + " ".join(f"{chance.getrandbits(40):x}" for _ in range(chance.randint(4, 40)))

    with SqliteStore.open(path) as store:
        everything = [secret(key) for key in doomed] + [Draft(key=key, content=word()) for key in plain]
        chance.shuffle(everything)
        for start in range(0, len(everything), 250):
            store.write(everything[start : start + 250])
        store.write([secret(key, parent) for key, parent in zip(derived, doomed, strict=True)])
        for _ in range(6):  # later updates move cells and split pages, of what stays and of what goes
            store.write([Draft(key=key, content=word()) for key in chance.sample(plain, 250)])
            store.write([secret(key) for key in chance.sample(doomed, 40)])
        case = store.open_case(event="delete", roots=doomed, actor="x", reason="asked to", erase=True)
        staged = [store.stage(case.id, secret(key)) for key in derived[:40]]
        store.reject(case.id, list(zip(derived[:20], staged[:20], strict=True)), ["quotes it"])
        for key in chance.sample(plain, 250):
            store.get(key)
        store.write([Draft(key=key, content=word()) for key in chance.sample(plain, 250)])
        assert min(traces(store)) > 1_000
        closed = store.close_case(case.id)
        assert (closed.status, closed.erasure) == (CaseStatus.CLOSED, Erasure.PENDING)
        assert traces(store)[1] > 1_000  # rows alone are not enough: this is what the merge is for
        assert store.purge() == [case.id]
        assert traces(store) == (0, 0)
        receipt = store.receipt(case.id)
        assert receipt is not None
        assert receipt.status is Erasure.DONE
        assert {one.key for one in receipt.versions} == {*doomed, *derived}
        assert not any(letter in str(receipt) for letter in LETTERS)
        assert store.check() == []
        assert store.get(plain[0]).content.startswith("plain")
        assert store.search(store.get(plain[0]).content.split()[1], scope=plain[0].scope)


@pytest.fixture
def family(store: SqliteStore, put: Put) -> SqliteStore:
    """a -> b -> c, each with a former version, and d, whose former version was made from a."""
    put("a", "a before")
    put("b", "b before")
    put("c", "c before")
    put("a", "secret a")
    put("b", "secret b", A)
    put("c", "secret c", B)
    put("d", "secret d", A)
    put("d", "clean d")
    return store


def states(store: SqliteStore, key: Key) -> list[State]:
    return [past.state for past in store.history(key)]


def test_everything_of_the_cascade_goes_but_what_was_published(family: SqliteStore) -> None:
    store = family
    case = store.open_case(event="delete", roots=[A], actor="x", reason="r", erase=True)
    assert case.erasure is Erasure.ASKED
    new = store.stage(case.id, Draft(key=B, content="clean b"))
    reads = (Read(key=D, version=2),)
    store.publish(case.id, [Successor(key=B, version=new, reads=reads, verdicts=(("x", "pass"),))])
    store.stage(case.id, Draft(key=C, content="secret c again"))
    receipt_before = store.receipt(case.id)
    assert receipt_before is None
    store.close_case(case.id)
    assert states(store, A) == [State.ERASED, State.ERASED]
    assert states(store, B) == [State.ERASED, State.ERASED, State.ACTIVE]
    assert states(store, C) == [State.ERASED, State.ERASED, State.ERASED]
    assert states(store, D) == [State.ERASED, State.ACTIVE]
    assert store.get(B).content == "clean b"
    for key in (A, B, C, D):
        for no in range(1, len(states(store, key)) + 1):
            if states(store, key)[no - 1] is State.ERASED:
                with pytest.raises(Withdrawn, match="erased"):
                    store.inspect(key, actor="x", reason="r", version=no)
    assert store.check() == []


def test_what_is_erased_is_never_opened_again(family: SqliteStore) -> None:
    store = family
    case = store.open_case(event="delete", roots=[A], actor="x", reason="r")
    receipt = store.erase(case.id, actor="ada", reason="asked to")
    assert (receipt.status, receipt.actor, receipt.reason) == (Erasure.DONE, "ada", "asked to")
    assert store.erase(case.id, actor="bob", reason="again") == receipt
    assert store.case(case.id).status is CaseStatus.CLOSED
    with pytest.raises(UndoRefused) as caught:
        store.undo(case.id, actor="x", reason="r")
    assert caught.value.witness == (A, B, C, D)
    for verb in (
        lambda: store.write([Draft(key=A, content="new")]),
        lambda: store.stage(case.id, Draft(key=C, content="new")),
        lambda: store.open_case(
            event="correct", roots=[A], actor="x", reason="r", replacements=[Draft(key=A, content="new")]
        ),
        lambda: store.open_case(event="delete", roots=[C], actor="x", reason="r"),
    ):
        with pytest.raises((Withdrawn, RuntimeError), match="erased"):
            verb()
    for text in ("secret a", "a before", "secret c", "b before", "secret d"):
        with pytest.raises(Tombstoned):
            store.write([Draft(key=Key((), "x"), content=text)])
    store.write([Draft(key=Key((), "x"), content="clean d, too")])
    assert store.check() == []


def test_the_entry_of_the_receipt_is_sealed_and_verifies(family: SqliteStore) -> None:
    store = family
    digests = {
        (one.key, past.version): past.digest for one in store.listing() for past in store.history(one.key)
    }
    case = store.open_case(event="delete", roots=[A], actor="x", reason="r")
    receipt = store.erase(case.id, actor="x", reason="r")
    assert {(one.key, one.version): one.digest for one in receipt.versions} == {
        place: digest for place, digest in digests.items() if place != (D, 2)
    }
    assert store.journal()[0].seq == receipt.entry
    assert store.check() == []


def test_only_deletions_erase(store: SqliteStore, put: Put) -> None:
    put("a")
    with pytest.raises(InvalidEvent):
        store.open_case(event="correct", roots=[A], actor="x", reason="r", erase=True)
    case = store.open_case(event="correct", roots=[A], actor="x", reason="r")
    with pytest.raises(InvalidInput):
        store.erase(case.id, actor="x", reason="r")
    with pytest.raises(InvalidInput):
        store.erase(case.id, actor=" ", reason="r")


def test_an_undone_deletion_erases_nothing(store: SqliteStore, put: Put) -> None:
    put("a")
    case = store.open_case(event="delete", roots=[A], actor="x", reason="r", erase=True)
    assert store.undo(case.id, actor="x", reason="r").case.erasure is None
    with pytest.raises(InvalidInput):
        store.erase(case.id, actor="x", reason="r")
    assert store.get(A).content == "content of a"


def test_a_reader_with_an_older_snapshot_keeps_the_erasure_pending(family: SqliteStore) -> None:
    store = family
    reader = sqlite3.connect(store.path, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM content").fetchone()
    case = store.open_case(event="delete", roots=[A], actor="x", reason="r", erase=True)
    store.close_case(case.id)
    assert store.purge(wait=0.0) == []
    receipt = store.receipt(case.id)
    assert receipt is not None
    assert receipt.status is Erasure.PENDING
    with pytest.raises(Withdrawn):
        store.get(A)
    reader.close()
    assert store.recover().erased == (case.id,)
    assert b"secret a" not in store.path.read_bytes()
    done = store.receipt(case.id)
    assert done is not None
    assert done.status is Erasure.DONE


def test_what_an_undone_case_had_brought_goes_with_its_artifact(store: SqliteStore, put: Put) -> None:
    put("a", "first")
    put("b", "of first", A)
    undone = store.open_case(
        event="correct", roots=[A], actor="x", reason="r", replacements=[Draft(key=A, content="second")]
    )
    store.undo(undone.id, actor="x", reason="r")
    case = store.open_case(event="delete", roots=[A], actor="x", reason="r")
    store.erase(case.id, actor="x", reason="r")
    assert states(store, A) == [State.ERASED, State.ERASED]
    for text in ("first", "second"):
        with pytest.raises(Tombstoned):
            store.write([Draft(key=Key((), "x"), content=text)])


def test_what_was_derived_from_it_long_before_and_left_service_goes_too(store: SqliteStore, put: Put) -> None:
    put("a", "secret")
    put("b", "of secret", A)
    put("z", "other")
    earlier = store.open_case(event="correct", roots=[Key((), "z")], actor="x", reason="r")
    store.close_case(earlier.id)
    replaced = store.open_case(
        event="correct", roots=[B], actor="x", reason="r", replacements=[Draft(key=B, content="clean")]
    )
    store.close_case(replaced.id)
    case = store.open_case(event="delete", roots=[A], actor="x", reason="r")
    assert {member.key for member in store.members(case.id)} == {A}
    store.erase(case.id, actor="x", reason="r")
    assert states(store, B) == [State.ERASED, State.ACTIVE]
    assert store.get(B).content == "clean"


def test_a_derivation_in_flight_cannot_keep_what_was_erased(store: SqliteStore, put: Put) -> None:
    put("a", "secret")
    late = Draft(key=B, content="of secret", reads=(Read(key=A, version=1),))
    kept = Draft(key=C, content="of secret as well", reads=(Read(key=A, version=1),))
    case = store.open_case(event="delete", roots=[A], actor="x", reason="r")
    assert store.write([kept], quarantine=True).quarantined == (C,)
    store.erase(case.id, actor="x", reason="r")
    assert states(store, C) == [State.ERASED]
    with pytest.raises(Withdrawn, match="erased"):
        store.write([late], quarantine=True)


def test_words_are_not_learned_again_but_a_cache_may_be_computed_again(store: SqliteStore, put: Put) -> None:
    put("a", "secret")
    derived = [("claim", Kind.RECORD), ("pattern", Kind.SUMMARY), ("even", Kind.CACHE)]
    store.write(
        [Draft(key=Key((), text), content=text, kind=kind, reads=(Read(key=A),)) for text, kind in derived]
    )
    store.erase(store.open_case(event="delete", roots=[A], actor="x", reason="r").id, actor="x", reason="r")
    for text, kind in derived:
        again = Draft(key=Key((), f"mined {text}"), content=text)
        if kind is Kind.CACHE:
            store.write([again])
        else:
            with pytest.raises(Tombstoned):
                store.write([again])


def test_a_successor_may_say_what_its_own_erased_version_said_but_nothing_else_that_was_erased(
    store: SqliteStore, put: Put
) -> None:
    put("a", "Secret")
    put("d", "d")
    put("b", "of d, was of both", A, D)
    put("c", "of c, was of a", A)
    case = store.open_case(event="delete", roots=[A], actor="x", reason="r", erase=True)
    new = store.stage(case.id, Draft(key=B, content="of d"))
    store.publish(case.id, [Successor(key=B, version=new, reads=(Read(key=D, version=1),))])
    store.close_case(case.id)
    later = store.open_case(
        event="correct", roots=[D], replacements=[Draft(key=D, content="new d")], actor="x", reason="r"
    )
    for text in ("secret", "of c, was of a"):  # a root's words, another's words
        assert store.tombstoned(B, text)
        with pytest.raises(Tombstoned):
            store.stage(later.id, Draft(key=B, content=text))
    assert not store.tombstoned(B, "Of d,  was of both")
    new = store.stage(later.id, Draft(key=B, content="Of d,  was of both"))
    store.publish(later.id, [Successor(key=B, version=new, reads=(Read(key=D, version=2),))])
    assert store.get(B).content == "Of d,  was of both"
    with pytest.raises(Tombstoned):  # a log brings it back, with no support behind it
        store.write([Draft(key=Key((), "mined"), content="of d, was of both")])
    with pytest.raises(Tombstoned):
        store.write([Draft(key=B, content="of d, was of both")])
    assert store.check() == []
