"""Whose code runs, and at which line of the program: for messages."""

from __future__ import annotations

import enum
import os
import sys
import types

import numpy as np

from exactdp.samplers import enumeration

__all__ = ["HERE", "IMPORTS", "Whose", "at", "whose_code"]

HERE = os.path.join(os.path.dirname(__file__), "")
IMPORTS = "<frozen importlib"
_ENUMERATION = os.path.splitext(enumeration.__file__)[0]
_PYTHON = os.path.join(os.path.dirname(os.__file__), "")
_NUMPY = os.path.join(os.path.dirname(np.__file__), "")


class Whose(enum.Enum):
    """Whose code it is."""

    OURS = 0
    LIBRARY = 1
    PROGRAM = 2


def whose_code(file: str) -> Whose:
    """Whose code a file holds: this package's, that of Python and numpy, or the program's."""
    if file.startswith((HERE, _ENUMERATION, IMPORTS)):
        return Whose.OURS
    if file.startswith((_NUMPY, "<frozen ")):
        return Whose.LIBRARY
    return Whose.LIBRARY if file.startswith(_PYTHON) and "-packages" not in file else Whose.PROGRAM


def at(frame: types.FrameType | None = None) -> str:
    """Where the program is, "(file, line n)": the innermost line that is no library's.

    frame: from which to look; the caller's if none is given.
    """
    innermost = frame = frame or sys._getframe(1)
    while frame is not None and whose_code(frame.f_code.co_filename) is not Whose.PROGRAM:
        frame = frame.f_back
    found = frame or innermost
    return f"({os.path.basename(found.f_code.co_filename)}, line {found.f_lineno})"
