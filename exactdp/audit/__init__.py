"""Audits of other implementations: exact laws where code allows, certified statistics elsewhere.

- canaries: the guesses about the canaries of one training run
- promises: what can be promised, in each currency
- blackbox: outputs of run(dataset, n), with the events to look for and the bounds they certify
- code: code that is handed its random generator, by its exact law
- numbers: a stated delta, epsilon, sigma or tau
"""

from exactdp.audit.blackbox.auditor import audit, replay
from exactdp.audit.blackbox.independence import CopiedRandomness
from exactdp.audit.blackbox.report import AuditReport
from exactdp.audit.blackbox.watch import watch
from exactdp.audit.canaries import OneRun, one_run
from exactdp.audit.code import compare, foreign_law, private
from exactdp.audit.events.event import Event
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
