"""Every command of exactdp release."""

from __future__ import annotations

from exactdp.cli import sketches
from exactdp.cli.release import release

__all__ = ["release", "sketches"]
