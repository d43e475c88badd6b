"""The Pythons that are installed on this machine."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

__all__ = ["UV", "interpreter"]

UV = str(Path(sys.executable).parent / "uv")


def interpreter(version: str | None) -> str | None:
    """The path of a Python of this version, such as 3.12, that uv or pyenv finds; None: none is.

    Without a version: the Python that runs this program.
    """
    if version is None:
        return sys.executable
    path = _said(UV, "python", "find", "--no-python-downloads", version)
    if path and f"Python {version}." in _said(path, "--version"):
        return path
    prefix = _said("pyenv", "prefix", version)
    return str(Path(prefix, "bin", "python")) if prefix else None


def _said(*words: str) -> str:
    """What a command prints; nothing if it fails or is not installed."""
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return "" if done.returncode else done.stdout.strip()
