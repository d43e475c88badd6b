"""Whose code is at work: this library's own, that of Python and numpy, or the program's."""

from __future__ import annotations

import os
import types

import numpy as np

from exactdp.audit.whitebox.identity import number_of
from exactdp.samplers.enumeration import EnumeratingSource
from exactdp.samplers.enumeration_branches import Frontier

__all__ = ["Whose", "in_library"]

_HERE = os.path.join(os.path.dirname(__file__), "")
_ENUMERATION = {method.__code__.co_filename for method in (EnumeratingSource.choose, Frontier.stop)}
_OURS = (
    "exactdp.audit.whitebox",
    "exactdp.samplers.enumeration",
    "exactdp.samplers.enumeration_branches",
)
_PACKAGE = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(__file__))), "")
_LIBRARY = os.path.dirname(os.__file__)
_NUMPY = os.path.join(os.path.dirname(np.__file__), "")


class Whose:
    """ours: whether code is the part of this library that follows and reports, by its number, as
    far as known."""

    def __init__(self) -> None:
        self.ours: dict[int, bool] = {}
        self._codes: list[types.CodeType] = []  # kept alive: their numbers stay their own

    def is_ours(self, frame: types.FrameType | None) -> bool:
        """Whether a frame belongs to this library, or to what only reports."""
        if frame is None:
            return True
        known = self.ours.get(number_of(frame.f_code))
        if known is None:
            file, module = frame.f_code.co_filename, str(frame.f_globals.get("__name__"))
            generated = file == "<string>" and module.startswith(_OURS)  # by dataclass
            known = generated or file.startswith(_HERE) or file in _ENUMERATION
            self.ours[number_of(frame.f_code)] = known
            self._codes.append(frame.f_code)
        return known


def in_library(frame: types.FrameType) -> bool:
    """Whether a frame belongs to Python's library, to numpy or to any part of this one."""
    file = frame.f_code.co_filename
    inside = file.startswith((_LIBRARY, "<frozen ")) and "site-packages" not in file
    return inside or file.startswith((_PACKAGE, _NUMPY))
