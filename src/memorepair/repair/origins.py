"""Origins: which roots of an event a member of its cascade stands on."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from memorepair.memory.artifact import Key


class Origins:
    """Of each artifact the roots that it stands on, however far.

    Parameters
    ----------
    roots
        Root -> the key of what stands in its place: what is made again reads that.
    arcs
        (parent, child): what members are made from.

    Notes
    -----
    One bit a root. Sweeps in topological order: the first settles all but cycles. O(arcs) unions of
    roots / 64 words each.
    """

    def __init__(self, roots: Mapping[Key, Key], arcs: Iterable[tuple[Key, Key]]) -> None:
        self._roots = tuple(roots)
        children: defaultdict[Key, list[Key]] = defaultdict(list)
        for parent, child in dict.fromkeys(arcs):
            if parent != child:
                children[parent].append(child)
        beneath: defaultdict[Key, int] = defaultdict(int)
        for place, (root, instead) in enumerate(roots.items()):
            for key in {root, instead}:
                beneath[key] |= 1 << place
        order = _order(children)
        going = len(roots) > 1
        while going:
            going = False
            for key in order:
                for child in children[key]:
                    if beneath[key] & ~beneath[child]:
                        beneath[child] |= beneath[key]
                        going = True
        self._beneath = beneath

    def of(self, key: Key) -> Sequence[Key]:
        """The roots that it stands on; of an event with one root that one, for all that it withdrew."""
        if len(self._roots) < 2:
            return self._roots
        found, bits = [], self._beneath.get(key, 0)
        while bits:
            last = bits & -bits
            found.append(self._roots[last.bit_length() - 1])
            bits ^= last
        return found


def _order(children: Mapping[Key, Sequence[Key]]) -> list[Key]:
    """The parents, each behind its own parents but for cycles, which come last."""
    parents = Counter(child for some in children.values() for child in some)
    ready = [key for key in children if not parents[key]]
    order: list[Key] = []
    while ready:
        key = ready.pop()
        order.append(key)
        for child in children.get(key, ()):
            parents[child] -= 1
            if not parents[child]:
                ready.append(child)
    reached = set(order)
    return [key for key in [*order, *(key for key in children if key not in reached)] if key in children]
