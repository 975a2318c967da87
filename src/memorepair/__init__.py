"""MemoRepair: withdraw what a wrong source has tainted, choose repairs exactly, republish what holds."""

from __future__ import annotations

from memorepair.errors import MemoRepairError, StaleRead, StepFailed, UndoRefused, Withdrawn
from memorepair.facade import Memory
from memorepair.graphs.terms import Kind
from memorepair.memory.artifact import Artifact, Case, Key, Recipe, Slot, State, TaskCase
from memorepair.memory.exchange import Receipt, UndoReport
from memorepair.problems import Certificate, Selection, SelectionInstance, Status
from memorepair.problems.leaves import Leaf
from memorepair.repair.checks.check import Check, Context, Verdict, Word
from memorepair.repair.events import Interface
from memorepair.repair.operators.operator import Call, Input, Made
from memorepair.repair.operators.recompute import operator
from memorepair.repair.operators.regen import Generated, Generator, Request
from memorepair.repair.plan import RepairPlan
from memorepair.repair.pricing import Pricing
from memorepair.repair.report import RepairReport
from memorepair.repair.validation import check
from memorepair.selection import select
from memorepair.selection.explaining import Explanation, explain
from memorepair.selection.frontier import Frontier, frontier
from memorepair.selection.many import select_many

__version__ = "0.1.0"

__all__ = [
    "Artifact",
    "Call",
    "Case",
    "Certificate",
    "Check",
    "Context",
    "Explanation",
    "Frontier",
    "Generated",
    "Generator",
    "Input",
    "Interface",
    "Key",
    "Kind",
    "Leaf",
    "Made",
    "MemoRepairError",
    "Memory",
    "Pricing",
    "Receipt",
    "Recipe",
    "RepairPlan",
    "RepairReport",
    "Request",
    "Selection",
    "SelectionInstance",
    "Slot",
    "StaleRead",
    "State",
    "Status",
    "StepFailed",
    "TaskCase",
    "UndoRefused",
    "UndoReport",
    "Verdict",
    "Withdrawn",
    "Word",
    "__version__",
    "check",
    "explain",
    "frontier",
    "operator",
    "select",
    "select_many",
]
