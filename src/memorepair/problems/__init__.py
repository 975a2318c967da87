"""Problems: what is asked and what is answered, each answer checkable without trust in who gave it.

integers.py     numbers of any kind as the rationals that they stand for
profits.py      profits as integers, exactly or with the loss recorded
amounts.py      the same under a budget
proof.py        certificates, and the short checker that reads them
leaves.py       the proof of a budgeted bound; leaf_kernel.py the same for large trees
instances.py    what is asked, and what a solver sees of it
answers.py      what comes back; checking.py holds it against its instance
asking.py       what a user hands over, as an instance
"""

from memorepair.problems.answers import Answer, Report, Selection, Status
from memorepair.problems.checking import Figure, affordable, budgeted_amounts, figure
from memorepair.problems.instances import (
    Closure,
    ClosureInstance,
    KnapsackInstance,
    SelectionInstance,
    check_hashable,
    check_ties,
)
from memorepair.problems.proof import Certificate

__all__ = [
    "Answer",
    "Certificate",
    "Closure",
    "ClosureInstance",
    "Figure",
    "KnapsackInstance",
    "Report",
    "Selection",
    "SelectionInstance",
    "Status",
    "affordable",
    "budgeted_amounts",
    "check_hashable",
    "check_ties",
    "figure",
]
