"""Housekeeping: a store is kept sound by looking, weighing and asking.

=========== ===========================================================================================
module      what it holds
=========== ===========================================================================================
keeping     `Keeping`: what a keeper expects, what may act, how much
looking     a check-up, its diagnosis, the remedies as they would act now
dividing    a remedy as several, each for part of its artifacts
deciding    what a person has said is right as it is
acting      remedies pass the gate, and what may go is carried out
reviewing   what a person says of what waits; what waited for its time
rounds      what one patrol looks at
reports     `Report`, `Patrol`: what came of it
housekeeper `Housekeeper`: all of it for one store
=========== ===========================================================================================
"""

from __future__ import annotations

from memorepair.housekeeping.housekeeper import Housekeeper
from memorepair.housekeeping.keeping import Keeping
from memorepair.housekeeping.reports import Patrol, Report

__all__ = ["Housekeeper", "Keeping", "Patrol", "Report"]
