"""Audits of other implementations: exact laws where code allows, certified statistics elsewhere."""

from exactdp.proofs_check.audit.blackbox import audit
from exactdp.proofs_check.audit.events import Event
from exactdp.proofs_check.audit.foreign import foreign_law, shortcut
from exactdp.proofs_check.audit.independence import CopiedRandomness
from exactdp.proofs_check.audit.report import AuditReport
from exactdp.proofs_check.audit.whitebox import compare, private

__all__ = [
    "AuditReport",
    "CopiedRandomness",
    "Event",
    "audit",
    "compare",
    "foreign_law",
    "private",
    "shortcut",
]
