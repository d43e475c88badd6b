"""Functions of libraries, written in Python, that pass on where something is, what is in memory, or
who called, or that set or give what the whole process shares."""

from __future__ import annotations

import asyncio
import copyreg
import ctypes
import gettext
import inspect
import logging
import multiprocessing
import threading
import traceback

import numpy as np

__all__ = ["TELLTALES"]

_BOUNDS = getattr(np.lib, "array_utils", np).byte_bounds  # numpy 1 has it elsewhere

#: By their code, their names.
TELLTALES = {
    function.__code__: function.__qualname__
    for function in (
        *(inspect.currentframe, inspect.stack, traceback.walk_stack, traceback.extract_stack),
        *(logging.Logger.findCaller, vars(threading)["_PyRLock"].acquire),
        *(np.ma.MaskedArray.ids, _BOUNDS, np.lib.stride_tricks.as_strided),
        *(logging.Logger.setLevel, logging.addLevelName, logging.disable, copyreg.pickle),
        *(gettext.textdomain, gettext.bindtextdomain),
        *(ctypes.cast, ctypes.string_at, ctypes.wstring_at, traceback.format_exc),
        multiprocessing.current_process,
        *(multiprocessing.parent_process, asyncio.get_event_loop_policy, asyncio.set_event_loop),
    )
}
