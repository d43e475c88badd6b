"""Every command of exactdp release."""

from __future__ import annotations
