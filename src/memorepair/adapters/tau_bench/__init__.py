"""Recorded tau-bench airline runs as memory: database rows, tool results, what was said of them."""

from __future__ import annotations

from memorepair.adapters.tau_bench.importer import Import, import_tau_bench, read_import
from memorepair.adapters.tau_bench.report import Disagreement, ReadAgreement, TauBenchReport

__all__ = ["Disagreement", "Import", "ReadAgreement", "TauBenchReport", "import_tau_bench", "read_import"]
