"""Selection: from a problem to its answer, through reductions and a solver.

choosing.py     select(): the exact choice at a price
closing.py      the smallest optimal closure by the default solver
budgeting.py    the choice within a budget, with leaves as the proof
frontier.py     the whole curve of prices
explaining.py   why one candidate is chosen or not
many.py         independent problems side by side
"""

from memorepair.selection.choosing import select

__all__ = ["select"]
