"""A memory with known damage is checked up and repaired; a page shows its figures before and after.

python -m memorepair.demo.checkup [FILE]
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from memorepair.facade import Memory
from memorepair.governance import Policy
from memorepair.housekeeping import Keeping
from memorepair.ledger import to_html, to_markdown
from memorepair.memory.artifact import Slot
from memorepair.repair.ports import Remedy

_USER = ("user", "42")
_FACTS = (
    "The router stands in the hall cupboard",
    "The spare key hangs behind the green door",
    "The dentist has moved to Harbour Street",
    "The bicycle lock opens with a brass key",
    "The winter tyres are stored in the cellar",
    "The piano is tuned every second spring",
)
_GUESTS = 10


def damaged(memory: Memory) -> None:
    """Six facts three times each, ten guests whose taste has changed, and what was made from the old one."""
    for place, fact in enumerate(_FACTS):
        for copy, text in enumerate((fact, f" {fact.upper()}", f"{fact}  ")):
            memory.record(text, id=f"fact-{place}-{copy}", scope=_USER)
    for place in range(_GUESTS):
        who = f"guest {place}"
        for id, likes in (("old", True), ("new", False)):
            slot = Slot(entity=who, attribute="likes", value="coriander", polarity=likes)
            said = f"{who} {'likes' if likes else 'hates'} coriander"
            memory.record(said, id=f"{id}-{place}", scope=_USER, slot=slot)
        with memory.deriving(kind="summary", operator="summarise", scope=_USER) as derivation:
            old = derivation.read(f"user/42::old-{place}").content
            derivation.write(f"For the menu: {old}", id=f"menu-{place}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Show it; the page is written where the argument says."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    page = Path(given[0] if given else "out/checkup.html")
    with (
        tempfile.TemporaryDirectory(prefix="memorepair-checkup-") as folder,
        Memory.open(Path(folder) / "agent.db") as memory,
    ):
        damaged(memory)
        keeping = Keeping(policy=Policy(confirmed=frozenset(Remedy)))
        report = memory.checkup(repair=True, keeping=keeping)
        faults = memory.store.check()
    if report.record is not None:
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(to_html(report.record), encoding="utf-8")
        sys.stdout.write(f"{to_markdown(report.record)}\nwrote {page}\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
