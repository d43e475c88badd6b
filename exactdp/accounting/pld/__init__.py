"""Certified privacy loss distributions: any mechanism, any composition, from both sides."""

from exactdp.accounting.pld.loss import Pld, gaussian

__all__ = ["Pld", "gaussian"]
