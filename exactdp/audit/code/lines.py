"""Which code is the program's own, and the line that it has reached: for messages."""

from __future__ import annotations

import functools
import os
import sys
import types

import numpy as np

from exactdp.samplers import enumeration

_OURS = (os.path.join(os.path.dirname(__file__), ""), os.path.splitext(enumeration.__file__)[0])
_IMPORTS = "<frozen importlib"
_PYTHON = os.path.join(os.path.dirname(os.__file__), "")
_NUMPY = os.path.join(os.path.dirname(np.__file__), "")


@functools.lru_cache(maxsize=1 << 12)  # asked at every draw
def is_ours(file: str) -> bool:
    """Whether a file belongs to this package, or to the import system."""
    return file.startswith((*_OURS, _IMPORTS))


def is_program(file: str) -> bool:
    """Whether a file holds code of the program: not of this package, of Python or of numpy."""
    if file.startswith((*_OURS, _NUMPY, "<frozen ")):
        return False
    return not file.startswith(_PYTHON) or "-packages" in file


def at(frame: types.FrameType | None = None) -> str:
    """The innermost line of the program, as "(file, line n)".

    frame: where the search begins; the caller by default.
    """
    innermost = frame = frame or sys._getframe(1)
    while frame is not None and not is_program(frame.f_code.co_filename):
        frame = frame.f_back
    nearest = frame or innermost
    return f"({os.path.basename(nearest.f_code.co_filename)}, line {nearest.f_lineno})"
