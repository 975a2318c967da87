"""The demo: a bundled assistant memory goes through a correction, a deletion and a migration."""

from __future__ import annotations

from memorepair.demo.show import show
from memorepair.demo.story import Act, Tour, run

__all__ = ["Act", "Tour", "run", "show"]
