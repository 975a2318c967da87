"""The block index: what is new is compared with whom the whole check-up would compare it, and no more."""

from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from memorepair.errors import InvalidFile
from memorepair.health import BlockIndex, CheckUp, Rows, check_up
from memorepair.health.blockindex import PARTNERS, key_of_store
from memorepair.memory.artifact import Draft, Key, Slot
from memorepair.memory.sqlite import SqliteStore

SCOPE = ("user", "1")
MEANING = ("duplicates", "conflicts", "scopes")
Febrl = Callable[..., list[tuple[str, dict[str, str]]]]


def write(store: SqliteStore, first: int, *texts: str, scope: tuple[str, ...] = SCOPE) -> None:
    store.write([Draft(key=Key(scope, f"t{first + n}"), content=text) for n, text in enumerate(texts)])


def named(checked: CheckUp) -> set[tuple[str, tuple[str, ...]]]:
    return {(finding.code, tuple(key.id for key in finding.keys)) for finding in checked.findings}


def indexed(store: SqliteStore, path: Path) -> BlockIndex:
    BlockIndex.build(store, check_up(store, detectors=["duplicates"]).thresholds).save(path)
    return BlockIndex.load(path)


def test_what_is_new_is_found_as_by_a_whole_check_up(store: SqliteStore, tmp_path: Path) -> None:
    write(
        store,
        0,
        "User lives in Paris",
        "The colleague from marketing prefers short meetings",
        "User loves cilantro",
        "The night watch trusts the new lock",
        "Tom paid Ann for the tickets",
        "用户喜欢在早上喝咖啡",
    )
    index = indexed(store, tmp_path / "blocks")
    assert check_up(store, detectors=MEANING, since=index).findings == ()
    write(
        store,
        6,
        "user lives in PARIS",
        "The colleague from marketng prefers short meetings",
        "User hates cilantro",
        "The night watch does not trust the new lock",
        "Ann paid Tom for the tickets",
        "用户喜欢在早上喝咖啡。",
        "User lives in Lyon",
    )
    checked = check_up(store, detectors=MEANING, since=index)
    assert named(checked) == named(check_up(store, detectors=MEANING))
    assert ("duplicate_near", ("t1", "t7")) in named(checked)
    assert ("conflict", ("t2", "t8")) in named(checked)
    assert checked.artifacts == 7


def test_new_persons_are_found_in_a_large_store(store: SqliteStore, tmp_path: Path, febrl: Febrl) -> None:
    rows = febrl("dataset1")
    old = [row for row in rows if row[0].endswith("-org")]
    new = [row for row in rows if "-dup-" in row[0]]

    def put(part: list[tuple[str, dict[str, str]]]) -> None:
        texts = {id: ", ".join(filter(None, fields.values())) for id, fields in part}
        store.write([Draft(key=Key(SCOPE, id), content=text) for id, text in texts.items()])

    put(old)
    index = indexed(store, tmp_path / "blocks")
    put(new[:60])
    found = named(check_up(store, detectors=["duplicates"], since=index))
    right = {tuple(sorted(ids)) for _, ids in found if ids[0].split("-")[1] == ids[1].split("-")[1]}
    assert len(right) >= 59
    assert len(found) == len(right)


def test_partners_are_few_whatever_the_store_holds(store: SqliteStore, tmp_path: Path) -> None:
    write(store, 0, *(f"The nightly job finished with {n} warnings on the build server" for n in range(400)))
    index = indexed(store, tmp_path / "blocks")
    write(store, 400, "The nightly job finished with 7000 warnings on the build server", "Something else")
    pairs = index.partners(Rows.of(store.survey(newer_than=index.newest)), key_of_store(store))
    assert 0 < len(pairs) <= PARTNERS
    assert check_up(store, detectors=MEANING, since=index).findings == ()


