"""exactdp audit: look for outputs that break a promise, or check a number somebody printed."""

from exactdp.cli.audit import endless, neighbours, numbers, outputs
from exactdp.cli.audit.group import audit

__all__ = ["audit", "endless", "neighbours", "numbers", "outputs"]
