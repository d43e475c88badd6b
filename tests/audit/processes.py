"""A process that differs in the order of what is hashed."""

from __future__ import annotations

import os
import subprocess
import sys

__all__ = ["printed"]


def printed(code: str) -> str:
    """What code prints in a process with a fixed seed of hashes, unlike this one."""
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": "1"},
    ).stdout
