"""Every command of exactdp figure."""

from __future__ import annotations
