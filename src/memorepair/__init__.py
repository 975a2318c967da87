"""MemoRepair: withdraw what a wrong source has tainted, choose repairs exactly, republish what holds."""

from __future__ import annotations

from memorepair.problems import Certificate, Selection, SelectionInstance, Status
from memorepair.selection import select

__version__ = "0.1.0"

__all__ = ["Certificate", "Selection", "SelectionInstance", "Status", "__version__", "select"]
