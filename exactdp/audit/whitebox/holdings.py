"""What an instance holds: containers, objects of classes written in Python, those of numpy, and the
few C types that show their state.

An instance is what its type says, not its __class__, and holds what C finds in it, not what its own
methods show.
"""

from __future__ import annotations

import array
import contextvars
import datetime
import decimal
import functools
import gc
import hashlib
import inspect
import random
import re
import sys
import threading
import traceback
import types
import warnings
import weakref
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterator
from fractions import Fraction
from operator import attrgetter, itemgetter, methodcaller
from typing import Any

import flint
import gmpy2
import numpy as np

from exactdp.audit.whitebox.plainness import written_in_python
from exactdp.audit.whitebox.uniform import NotEnumerable

__all__ = ["held_by", "is_atom", "members", "trusted"]

_ATOMS = (
    *(type(None), bool, int, float, complex, str, bytes, Fraction, decimal.Decimal, range),
    *(type(...), type(NotImplemented), datetime.date, datetime.time, datetime.timedelta),
    *(datetime.tzinfo, re.Pattern, types.CodeType, np.generic),
    *(flint.fmpz, flint.fmpq, flint.nmod, flint.fmpz_poly, flint.fmpq_poly, flint.fmpz_mat),
    *(gmpy2.mpz, gmpy2.mpq, gmpy2.mpfr, gmpy2.mpc, gmpy2.xmpz),
)
_attribute = getattr  # as it is when no program runs
_TUPLE_FIELD = type(vars(namedtuple("_Pair", "left"))["left"])
#: Without state of their own that Python code can change.
_OPAQUE = (
    *(types.WrapperDescriptorType, types.MethodDescriptorType, types.GetSetDescriptorType),
    *(types.MemberDescriptorType, types.ClassMethodDescriptorType, _TUPLE_FIELD),
)
#: C types whose attributes in C are all that they hold, or are what they hold beside the rest.
_SHOWING = (BaseException, defaultdict, slice, property, classmethod, staticmethod)
_TRUSTED = frozenset({"exactdp", "flint", "gmpy2", "numpy", "scipy"})
_STANDARD = frozenset(sys.stdlib_module_names) - {"__main__"}


def trusted(module: str) -> bool:
    """Libraries whose own state does not carry answers from one call to the next."""
    top = module.partition(".")[0]
    return top in _TRUSTED or top in _STANDARD


@functools.lru_cache(maxsize=1 << 12)
def is_atom(kind: type) -> bool:
    """Whether instances of a type are told apart by what is written of them, attributes aside."""
    return issubclass(kind, _ATOMS) and trusted(kind.__module__)


def held_by(thing: Any) -> Iterator[Any]:
    """What an instance holds, in an order that does not change by itself."""
    kind = type(thing)
    if issubclass(kind, _OPAQUE):
        return
    if thing is sys.stdout or thing is sys.stderr:
        return  # what programs write there is not read
    own = next((show for base in kind.__mro__ if (show := _SHOWN.get(base))), None)
    if own is not None:
        yield from own(thing)
    elif issubclass(kind, _SHOWING):
        pass
    elif hasattr(kind, "__next__"):
        yield _rest(thing)
    elif not written_in_python(kind):
        raise NotEnumerable(
            f"the program reaches a {kind.__module__}.{kind.__qualname__}, and "
            "whether that keeps something from run to run cannot be seen"
        )
    yield from (part for pair in _attributes(thing).items() for part in pair)
    yield from members(thing)
    if written_in_python(kind) and not trusted(kind.__module__):
        yield kind


def _attributes(thing: Any) -> dict[str, Any]:
    """The attributes of an instance, whatever it says of them."""
    found = [vars(base)["__dict__"] for base in type(thing).__mro__ if "__dict__" in vars(base)]
    if not all(isinstance(each, _DESCRIPTORS) for each in found):
        raise NotEnumerable(f"a {type(thing).__qualname__} hides its attributes")
    own: dict[str, Any] = found[0].__get__(thing) if found else {}
    return {name: x for name, x in own.items() if name not in _CACHES.get(type(thing), ())}


_DESCRIPTORS = (types.GetSetDescriptorType, types.MemberDescriptorType)
_CACHES = {np.vectorize: ("_ufunc",)}


def members(thing: Any) -> Iterator[Any]:
    """What an instance holds in slots, or an exception in attributes of C."""
    for base in type(thing).__mro__:
        if not (base.__flags__ & _HEAP_TYPE or issubclass(base, _SHOWING)):
            continue
        for name, member in vars(base).items():
            if isinstance(member, types.MemberDescriptorType) and not name.startswith("__"):
                yield _member(member, thing)


_HEAP_TYPE = 1 << 9
_UNSET = "not set"