def test_slots_are_compared_across_the_index(store: SqliteStore, tmp_path: Path) -> None:
    def put(id: str, text: str, value: str) -> None:
        slot = Slot(entity="user", attribute="home", value=value)
        store.write([Draft(key=Key(SCOPE, id), content=text, slot=slot)])

    put("a", "The Seine flows past the window", "Paris")
    index = indexed(store, tmp_path / "blocks")
    put("b", "Croix-Rousse suits them fine", "Lyon")
    put("c", "City of light", "paris")
    found = named(check_up(store, detectors=MEANING, since=index))
    assert found == {
        ("conflict", ("a", "b")),
        ("conflict", ("b", "c")),
        ("duplicate_slot", ("a", "c")),
    }


def test_what_has_left_service_since_is_no_partner(store: SqliteStore, tmp_path: Path) -> None:
    write(store, 0, "Lives in Paris near the river", "Plays the cello")
    index = indexed(store, tmp_path / "blocks")
    store.open_case(event="delete", roots=[Key(SCOPE, "t0")], actor="user:1", reason="gone")
    write(store, 2, "lives in Paris, near the river!")
    assert check_up(store, detectors=MEANING, since=index).findings == ()


def test_an_index_is_kept_and_read_back(store: SqliteStore, tmp_path: Path) -> None:
    write(store, 0, *(f"fact {n} about ships and {n % 7} harbours" for n in range(50)))
    built = BlockIndex.build(store, check_up(store, detectors=["duplicates"]).thresholds)
    path = tmp_path / "blocks"
    built.save(path)
    read = BlockIndex.load(path)
    assert (read.newest, read.seal, read.thresholds) == (built.newest, built.seal, built.thresholds)
    for name in ("aid", "keys", "owners", "common", "common_count", "exact", "vocabulary", "counts"):
        assert np.array_equal(getattr(read, name), getattr(built, name))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [file.name for file in tmp_path.iterdir() if file.suffix == ".tmp"] == []


def test_an_index_of_an_empty_store(store: SqliteStore, tmp_path: Path) -> None:
    index = indexed(store, tmp_path / "blocks")
    write(store, 0, "User lives in Paris", "User lives in Lyon")
    assert named(check_up(store, detectors=MEANING, since=index)) == {("conflict", ("t0", "t1"))}


def test_no_word_can_be_read_from_it(store: SqliteStore, tmp_path: Path) -> None:
    write(store, 0, "The secret word is xyzzy", "The other word is plugh")
    with SqliteStore.open(tmp_path / "other.db") as other:
        write(other, 0, "The secret word is xyzzy", "The other word is plugh")
        ours, theirs = BlockIndex.build(store), BlockIndex.build(other)
    assert not set(ours.keys.tolist()) & set(theirs.keys.tolist())
    assert not set(ours.exact.tolist()) & set(theirs.exact.tolist())
    assert not set(ours.vocabulary.tolist()) & set(theirs.vocabulary.tolist())
    ours.save(tmp_path / "blocks")
    assert b"xyzzy" not in (tmp_path / "blocks").read_bytes()


def test_the_index_of_another_store_is_refused(store: SqliteStore, tmp_path: Path) -> None:
    with SqliteStore.open(tmp_path / "other.db") as other:
        theirs = BlockIndex.build(other)
    with pytest.raises(InvalidFile):
        check_up(store, since=theirs)


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[:40],
        lambda data: data[:-4_000],
        lambda data: b"SQLite" + data,
        lambda data: data[:33] + b"[" + data[34:],
        lambda data: data[:25] + b"\xff" * 8 + data[33:],
    ],
)
def test_a_damaged_file_is_refused(
    store: SqliteStore, tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    write(store, 0, *(f"fact {n} about ships and {n % 7} harbours" for n in range(200)))
    path = tmp_path / "blocks"
    BlockIndex.build(store).save(path)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(InvalidFile):
        BlockIndex.load(path)
    with pytest.raises(InvalidFile):
        BlockIndex.load(tmp_path / "nowhere")
