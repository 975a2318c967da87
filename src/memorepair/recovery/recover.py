"""Recover: a failed run from the fault to its new answer, as one case."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TypeAlias

from memorepair.errors import InvalidInput, UnknownId
from memorepair.graphs.support import Policy
from memorepair.graphs.terms import PROPAGATING, Kind
from memorepair.memory.artifact import Case, Draft, Json, Key, Read, Source, State
from memorepair.memory.exchange import Successor
from memorepair.memory.store import Store
from memorepair.memory.values import check_type
from memorepair.recovery.planning import RecoveryPlan, make_plan
from memorepair.recovery.replay import Made, Replay
from memorepair.recovery.run import Recorder
from memorepair.recovery.tools import Tool
from memorepair.recovery.trace import STEPS, RunLike, find_run, read_trace
from memorepair.repair import engine
from memorepair.repair.cascade import Cascade, read_cascade
from memorepair.repair.events import EventKind, RepairEvent, Rollback
from memorepair.repair.jsontext import canonical, parse
from memorepair.repair.withdrawal import descends, event_of

Agent: TypeAlias = Callable[[Recorder], object]
"""Takes the steps of a run, from a recorder of its own or from one that replays."""

UNDONE = ".undone"
"""What the id of the note that an action was compensated adds to that of the action."""