def _member(member: types.MemberDescriptorType, thing: Any) -> Any:
    try:
        return member.__get__(thing)
    except AttributeError:
        return _UNSET


def _of_array(thing: Any) -> Iterator[Any]:
    content = thing.tolist() if thing.dtype.hasobject else _digest(thing.tobytes())
    yield from (thing.dtype, thing.shape, thing.strides, thing.flags.num, content, thing.base)


def _of_dtype(thing: Any) -> Iterator[Any]:
    yield from (repr(thing), thing.metadata, thing.fields and dict(thing.fields), thing.subdtype)


def _of_flat(thing: Any) -> Iterator[Any]:
    yield from (thing.index, thing.base)


def _of_ball(thing: Any) -> Iterator[Any]:
    for part in (thing.mid(), thing.rad()):
        yield from part.man_exp() if part.is_finite() else [repr(part)]


def _of_ufunc(thing: Any) -> Iterator[Any]:
    """The function that numpy.frompyfunc was given."""
    yield [part for part in gc.get_referents(thing) if callable(part)]


def _of_generator(thing: Any) -> Iterator[Any]:
    if (state := inspect.getgeneratorstate(thing)) not in ("GEN_CREATED", "GEN_CLOSED"):
        raise NotEnumerable("where a generator stands cannot be seen")
    yield state


def _of_error(thing: Any) -> Iterator[Any]:
    yield from (thing.args, thing.__cause__, thing.__context__)
    yield len(list(traceback.walk_tb(thing.__traceback__)))


def _of_mapping(thing: Any) -> Iterator[Any]:
    items = OrderedDict.items if isinstance(thing, OrderedDict) else dict.items
    yield from (part for pair in items(thing) for part in pair)


def _of_plain(kind: Any) -> Callable[[Any], Iterator[Any]]:
    """Of numbers and texts of a subclass, as their plain type would be written."""

    def shown(thing: Any) -> Iterator[Any]:
        yield kind.__repr__(thing)

    return shown


def _rest(iterator: Any) -> Any:
    """Where an iterator written in C stands, by what it would be pickled as."""
    if type(iterator).__module__ in ("builtins", "itertools"):
        try:
            with warnings.catch_warnings():
                # Python 3.14 takes it away from itertools: then such an iterator is refused
                warnings.simplefilter("ignore", DeprecationWarning)
                return iterator.__reduce__()
        except TypeError:
            pass
    raise NotEnumerable(f"where a {type(iterator).__name__} stands cannot be seen")


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=16).digest()


#: How instances of a type, and of those below it, show what they hold beside their attributes.
_SHOWN: dict[type, Callable[[Any], Iterator[Any]]] = {
    **{kind: _of_plain(kind) for kind in (str, int, float, bytes, complex, decimal.Decimal)},
    **{kind: kind.__iter__ for kind in (list, tuple, deque)},
    **{kind: kind.__iter__ for kind in (set, frozenset)},  # in an order that is kept, too
    **{kind: lambda x: iter((type(x).__name__, bytes(x))) for kind in (bytearray, memoryview)},
    **{kind: lambda x: iter(x.__reduce__()) for kind in (itemgetter, attrgetter, methodcaller)},
    dict: _of_mapping,
    types.MappingProxyType: lambda x: iter([dict(x)]),
    array.array: lambda x: iter((x.typecode, x.tobytes())),
    contextvars.ContextVar: lambda x: iter([x.get(None)]),
    contextvars.Token: lambda x: iter([x.var, x.old_value]),
    random.Random: lambda x: iter([_digest(repr(x.getstate()).encode())]),
    types.GeneratorType: _of_generator,
    **{kind: lambda x: iter([repr(x)]) for kind in (types.UnionType, types.GenericAlias)},
    BaseException: _of_error,
    types.SimpleNamespace: lambda x: iter(()),
    threading.local: lambda x: iter([threading.local.__getattribute__(x, "__dict__")]),
    weakref.ref: lambda x: iter([x(), x.__callback__]),
    types.CellType: lambda x: iter(["empty"]),
    np.ndarray: _of_array,
    np.dtype: _of_dtype,
    flint.arb: _of_ball,
    type(flint.ctx): lambda x: iter([repr(x)]),
    flint.acb: lambda x: iter([x.real, x.imag]),
    np.ufunc: _of_ufunc,
    type(np.argmax): lambda x: iter(()),
    np.flatiter: _of_flat,
    np.broadcast: lambda x: iter([x.index]),
    np.random.Generator: lambda x: iter([x.bit_generator]),
    np.random.RandomState: lambda x: iter([x._bit_generator]),
    np.random.BitGenerator: lambda x: iter([x.state]),
    np.random.SeedSequence: lambda x: iter([x.state]),
}
