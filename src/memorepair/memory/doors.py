"""Doors: the only places where content leaves to serve.

Each is one SELECT joined with the barrier, so the check and the content share a snapshot.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import lru_cache
from heapq import nlargest
from typing import TypeAlias

from memorepair.errors import InvalidInput, UnknownId, Withdrawn
from memorepair.memory.artifact import Artifact, Hit, Key, Past, Scope, State, check_scope
from memorepair.memory.barrier import HITS, NEAR, PAST, READ, SERVED
from memorepair.memory.codec import ARTIFACT, SPACE, UNREAD, artifact_of, check_limit, scope_name, token
from memorepair.memory.connection import Connection, Row
from memorepair.memory.folding import fold
from memorepair.memory.keys import place
from memorepair.memory.vectorindex import VectorIndex
from memorepair.memory.vectors import Space, Vectors, nearness

QUERY_LIMIT = 4096
"""Characters of a search query."""

TRIGRAM = 3

_K, _B = 1.2, 0.75
"""Of BM25: how soon repetition stops counting, how much length does."""

_USUAL_LENGTH = 200

SCANNED = 2_048
"""Artifacts of a scope whose texts are read one by one: cheaper than the postings of a word of every text."""

SCANNED_CHARACTERS = 4_000_000
"""Characters of such a scope, all in all: in longer texts most words have fewer postings than letters."""

RANKED = 20_000
"""Hits in a scope that are ranked, the newest ones, unless more are asked for."""

_BATCH = 2_048

_FETCHED = 64
"""Versions that an index is asked for at least."""

_Scored: TypeAlias = tuple[float, int, int]
"""Score, vid, aid."""

_GET = f"""SELECT b.state, b.cause, a.aid, {ARTIFACT} FROM {SERVED}
    WHERE a.sid = (SELECT sid FROM scope WHERE name = ?) AND a.id = ?"""  # noqa: S608  literals
_GET_MANY = f"""SELECT j.key, {ARTIFACT} FROM json_each(?) j CROSS JOIN {SERVED}
    WHERE b.vid IS NULL AND a.sid = (SELECT sid FROM scope WHERE name = json_extract(j.value, '$[0]'))
    AND a.id = json_extract(j.value, '$[1]')"""  # noqa: S608  literals
_HISTORY = f"""SELECT v.no, coalesce(b.state, iif(v.vid = a.cur, 0, 3)), b.cause, v.born, v.digest, c.text
    FROM {PAST} WHERE a.aid = ? ORDER BY v.no"""  # noqa: S608  literals
_WEIGHT = """coalesce((SELECT min(m.weight) FROM mark m WHERE m.vid = v.vid
    AND m.at >= coalesce((SELECT last FROM usage WHERE aid = v.aid), 0)), 1.0)"""
"""Of a version v for ranking: what a case has given it, until it is read again."""

_MARKS = f"""SELECT j.key, {_WEIGHT} AS weight FROM json_each(?) j CROSS JOIN artifact a
    ON a.sid = (SELECT sid FROM scope WHERE name = json_extract(j.value, '$[0]'))
    AND a.id = json_extract(j.value, '$[1]') JOIN version v ON v.vid = a.cur
    LEFT JOIN barrier b ON b.vid = a.cur WHERE b.vid IS NULL AND weight < 1"""  # noqa: S608  literals

_NEAR = f"""SELECT a.id, a.aid, x.vid, {_WEIGHT.replace("v.aid", "a.aid").replace("v.vid", "x.vid")}, x.v
    FROM {NEAR}
    WHERE a.sid = ? AND a.id > ? AND x.space = ? ORDER BY a.id LIMIT ?"""  # noqa: S608  literals
_OF_VERSION = _WEIGHT.replace("v.aid", "a.aid").replace("v.vid", "x.vid")
_NAMED = f"""SELECT a.aid, x.vid, {_OF_VERSION}, x.v
    FROM json_each(?1) j CROSS JOIN version w ON w.vid = j.value CROSS JOIN {NEAR}
    WHERE a.aid = w.aid AND a.cur = w.vid AND a.sid = ?2 AND x.space = ?3"""  # noqa: S608  literals
_NEWER = f"""SELECT a.aid, x.vid, {_OF_VERSION}, x.v
    FROM vector t CROSS JOIN version w ON w.vid = t.vid CROSS JOIN {NEAR}
    WHERE t.row > ?1 AND t.space = ?3 AND a.aid = w.aid AND a.cur = w.vid AND a.sid = ?2
    AND x.row = t.row"""  # noqa: S608  literals
_GET_NEAR = f"""SELECT j.key, {ARTIFACT} FROM json_each(?) j CROSS JOIN {SERVED}
    WHERE a.aid = j.value AND b.vid IS NULL"""  # noqa: S608  literals
_OF_HITS = f"""CROSS JOIN {SERVED} WHERE a.aid = hit.aid AND b.vid IS NULL ORDER BY hit.score, hit.vid DESC"""
_FIND = f"""SELECT hit.score, {ARTIFACT} FROM (
        SELECT aid, vid, -weight * relevance(text, ?1) AS score FROM (
            SELECT a.aid AS aid, v.vid AS vid, {_WEIGHT} AS weight, c.text AS text FROM {HITS}
            WHERE fts MATCH ?2 AND a.sid = ?3 AND CASE WHEN length(c.s) > 3 THEN has_terms(c.text, ?7)
                WHEN ?4 <> '[]' THEN has_terms(c.text, ?4) ELSE 1 END
            ORDER BY fts.rowid DESC LIMIT ?6)
        ORDER BY score, vid DESC LIMIT ?5) hit {_OF_HITS}"""  # noqa: S608  literals
# LIMIT -1: not merged into the outer query, where the text would be read twice.
_SCAN = f"""SELECT hit.score, {ARTIFACT} FROM (
        SELECT one.aid AS aid, one.cur AS vid,
            -{_WEIGHT.replace("v.aid", "one.aid").replace("v.vid", "one.cur")} * said AS score FROM (
            SELECT a.aid AS aid, a.cur AS cur, relevance_with(c.text, ?1, ?3) AS said
            FROM {READ} WHERE a.sid = ?2 LIMIT -1) one WHERE said NOTNULL
        ORDER BY score, one.cur DESC LIMIT ?4) hit {_OF_HITS}"""  # noqa: S608  literals
_LARGE = """SELECT count(*) > ?2 OR total(v.size) > ?3
    FROM (SELECT cur FROM artifact WHERE sid = ?1 LIMIT ?2 + 1) a CROSS JOIN version v ON v.vid = a.cur"""


def register(db: Connection) -> None:
    """Give the connection the function the search statements use."""
    db.raw.create_function("has_terms", 2, has_terms, deterministic=True)
    db.raw.create_function("relevance", 2, relevance, deterministic=True)
    db.raw.create_function("relevance_with", 3, relevance_with, deterministic=True)


@lru_cache(maxsize=64)
def _terms(terms: str) -> tuple[str, ...]:
    return tuple(json.loads(terms))


def has_terms(text: str | None, terms: str) -> bool:
    """Whether the text contains each of the folded terms (a JSON list)."""
    wanted = _terms(terms)
    if not wanted:
        return True
    folded = fold(text or "")
    return all(term in folded for term in wanted)


def relevance(text: str, terms: str) -> float:
    """How much a text is about the folded terms (a JSON list), by this text alone.

    The term weight of BM25 against a text of `_USUAL_LENGTH`; every hit holds every term, so terms weigh the
    same; 1 where there is none. Not the BM25 of FTS5, which counts the words of all that is indexed: also of
    what is barred or in other scopes, and in O(store).
    """
    return _relevance(fold(text), _terms(terms))


def relevance_with(text: str | None, terms: str, needed: str) -> float | None:
    """The `relevance` of a text that `has_terms` needed; None for any other. It is folded once."""
    folded = fold(text or "")
    for term in _terms(needed):
        if term not in folded:
            return None
    return _relevance(folded, _terms(terms))


def _relevance(folded: str, terms: tuple[str, ...]) -> float:
    if not terms:
        return 1.0
    damping = _K * (1 - _B + _B * len(folded) / _USUAL_LENGTH)
    score = 0.0
    for term in terms:  # a loop, for it is run once a hit
        count = folded.count(term)
        score += count * (_K + 1) / (count + damping)
    return score


def get(db: Connection, key: Key) -> tuple[int, Artifact]:
    """The served version, with its aid.

    Raises
    ------
    UnknownId, Withdrawn
    """
    row = db.row(_GET, (scope_name(key.scope), key.id))
    if row is None:
        raise UnknownId(f"there is no artifact {key}", witness=key)
    state, cause, aid, *columns = row
    if state is not None:
        raise Withdrawn(key, cause, State(state).name.lower())
    return aid, artifact_of(tuple(columns), State.ACTIVE)


def served(db: Connection, keys: list[Key]) -> dict[Key, Artifact]:
    """Those of the keys that are served."""
    names = json.dumps([(scope_name(key.scope), key.id) for key in keys])
    return {
        keys[position]: artifact_of(tuple(columns), State.ACTIVE)
        for position, *columns in db.rows(_GET_MANY, (names,))
    }


def marks(db: Connection, keys: list[Key]) -> dict[Key, float]:
    """Weights below 1 of those of the keys that are served."""
    names = json.dumps([(scope_name(key.scope), key.id) for key in keys])
    return {keys[place]: weight for place, weight in db.rows(_MARKS, (names,))}


def search(db: Connection, query: object, scopes: Sequence[Scope], limit: int) -> list[Hit]:
    """Served artifacts of exactly these scopes that contain every word of the query, whatever its case.

    Words are what white space separates; each may stand anywhere, also inside a longer word. An empty query
    finds nothing. The best come first by words of three characters and more, else the newest. A small scope
    is read; in a large one the index finds such words and shorter ones filter, or alone have it read: of more
    than `RANKED` hits of the index the newest are ranked.

    Raises
    ------
    InvalidInput
        `limit` is not positive, or the query is no text or longer than `QUERY_LIMIT`.
    """
    limit = check_limit(limit)
    words = list(dict.fromkeys(check_query(query).split()))
    if not words or any(not _encodable(word) for word in words):
        return []
    found = [one for sid in _numbers(db, scopes) for one in _search(db, words, sid, limit)]
    found.sort(key=lambda one: one[0])  # stable: what ranks alike stays in the order it was found
    best = found[: None if limit < 0 else limit]
    return [Hit(artifact=artifact, score=1 / rank) for rank, (_, artifact) in enumerate(best, start=1)]


def check_query(query: object) -> str:
    """The query, unless it is no text or too long."""
    if not isinstance(query, str) or len(query) > QUERY_LIMIT:
        raise InvalidInput(f"a query is text of at most {QUERY_LIMIT} characters", witness=query)
    return query


def _numbers(db: Connection, scopes: Sequence[Scope]) -> list[int]:
    for scope in scopes:
        check_scope(scope)
    names = dict.fromkeys(scope_name(scope) for scope in scopes)
    return [sid for name in names for (sid,) in db.rows("SELECT sid FROM scope WHERE name = ?", (name,))]


def _search(db: Connection, words: list[str], sid: int, limit: int) -> list[tuple[float, Artifact]]:
    # The index ends a text, and a query, at NUL, so such texts are read; it sees no word under three signs.
    indexed = [word for word in words if len(word) >= TRIGRAM and "\0" not in word]
    ranked, needed = (json.dumps([fold(word) for word in some]) for some in (indexed, words))
    if indexed and db.number(_LARGE, (sid, SCANNED, SCANNED_CHARACTERS)):
        scanned = json.dumps([fold(word) for word in words if word not in set(indexed)])
        # Inside double quotes, doubled where they occur, everything is text to FTS5: no operator survives.
        phrases = " AND ".join(f'text:"{word.replace(chr(34), chr(34) * 2)}"' for word in indexed)
        asked = f's:"{token(sid)}" AND (({phrases}) OR s:"{UNREAD}")'
        most = limit if limit < 0 else max(limit, RANKED)
        rows = db.rows(_FIND, (ranked, asked, sid, scanned, limit, most, needed))
    else:
        rows = db.rows(_SCAN, (ranked, sid, needed, limit))
    return [(score, artifact_of(tuple(columns), State.ACTIVE)) for score, *columns in rows]


def near(
    db: Connection,
    query: Vectors,
    space: Space,
    scopes: Sequence[Scope],
    limit: int,
    index: VectorIndex | None = None,
) -> list[Hit]:
    """Served artifacts of exactly these scopes by the cosine of their vectors with the query, nearest first.

    Exact unless there is an `index`: every vector of the space is compared, in batches of one snapshot, so
    memory does not grow with the scope. A score says how near this one artifact is; it depends on no other.
    What points away from the query (a cosine of 0 or less) is no hit; of equals the newest comes first.

    Raises
    ------
    InvalidInput
        `limit` is not positive.
    """
    limit = check_limit(limit)
    number = db.row(SPACE, space)
    sids = _numbers(db, scopes)
    if number is None:
        return []
    best: list[_Scored] = []
    for sid in sids:
        found = None
        if index is not None and limit >= 0 and query.any():
            found = _indexed(db, index, sid, number[0], query, limit)
        best += _compared(db, sid, number[0], query, limit) if found is None else found
    best.sort(reverse=True)
    if limit >= 0:
        best = best[:limit]
    found_at = {
        place: artifact_of(tuple(columns), State.ACTIVE)
        for place, *columns in db.rows(_GET_NEAR, (json.dumps([aid for _, _, aid in best]),))
    }
    return [Hit(artifact=found_at[place], score=score) for place, (score, _, _) in enumerate(best)]


def _compared(db: Connection, sid: int, number: int, query: Vectors, limit: int) -> list[_Scored]:
    """The best of a scope, every vector compared."""
    best: list[_Scored] = []
    last = ""
    while rows := db.rows(_NEAR, (sid, last, number, _BATCH)):
        best += _scored(((aid, vid, weight, v) for _, aid, vid, weight, v in rows), query)
        if limit >= 0:
            best = nlargest(limit, best)
        last = rows[-1][0]
    return best


def _indexed(
    db: Connection, index: VectorIndex, sid: int, number: int, query: Vectors, limit: int
) -> list[_Scored] | None:
    """The best of a scope among what its index names and what is newer; None where that is no help."""
    shelf = index.shelf(sid, number)
    if shelf is None:
        return None
    newer = _scored(db.rows(_NEWER, (shelf.newest, sid, number)), query)
    count = max(_FETCHED, 4 * limit)
    while count < len(shelf):
        named = shelf.nearest(query, count)
        best = nlargest(limit, newer + _scored(db.rows(_NAMED, (json.dumps(named.vids), sid, number)), query))
        # Beyond lies what is no nearer, and a weight is at most 1: nothing there can come before these.
        if named.floor <= 0 or (len(best) == limit and best[-1][0] >= named.floor):
            return best
        count *= 4
    return None


def _scored(rows: Iterable[Row], query: Vectors) -> list[_Scored]:
    found = list(rows)
    scores = nearness((v for *_, v in found), query).tolist()
    return [
        (score * weight, vid, aid)
        for score, (aid, vid, weight, _) in zip(scores, found, strict=True)
        if score > 0
    ]


def _encodable(word: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in word)


def history(db: Connection, key: Key) -> list[Past]:
    """All versions, oldest first; content only of what is served or was superseded by an ordinary update.

    Raises
    ------
    UnknownId
    """
    aid = place(db, key).aid
    return [
        Past(
            version=no, state=State(state), case=cause, created_at=born, digest=digest.hex(), content=content
        )
        for no, state, cause, born, digest, content in db.rows(_HISTORY, (aid,))
    ]
