"""The words of the graph: kinds of node, skill architectures, relations along which taint propagates."""

from __future__ import annotations

from enum import IntEnum


class Kind(IntEnum):
    """What a node is. Artifacts first, trace steps of a run after them; values are stored, never renumber."""

    RECORD = 0
    CACHE = 1
    SUMMARY = 2
    SKILL = 3
    USER_INPUT = 16
    MEMORY_READ = 17
    CLAIM = 18
    PLAN = 19
    ACTION = 20
    OBSERVATION = 21
    ANSWER = 22
    MEMORY_MUTATION = 23


class Arch(IntEnum):
    """Architecture of a skill; NONE for everything else."""

    NONE = 0
    NEURAL = 1
    PROMPT = 2
    CHAIN = 3


class Relation(IntEnum):
    """Why the head of an influence arc depends on its tail. Every relation points from cause to effect."""

    DERIVE = 0
    INITIATE = 1
    CITE = 2
    SUPPORT = 3
    PRODUCE = 4
    DELETE = 5
    UPDATE = 6
    CONSOLIDATE = 7
    SUPERSEDE = 8


PROPAGATING = frozenset(Relation) - {Relation.SUPERSEDE}
"""Relations a cascade follows; SUPERSEDE counts in the lineage of a failed run only."""
