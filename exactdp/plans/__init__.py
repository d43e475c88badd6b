"""Plans: certified noise and thresholds for engines that run elsewhere, as code for each engine.

No data are read. `read_queries` reads questions from a TOML file, `plan` certifies noise for all of
them together, and the engines in :data:`ENGINES` write the code that runs there.
"""

from exactdp.plans.engines import ENGINES, Engine, noise_of
from exactdp.plans.planning import Plan, PlannedQuery, Split, plan
from exactdp.plans.queries import Query, read_queries

__all__ = [
    "ENGINES",
    "Engine",
    "Plan",
    "PlannedQuery",
    "Query",
    "Split",
    "noise_of",
    "plan",
    "read_queries",
]
