"""Required: fixes what must be chosen with everything it requires."""

from __future__ import annotations

from dataclasses import dataclass, replace

from memorepair.graphs.closure import least_closed_superset
from memorepair.graphs.digraph import Mask
from memorepair.problems import Closure, ClosureInstance
from memorepair.reductions.part import Part


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Required:
    """Takes the least closed superset F of `required` (k,) bool out of the instance.

    A set is a closure that contains F exactly when its rest is a closure of the instance without F: F lacks
    no prerequisite, and an arc into F asks nothing more. The totals differ by the constant of F.
    """

    required: Mask

    def apply(self, instance: ClosureInstance, /) -> tuple[ClosureInstance, Part]:
        """The instance on the free nodes, profits and scale unchanged."""
        free = ~least_closed_superset(instance.requires, self.required)
        requires, part = Part.induced(instance.requires, free)
        if requires is instance.requires:
            return instance, part
        return replace(instance, profit=instance.profit[free], requires=requires), part

    def invert(self, solution: Closure, part: Part, /) -> Closure:
        """All of F is in; pi = 0 on its arcs."""
        return part.widened(solution, rest=True)
