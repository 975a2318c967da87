"""The store: where artifacts live, behind a barrier; it knows nothing of repair.

============ ==========================================================================================
module       what it holds
============ ==========================================================================================
values       what a caller's value must be, or it is refused with a witness
schemas      the subset of JSON Schema that a recipe may ask of successors
artifact     the values that go in and come out
clock        the time of an act, also where the caller's clock fails
arguments    the shorthand that callers may write for them
exchange     the values that pass between a store and who repairs it
store        `Store`, the port
sqlite       `SqliteStore`, the port in one SQLite file
capture      `Derivation`: what is read becomes the provenance of what is written
snapshot     `Snapshot`: everything but content, at one instant
points       where a drill may strike
schema       tables as numbered migrations
migration    a file is made, or brought to the schema of this code
connection   one connection behind a lock: pragmas, transactions, typed errors
secret       the key beside the database, and the digests and seals computed with it
vectors      texts as points: the port of embedders, and the built-in one
vectorindex  a file that finds near vectors without comparing all
extraction   the port through which statements get their slots
codec        rows from values, values from rows
keys         where the artifacts that callers name are in the database
journal      entries in a chain of seals
barrier      what is served, and the moves that change it
doors        the only places where content leaves to serve
export       every version as it may leave
merging      versions from elsewhere, taken over without changing what is here
normalform   forms of Unicode, in time that no text can make quadratic
catalogue    what there is, without content
survey       current versions as columns, for a check-up
engine       what repair may see of what is not served
writer       drafts become versions
cycles       the cycles a write would close
statistics   counts and sizes, without content
graph        what the live arcs say
folding      texts as the index compares them
index        the full-text index of current versions
cases        declared events, from the withdrawal to the close
publication  staged successors, and the transaction that serves them
evidence     what of a cascade stays in service
suspects     influence arcs that nobody recorded
upkeep       events that leave what is stated as it is
mending      what can be made again from the rest of the file
spaces       the space that searches are answered from
notes        what housekeeping keeps, under seals
undo         a case taken back from the journal's before-images
erasure      content removed for good, with a receipt
compaction   what the rows no longer have leaves the index and the file
retention    before-images that nothing needs any more go after their time
repairlock   one repair at a time
usage        how often artifacts are got
tracing      functions whose results are stored with what they were made from
costs        what operators have cost so far
check        whether the file still is what was written
============ ==========================================================================================
"""

from __future__ import annotations
