"""Audits of other implementations: exact laws where code allows, certified statistics elsewhere.

- canaries: the guesses about the canaries of one training run
- promises: what can be promised, in each currency
- outputs: outputs of run(dataset, n), with the events to look for and the bounds they certify
- code: code that is handed its random generator, by its exact law
- glue: what a pipeline gives to its noise, on two neighbouring data sets
- numbers: a stated delta, epsilon, sigma or tau
"""

from exactdp.audit.canaries import OneRun, one_run
from exactdp.audit.code import foreign_law, private
from exactdp.audit.comparison import compare
from exactdp.audit.outputs.audits import audit, replay, watch
from exactdp.audit.outputs.copies import CopiedRandomness
from exactdp.audit.outputs.event import Event
from exactdp.audit.outputs.report import AuditReport
from exactdp.audit.pairs import WorstPair, audit_pairs
from exactdp.audit.promises import ApproximateDP, GaussianDP, Profile, Renyi, Zcdp

__all__ = [
    "ApproximateDP",
    "AuditReport",
    "CopiedRandomness",
    "Event",
    "GaussianDP",
    "OneRun",
    "Profile",
    "Renyi",
    "WorstPair",
    "Zcdp",
    "audit",
    "audit_pairs",
    "compare",
    "foreign_law",
    "one_run",
    "private",
    "replay",
    "watch",
]
