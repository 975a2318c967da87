"""Detectors, one file each; `memorepair.health.registry` names them."""
