"""State of the process that a law may depend on, whatever a program can reach."""

from __future__ import annotations

import _random
import ctypes
import decimal
import random
from abc import get_cache_token
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import gmpy2
import numpy as np

from exactdp.audit.whitebox.generators import ExactRandom
from exactdp.audit.whitebox.identity import number_of
from exactdp.audit.whitebox.numpy_generators import ExactGenerator

__all__ = ["flags_left", "surroundings"]


def surroundings() -> tuple[Any, ...]:
    """State of the process that arithmetic and numpy depend on, and that of our own classes."""
    here = decimal.getcontext()
    context = here.prec, here.rounding, here.Emin, here.Emax, here.capitals, here.clamp, here.traps
    classes = [len(vars(kind)) for kind in (ExactRandom, ExactGenerator)]
    return (
        repr(context),
        np.geterr(),
        np.geterrcall(),
        np.getbufsize(),
        np.get_printoptions(),
        _of_gmpy2(),
        _global_python(),
        _global_numpy(),
        get_cache_token(),
        classes,
    )


@contextmanager
def flags_left(up: bool) -> Iterator[None]:
    """A run with the flags of arithmetic all up, or none: what was calculated before has left them,
    and others calculate other things."""
    decimals, mpfr = decimal.getcontext().flags, gmpy2.get_context()
    before = dict(decimals), {name: getattr(mpfr, name) for name in _FLAGS_OF_GMPY2}
    decimals.update(dict.fromkeys(decimals, up))
    for name in _FLAGS_OF_GMPY2:
        setattr(mpfr, name, up)
    try:
        yield
    finally:
        decimals.update(before[0])
        for name, was in before[1].items():
            setattr(mpfr, name, was)


_FLAGS_OF_GMPY2 = ("underflow", "overflow", "inexact", "invalid", "erange", "divzero")


def _of_gmpy2() -> str:
    """Its context, but for the flags that calculations leave."""
    context = gmpy2.get_context().copy()
    context.clear_flags()
    return repr(context)


def _global_python() -> bytes:
    """The state of Python's own generator, from where it stands: getstate() would take 30 us."""
    head = object.__basicsize__
    here = number_of(random._inst) + head
    return ctypes.string_at(here, _random.Random.__basicsize__ - head)


def _global_numpy() -> Any:
    """The state of numpy's own generator, from where it stands: numpy would take 0.2 ms over it."""
    generator = np.random.mtrand._rand._bit_generator
    if type(generator) is not np.random.MT19937:
        return generator, repr(generator.state)
    return generator, ctypes.string_at(generator.ctypes.state_address, _MT19937)


#: 624 words and a position.
_MT19937 = 4 * 625
