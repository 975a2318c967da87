"""Origins: what a member stands on is what paths lead from, in cycles too, and in time linear in the arcs."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from memorepair.memory.artifact import Key
from memorepair.repair.origins import Origins

N = 8
KEYS = [Key((), f"k{place}") for place in range(N)]
PLACES = st.integers(0, N - 1)


@given(arcs=st.lists(st.tuples(PLACES, PLACES), max_size=20), roots=st.sets(PLACES, min_size=2, max_size=3))
def test_what_a_member_stands_on_is_what_paths_lead_from(
    arcs: list[tuple[int, int]], roots: set[int]
) -> None:
    origins = Origins({KEYS[one]: KEYS[one] for one in roots}, [(KEYS[a], KEYS[b]) for a, b in arcs])
    above = {place: {place} & roots for place in range(N)}
    for _ in range(N):
        for parent, child in arcs:
            above[child] |= above[parent]
    assert [set(origins.of(key)) for key in KEYS] == [
        {KEYS[one] for one in above[place]} for place in range(N)
    ]


def test_what_is_made_again_reads_what_stands_in_the_roots_place() -> None:
    a, b, new, chain, other = KEYS[:5]
    origins = Origins({a: new, b: b}, [(new, chain), (b, other)])
    assert [list(origins.of(key)) for key in (chain, other)] == [[a], [b]]
    assert list(Origins({a: a}, []).of(chain)) == [a]


def test_a_deep_cascade_of_many_roots_is_swept_twice() -> None:
    keys = [Key((), f"{place:05}") for place in range(20_000)]
    arcs = list(pairwise(keys))
    origins = Origins(dict(zip(reversed(keys[:64]), reversed(keys[:64]), strict=True)), reversed(arcs))
    assert set(origins.of(keys[-1])) == set(keys[:64])
    assert list(origins.of(keys[0])) == [keys[0]]
