"""The audit of numbers: is a stated delta, epsilon, sigma or tau enough?"""

from exactdp.audit.numbers.claimed import NumberAudit, audit_number

__all__ = ["NumberAudit", "audit_number"]
