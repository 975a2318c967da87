"""The nave: from a declared event to what is published.

============ ==========================================================================================
module       what it holds
============ ==========================================================================================
events       what turned out wrong, and what the world brings instead
withdrawal   an event becomes a case whose cascade is out of service
evidence     on what terms members of a cascade are spared
cascade      what was derived from the roots, and what of it is still out of service
modes        the kinds of repair a descendant admits
assignment   which descendant gets which mode
inputs       what each descendant stands on
history      what operators have cost and how often they succeeded
pricing      what a repair is worth and costs when nobody says so
candidates   how each descendant could be repaired
build        candidates from a cascade
plan         which repairs are carried out, in which order
reselection  what is left of a plan, chosen anew
outcomes     what became of each step
footing      what each member stands on, as the repair goes on
bygone       what the withdrawn artifacts said
ordering     the members, each after what it reads
origins      which roots of the event a member stands on
giving       what the operator of a step is called with
judging      whether a step may run, and what it made be staged
execution    a plan carried out, with early cutoff
checks       what a successor must pass, one file each
validation   all checks that apply, composed
sandbox      dry run of a chain procedure
inheritance  how the next version of an artifact is described
publication  what was validated goes back into service
verdicts     what the plan of a case says of each member
soundness    the property all of repair has to keep
report       what a repair did, member by member
engine       all of it in order: Algorithm 1
operators    what makes successors
ports        the values of a repair that nobody declared
carrying     such a repair, once it is admitted, through the engine
audit        influence arcs that a record lacks, proposed
jsontext     JSON as canonical text
============ ==========================================================================================
"""

from __future__ import annotations
