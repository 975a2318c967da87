"""What PROV documents are read into, whatever they are written in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from memorepair.memory.artifact import Json

FOLLOWED: Mapping[str, tuple[str, str]] = {
    "used": ("prov:entity", "prov:activity"),
    "wasGeneratedBy": ("prov:activity", "prov:entity"),
    "wasDerivedFrom": ("prov:usedEntity", "prov:generatedEntity"),
    "wasInformedBy": ("prov:informant", "prov:informed"),
}
"""Relations along which a fault goes: name -> the roles of cause and effect in PROV-JSON."""

UNFOLLOWED = (
    "wasAttributedTo",
    "wasAssociatedWith",
    "actedOnBehalfOf",
    "wasStartedBy",
    "wasEndedBy",
    "wasInvalidatedBy",
    "wasInfluencedBy",
    "specializationOf",
    "alternateOf",
    "mentionOf",
    "hadMember",
)
"""Relations that are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """An entity or an activity, with what is told of it."""

    what: str
    told: dict[str, Json]


@dataclass(slots=True, kw_only=True)
class Document:
    """A document under way.

    Attributes
    ----------
    nodes
        By full name (URI).
    links
        (cause, effect, relation), each once.
    unnamed
        Where a relation was left out because an end has no name.
    others
        How often each relation occurs that is not followed.
    """

    nodes: dict[str, Node] = field(default_factory=dict)
    links: dict[tuple[str, str, str], None] = field(default_factory=dict)
    unnamed: list[str] = field(default_factory=list)
    others: Counter[str] = field(default_factory=Counter)

    def link(self, cause: str, effect: str, relation: str) -> None:
        """Take a link; an end that is not declared is one all the same, of the sort its role says."""
        informs = relation == "wasInformedBy"
        ends = ((cause, informs or relation == "wasGeneratedBy"), (effect, informs or relation == "used"))
        for id, active in ends:
            self.nodes.setdefault(id, Node(what="activities" if active else "entities", told={}))
        self.links[cause, effect, relation] = None
