"""Governance: which remedies may act, when, how often, and who is asked.

========== ============================================================================================
module     what it holds
========== ============================================================================================
grades     `Policy` and `grade_of`: who lets a remedy act
books      notes of the store that several processes change
attempts   every repair of the last days, kept before it acts
limits     caps on items, repairs and impact, and their rate
loops      how often the same remedy has been tried on the same artifact
queue      `Queue`: what waits, by priority, bounded, kept in the store
governor   `Governor`: the gate of repair, made of the others
decisions  what a person has said is to stay as it is
review     `Desk`: what a person sees, approves and rejects
========== ============================================================================================
"""

from __future__ import annotations

from memorepair.governance.governor import Governor
from memorepair.governance.grades import Policy, grade_of
from memorepair.governance.limits import Limits
from memorepair.governance.queue import Item, Queue, Status
from memorepair.governance.review import Desk

__all__ = ["Desk", "Governor", "Item", "Limits", "Policy", "Queue", "Status", "grade_of"]
