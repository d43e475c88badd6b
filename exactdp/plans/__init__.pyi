from exactdp.plans.engines import ENGINES as ENGINES
from exactdp.plans.engines import Engine as Engine
from exactdp.plans.noise import PlannedQuery as PlannedQuery
from exactdp.plans.planning import Plan as Plan
from exactdp.plans.planning import plan as plan
from exactdp.plans.queries import Query as Query
from exactdp.plans.queries import read_queries as read_queries
from exactdp.plans.splitting import Split as Split
