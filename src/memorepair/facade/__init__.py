"""Facade: the verbs users call, a file for each group of them.

base.py        what they all work on
writing.py     record, deriving, ingest, merge
reading.py     get, search, list, history, explain, inspect, status
events.py      delete, correct, migrate
provenance.py  audit of arcs that nobody recorded
repairing.py   plan, repair
keeping.py     housekeeper, checkup, patrol
running.py     run, recover, replay
removing.py    undo, erase, receipt, prune
memory.py      Memory: all of them over one open store
"""

from memorepair.facade.memory import Memory
from memorepair.facade.reading import Explanation, Status

__all__ = ["Explanation", "Memory", "Status"]
