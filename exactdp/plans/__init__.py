"""Plans: certified noise and thresholds for engines that run elsewhere, as code for each engine.

No data are read. `read_queries` reads questions from a TOML file, `plan` certifies noise for all of
them together, and the engines in :data:`ENGINES` write the code that runs there.
"""

from exactdp.plans.engines import ENGINES, Engine
from exactdp.plans.noise import PlannedQuery
from exactdp.plans.planning import Plan, plan
from exactdp.plans.queries import Query, read_queries
from exactdp.plans.splitting import Split

__all__ = [
    "ENGINES",
    "Engine",
    "Plan",
    "PlannedQuery",
    "Query",
    "Split",
    "plan",
    "read_queries",
]
