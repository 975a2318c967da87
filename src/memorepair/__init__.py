"""MemoRepair: withdraw what a wrong source has tainted, choose repairs exactly, republish what is validated."""

__version__ = "0.1.0"
