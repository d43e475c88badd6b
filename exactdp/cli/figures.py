"""Every command of exactdp figure."""

from __future__ import annotations

from exactdp.cli import sketch_figures
from exactdp.cli.figure import figure

__all__ = ["figure", "sketch_figures"]
