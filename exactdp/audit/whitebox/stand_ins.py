"""What a program finds in the place of clocks, of the system's randomness, and of the functions of
Python that know where an object is or what its name leads to."""

from __future__ import annotations

import builtins
import os
import random
import sys
import time
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, NoReturn

import numpy as np

from exactdp.audit.whitebox.identity import Identity, number_of
from exactdp.audit.whitebox.lazy import LazyNumber
from exactdp.audit.whitebox.orders import is_salted
from exactdp.audit.whitebox.purity import TOLD, impurity
from exactdp.audit.whitebox.rounds import is_generator
from exactdp.audit.whitebox.texts import witnessed
from exactdp.audit.whitebox.uniform import NotEnumerable
from exactdp.audit.whitebox.whose import Whose, in_library
from exactdp.samplers.enumeration_branches import NotReproducible

__all__ = ["REAL", "StandIns", "refused"]

_CLOCKS = [name for name in dir(time) if name.endswith(("time", "time_ns", "counter", "_ns"))]
_REPLACED = {
    (module, name): getattr(module, name)
    for module, names in (
        (os, ("getpid", "getrandom", "times", "urandom")),
        (sys.modules["posix" if os.name == "posix" else "nt"], ("getpid", "times", "urandom")),
        (random, ("_urandom",)),
        (time, _CLOCKS),
    )
    for name in names
    if hasattr(module, name) and not isinstance(getattr(module, name), type)
}
_HASH, _GETATTR, _DEFAULT_RNG = builtins.hash, builtins.getattr, np.random.default_rng

#: Python's own functions that are replaced.
REAL: dict[str, Any] = {name: vars(builtins)[name] for name in ("getattr", "hash", "id")}


class StandIns:
    """Stand-ins that end a run, by stop(signal), where the program learns what is not its business.

    watching: the code of the profile hook; what that calls is not the program's doing.
    """

    def __init__(
        self, whose: Whose, stop: Callable[[BaseException], Any], watching: types.CodeType
    ) -> None:
        self._whose, self._stop, self._watching = whose, stop, watching

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """For the time of one run."""
        vars(builtins).update(hash=self._hash, id=self._id, getattr=self._getattr)
        for module, name in _REPLACED:
            setattr(module, name, partial(self._outside, name))
        np.random.default_rng = self._default_rng
        try:
            with witnessed(self._address):
                yield
        finally:
            vars(builtins).update(REAL)
            for (module, name), function in _REPLACED.items():
                setattr(module, name, function)
            np.random.default_rng = _DEFAULT_RNG

    def _outside(self, name: str, *arguments: Any, **named: Any) -> NoReturn:
        """Stands in for a clock or the system's randomness, however a program gets at it."""
        self._stop(NotEnumerable(f"{name}() may depend on more than its arguments"))
        raise NotEnumerable(name)

    def _default_rng(self, seed: Any = None) -> Any:
        """numpy's default_rng(), which gives back a generator that it is given."""
        if is_generator(seed):
            return seed
        signal = refused("default_rng() makes a generator of its own")
        self._stop(signal)
        raise signal

    def _hash(self, value: Any) -> int:
        """hash(), which for text and addresses is another one in every process."""
        if type(value) is not int and not isinstance(value, LazyNumber) and is_salted(value):
            caller = sys._getframe(1)
            if not self._is_own_work(caller) and not _bookkeeping(caller, "hash"):
                self._stop(NotReproducible("hash() of text is another one in every process"))
        return _HASH(value)

    def _id(self, value: Any) -> Any:
        """id(), which is another one in every run."""
        caller = sys._getframe(1)
        if self._is_own_work(caller):
            return number_of(value)
        if not _bookkeeping(caller, "id"):
            self._stop(NotReproducible("id() is another one in every run"))
        return Identity(value, partial(self._address, caller))

    def _getattr(self, *arguments: Any) -> Any:
        """getattr(), which finds what code does not name."""
        value = _GETATTR(*arguments)
        told = arguments[1] in TOLD
        if told or isinstance(value, types.BuiltinFunctionType):
            caller = sys._getframe(1)
            why = f"{arguments[1]}" if told else impurity(value)
            if why and not self._is_own_work(caller) and not in_library(caller):
                self._stop(refused(f"{why} may depend on more than its arguments"))
        return value

    def _address(self, frame: types.FrameType) -> None:
        """Code has made a text or a number of the address of an object."""
        if not self._is_own_work(frame):
            self._stop(
                NotReproducible(
                    "the program has made a text or a number of where an object is in memory, "
                    "which is elsewhere in every run; give its class a text of its own"
                )
            )

    def _is_own_work(self, frame: types.FrameType | None) -> bool:
        """Whether code is at work for this library, not for the program."""
        if sys.getprofile() is None or self._whose.is_ours(frame):
            return True
        while frame is not None and frame.f_code is not self._watching:
            frame = frame.f_back
        return frame is not None


def refused(reason: str) -> NotEnumerable:
    """The signal for a source of randomness, or of anything else, beside the generator."""
    return NotEnumerable(f"{reason}; draw from the generator that is handed over")


def _bookkeeping(frame: types.FrameType, name: str) -> bool:
    """Whether library code calls a function itself, and is not handed it by the program."""
    return in_library(frame) and name in frame.f_code.co_names
