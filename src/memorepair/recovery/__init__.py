"""Recovery: a failed run traced, rolled back along its dependencies, replayed where it must be.

run.py         an agent's steps, recorded as it takes them
tools.py       what it calls, with declared effects
trace.py       a stored run, typed
origins.py     what counts as one source
planning.py    which steps are taken again
replay.py      the agent run again over its own record
begun.py       what is about to be done to the world
publication.py what a replay made goes into service
recover.py     all of it as one case
"""

from memorepair.recovery.planning import RecoveryPlan
from memorepair.recovery.recover import RecoveryReport
from memorepair.recovery.replay import Made, Replay
from memorepair.recovery.run import Recorder, Run
from memorepair.recovery.tools import Effect, Tool, tool
from memorepair.recovery.trace import Step, Trace

__all__ = [
    "Effect",
    "Made",
    "Recorder",
    "RecoveryPlan",
    "RecoveryReport",
    "Replay",
    "Run",
    "Step",
    "Tool",
    "Trace",
    "tool",
]
