"""exactdp audit: look for outputs that break a promise, or check a number somebody printed."""

from exactdp.cli.audit import numbers, outputs, pairs, watch
from exactdp.cli.audit.group import audit

__all__ = ["audit", "numbers", "outputs", "pairs", "watch"]
