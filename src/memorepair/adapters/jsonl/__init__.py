"""JSON Lines: a whole memory as text, a line a version."""

from __future__ import annotations

from memorepair.adapters.jsonl.reading import import_jsonl, read_jsonl
from memorepair.adapters.jsonl.writing import ExportReport, export_jsonl

__all__ = ["ExportReport", "export_jsonl", "import_jsonl", "read_jsonl"]
