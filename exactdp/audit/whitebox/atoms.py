"""What has no parts of its own that change: numbers, text, dates, compared by what they are."""

from __future__ import annotations

import datetime
import decimal
import functools
import re
import struct
import sys
import types
from collections.abc import Callable, Hashable
from fractions import Fraction
from typing import Any

import flint
import gmpy2
import numpy as np

from exactdp.audit.whitebox.plainness import adds_attributes_only

__all__ = ["is_atom", "is_library", "is_nan", "trusted", "within", "written"]

_ATOMS = (
    *(type(None), bool, int, float, complex, str, bytes, Fraction, decimal.Decimal, range),
    *(type(...), type(NotImplemented), datetime.date, datetime.time, datetime.timedelta),
    *(datetime.tzinfo, re.Pattern, types.CodeType, np.generic),
    *(flint.fmpz, flint.fmpq, flint.nmod, flint.fmpz_poly, flint.fmpq_poly, flint.fmpz_mat),
    *(gmpy2.mpz, gmpy2.mpq, gmpy2.mpfr, gmpy2.mpc, gmpy2.xmpz),
)
_TRUSTED = frozenset({"exactdp", "flint", "gmpy2", "numpy", "scipy"})
_STANDARD = frozenset(sys.stdlib_module_names) - {"__main__"}


def trusted(module: str) -> bool:
    """Libraries whose own state does not carry answers from one call to the next."""
    top = module.partition(".")[0]
    return top in _TRUSTED or top in _STANDARD


def _kept(asked: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """A question about a type with its answers kept."""
    return functools.lru_cache(maxsize=1 << 12)(asked)


@_kept
def is_atom(kind: Any) -> bool:
    """Whether instances of a type are told apart by what they are, attributes aside."""
    return issubclass(kind, _ATOMS) and is_library(kind)


@_kept
def is_library(kind: Any) -> bool:
    """Whether a class is one of such a library, and does not only say so."""
    if not trusted(kind.__module__) or not adds_attributes_only(kind):
        return trusted(kind.__module__)
    found: Any = sys.modules.get(kind.__module__)
    for part in kind.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is kind


def written(atom: Any) -> Hashable:
    """Equal only for atoms of one type that are the same but for what is within.

    What Python writes of a number that is not a number, or of a long pattern, is not all of it.
    """
    if type(atom) is float:
        return struct.pack("<d", atom)
    if type(atom) is int:
        return hex(atom)  # however long
    if isinstance(atom, np.generic):
        # of long floats some bytes mean nothing, of objects they are addresses
        plain = isinstance(atom, (np.longdouble, np.clongdouble)) or atom.dtype.hasobject
        return str(atom.dtype), repr(atom) if plain else atom.tobytes()
    if isinstance(atom, float):
        return struct.pack("<d", atom)
    if isinstance(atom, complex):
        return struct.pack("<dd", atom.real, atom.imag)
    return atom.flags if isinstance(atom, re.Pattern) else repr(atom)


def within(atom: Any) -> tuple[Any, ...]:
    """The parts of an atom that a program may have put there."""
    if isinstance(atom, re.Pattern):
        return (atom.pattern,)
    if isinstance(atom, (datetime.datetime, datetime.time)):
        return (atom.tzinfo,)
    if isinstance(atom, np.void) and atom.dtype.hasobject:
        return (atom.item(),)
    return ()


def is_nan(value: Any) -> bool:
    """Whether a value is a NaN, which equals nothing and is found by where it is."""
    if isinstance(value, decimal.Decimal):
        return value.is_nan()
    return isinstance(value, (float, complex, np.number)) and bool(value != value)
