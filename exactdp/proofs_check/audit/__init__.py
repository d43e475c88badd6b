"""Audits of other implementations: find an event that breaks a promise, with stated confidence."""

from exactdp.proofs_check.audit.blackbox import audit
from exactdp.proofs_check.audit.events import Event
from exactdp.proofs_check.audit.independence import CopiedRandomness
from exactdp.proofs_check.audit.report import AuditReport

__all__ = ["AuditReport", "CopiedRandomness", "Event", "audit"]
