"""The cascade experiment: what repair events leave stale, what is recovered, and at what cost."""
