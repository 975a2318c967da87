"""What the documents show is what happens: their Python blocks run and print what stands below them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BLOCKS = re.compile(
    r"^```python\n(?P<code>.*?)^```\n(?:\n```text\n(?P<shown>.*?)^```\n)?", re.MULTILINE | re.DOTALL
)
LINK = re.compile(r"\]\((?!https?:)([^)#]+)\)")


PAGES = (
    "README.md",
    *(
        f"docs/{name}.md"
        for name in ("quickstart", "formats", "doors", "evidence", "imports", "recovery", "embeddings")
    ),
)


@pytest.mark.parametrize("page", PAGES)
def test_python_blocks_run_in_order_and_print_what_is_shown(page: str, tmp_path: Path) -> None:
    blocks = list(BLOCKS.finditer((ROOT / page).read_text(encoding="utf-8")))
    assert blocks
    for block in blocks:
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", block["code"]],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, ""), block["code"]
        assert done.stdout == (block["shown"] or ""), block["code"]


@pytest.mark.parametrize(
    "page", ["README.md", *(f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md")))]
)
def test_links_lead_somewhere(page: str) -> None:
    here = ROOT / page
    missing = [
        link for link in LINK.findall(here.read_text(encoding="utf-8")) if not (here.parent / link).exists()
    ]
    assert not missing
