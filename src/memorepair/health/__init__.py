"""The check-up of a memory: what is damaged in it, found without a change to it.

============ ==========================================================================================
module       what it holds
============ ==========================================================================================
finding      `Finding`: one damage, where it is, and what speaks for it
rows         `Rows`: a survey of the store, every description parsed once
detector     `Detector`, the port; what it is given and what it gives back
registry     the detectors by name
detectors    one file each: required, metadata, embeddings, provenance, barriers, scopes, duplicates,
             conflicts, staleness
checkup      `check_up`: the detectors over a store, whole or since the last one
wording      what of a text counts when two are compared
hashing      words as numbers under a key
salts        numbers that keep scopes and kinds apart
reading      the texts of a check-up prepared for comparison
blocking     which rows are worth comparing, within a bound for every row
blockindex   the blocks of a store in a file: what is new is compared without reading the rest
thresholds   the similarity that chance does not reach
alignment    in which places two texts differ
comparing    whether two texts say the same
clusters     groups of rows that all say the same
conflict     two statements of one slot, compared by rules
recording    what searches gave, added up by hour and partition
retrieval    what retrieval gives, by partition and hour, with alarms
drift        anchors embedded again, and whether they moved
schedule     which check is due
causes       what the rows of findings have in common
diagnose     findings become remedies that are wanted
remedies     a wanted remedy becomes an event, or the verb that mends
completing   a description made whole
merging      of artifacts that say the same the richest stays
relocating   what lay in a wrong scope, written where it belongs
reembedding  a new space beside the old one, compared, then searched
============ ==========================================================================================
"""

from __future__ import annotations

from memorepair.health.blockindex import BlockIndex
from memorepair.health.checkup import CheckUp, check_up
from memorepair.health.detector import Asked, Detector, Expected, Found
from memorepair.health.finding import Damage, Finding, Level
from memorepair.health.registry import detectors, get_detector
from memorepair.health.rows import Rows
from memorepair.health.thresholds import Threshold

__all__ = [
    "Asked",
    "BlockIndex",
    "CheckUp",
    "Damage",
    "Detector",
    "Expected",
    "Finding",
    "Found",
    "Level",
    "Rows",
    "Threshold",
    "check_up",
    "detectors",
    "get_detector",
]
