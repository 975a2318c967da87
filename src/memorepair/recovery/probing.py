"""Probing: what is served after a recovery and still says what only the fault said."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from memorepair.memory.artifact import Key, Scope
from memorepair.memory.store import Store
from memorepair.repair.checks.marks import marked, recognised, runs, unsaid

MOST_QUERIES = 32
"""A long fault is looked for by this many of its marks, the longest first."""

MOST_HITS = 100


def echoes(
    store: Store, scopes: Iterable[Scope], faulty: Mapping[Key, str], heard: Iterable[str]
) -> tuple[Key, ...]:
    """Served memories that an agent would find, and that bear a mark of the fault.

    No arc leads to them from the fault: each is a copy that nobody linked, or a word that is right there:
    which, a person sees. Nothing is changed. At most `MOST_QUERIES` searches of `MOST_HITS` hits.

    Parameters
    ----------
    faulty
        What the faulty artifacts said.
    heard
        What says it rightly: what stands in place of the faulty ones.
    """
    first, *also = dict.fromkeys(scopes)
    left = unsaid(marked(faulty), heard)
    queries = {" ".join(word for word in mark if word) for mark in left}
    found: dict[Key, str] = {}
    for query in sorted(queries, key=lambda words: (-len(words), words))[:MOST_QUERIES]:
        hits = store.search(query, scope=first, also=also, limit=MOST_HITS)
        found |= {hit.artifact.key: hit.artifact.content for hit in hits}
    return tuple(sorted(key for key, said in found.items() if recognised(runs(said), [left], ())))
