"""The demo: a bundled assistant memory goes through a correction, a deletion and a migration."""

from __future__ import annotations

from memorepair.demo.figures import Act, Tour
from memorepair.demo.show import show
from memorepair.demo.story import run

__all__ = ["Act", "Tour", "run", "show"]
