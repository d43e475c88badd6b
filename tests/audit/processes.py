"""Processes that differ in the order of what is hashed."""

from __future__ import annotations

import os
import subprocess
import sys

__all__ = ["printed"]


def printed(code: str) -> set[str]:
    """What code prints in two processes, one with each of two seeds of hashes."""
    return {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
