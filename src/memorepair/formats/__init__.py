"""Formats: instances and networks in files, one file of code for each kind (docs/formats.md).

============= ============================ ======= =======================================================
module        ends in                      holds   what it is
============= ============================ ======= =======================================================
instance_json .json                        all     our own JSON
node_link     .node-link.json              all     networkx's JSON of a directed graph
npz           .npz                         all     NumPy's archive, no pickle
dimacs        .max                         network maximum flow, ``p max``
lp            .lp                          profits linear program, CPLEX LP
mps           .mps                         profits linear program, free MPS
minelib       .upit, .cpit (beside .prec)  profits open pit
============= ============================ ======= =======================================================

"profits" hold w - lambda c as one number, and costs only beside a budget. `read` and `write` find the format
by the file's name or by the name that `formats` lists.
"""

from __future__ import annotations

from memorepair.formats.format import Content, Format
from memorepair.formats.instance_json import (
    format_instance,
    parse_instance,
    read_instance,
    write_instance,
)
from memorepair.formats.minelib import read_precedences
from memorepair.formats.registry import format_of, formats, get_format, read, write

__all__ = [
    "Content",
    "Format",
    "format_instance",
    "format_of",
    "formats",
    "get_format",
    "parse_instance",
    "read",
    "read_instance",
    "read_precedences",
    "write",
    "write_instance",
]
