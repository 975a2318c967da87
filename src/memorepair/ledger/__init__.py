"""Ledger: what was found, what was done about it, what came of it.

========== ============================================================================================
module     what it holds
========== ============================================================================================
case       `CaseRecord`: one check-up with its repairs; `Ledger`: the records, kept in the store
writing    a record as Markdown and as HTML
plots      bars of two figures, as SVG
metrics    counters as Prometheus text
spans      OpenTelemetry spans, where the API is installed
========== ============================================================================================
"""

from __future__ import annotations

from memorepair.ledger.case import CaseRecord, Ledger
from memorepair.ledger.metrics import metrics
from memorepair.ledger.writing import to_html, to_markdown

__all__ = ["CaseRecord", "Ledger", "metrics", "to_html", "to_markdown"]
