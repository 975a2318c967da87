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
LINK = re.compile(r"\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
PAGES = ["README.md", *(f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md")))]
NEEDS = {"docs/operators.md": "httpx", "docs/testing.md": "hypothesis"}


@pytest.mark.parametrize("page", [page for page in PAGES if BLOCKS.search((ROOT / page).read_text("utf-8"))])
def test_python_blocks_run_in_order_and_print_what_is_shown(page: str, tmp_path: Path) -> None:
    if page in NEEDS:
        pytest.importorskip(NEEDS[page])
    for block in BLOCKS.finditer((ROOT / page).read_text(encoding="utf-8")):
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", block["code"]],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, ""), block["code"]
        assert done.stdout == (block["shown"] or ""), block["code"]


@pytest.mark.parametrize("page", [*PAGES, "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_lead_somewhere(page: str) -> None:
    missing = []
    for path, anchor in LINK.findall((ROOT / page).read_text(encoding="utf-8")):
        target = (ROOT / page).parent / path if path else ROOT / page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            missing.append(f"{path}#{anchor}")
    assert not missing


def anchors(page: Path) -> set[str]:
    """What links to headings of the page say, as code hosts spell them."""
    headings = HEADING.findall(page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES)
def test_tables_are_whole(page: str) -> None:
    """A row that follows an empty line belongs to no table unless a line of dashes comes next."""
    text = re.sub(
        r"^```.*?^```$", "", (ROOT / page).read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    lost = re.findall(r"\n\n(\|[^\n]*)\n(?!\|[ :|-]+\|\n)", text)
    assert not lost
