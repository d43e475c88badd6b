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
import gc
import hashlib
import inspect
import random
import sys
import threading
import traceback
import types
import warnings
import weakref
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterator
from operator import attrgetter, itemgetter, methodcaller
from typing import Any

import flint
import numpy as np

from exactdp.audit.whitebox.atoms import is_library
from exactdp.audit.whitebox.kinship import is_generator_type
from exactdp.audit.whitebox.plainness import written_in_python
from exactdp.audit.whitebox.uniform import NotEnumerable

__all__ = ["held_by", "members"]

_attribute = getattr  # as it is when no program runs
_TUPLE_FIELD = type(vars(namedtuple("_Pair", "left"))["left"])
#: Without state of their own that Python code can change.
_OPAQUE = (
    *(types.WrapperDescriptorType, types.MethodDescriptorType, types.GetSetDescriptorType),
    *(types.MemberDescriptorType, types.ClassMethodDescriptorType, _TUPLE_FIELD),
)
#: C types whose attributes in C are all that they hold, or are what they hold beside the rest.
_SHOWING = (BaseException, defaultdict, slice, property, classmethod, staticmethod)


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
    if written_in_python(kind) and not is_library(kind):
        yield kind


def _attributes(thing: Any) -> dict[str, Any]:
    """The attributes of an instance, whatever it says of them."""
    found = [vars(base)["__dict__"] for base in type(thing).__mro__ if "__dict__" in vars(base)]
    if not all(isinstance(each, _DESCRIPTORS) for each in found):
        raise NotEnumerable(f"a {type(thing).__qualname__} hides its attributes")
    own: dict[str, Any] = found[0].__get__(thing) if found else {}
    return {name: x for name, x in own.items() if name != "_ufunc" or not _is_made_once(thing)}


_DESCRIPTORS = (types.GetSetDescriptorType, types.MemberDescriptorType)


def _is_made_once(thing: Any) -> bool:
    """Whether a function of numpy keeps nothing but the ufuncs that it is made of."""
    made = vars(thing)["_ufunc"] if type(thing) is np.vectorize else ...
    return made is None or (type(made) is dict and all(type(x) is np.ufunc for x in made.values()))


def members(thing: Any) -> Iterator[Any]:
    """What an instance holds in slots, or an exception in attributes of C."""
    for base in type(thing).__mro__:
        if not (base.__flags__ & _HEAP_TYPE or issubclass(base, _SHOWING)):
            continue
        for name, member in vars(base).items():
            if isinstance(member, types.MemberDescriptorType) and name != "__dict__":
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


def _of_view(thing: Any) -> Iterator[Any]:
    """Of a view on memory, and what it is a view on."""
    try:
        yield from (thing.format, thing.shape, thing.strides, thing.tobytes(), thing.obj)
    except ValueError:
        yield "released"


def _of_alias(thing: Any) -> Iterator[Any]:
    """A type of several, list[int] say."""
    parts = getattr(thing, "__origin__", None), *thing.__args__
    yield [str(part) if is_generator_type(part) else part for part in parts]


def _of_variable(thing: Any) -> Iterator[Any]:
    """A variable of a context: what it is set to, its name and its default."""
    yield from (thing.get(None), gc.get_referents(thing))


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
    yield [line for _, line in traceback.walk_tb(thing.__traceback__)]
    yield getattr(thing, "characters_written", None)  # where C keeps it


def _of_mapping(thing: Any) -> Iterator[Any]:
    yield from (part for pair in dict.items(thing) for part in pair)
    if isinstance(thing, OrderedDict):
        yield list(OrderedDict.__iter__(thing))  # its own order, in which not all may be


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
    bytearray: lambda x: iter([bytes(x)]),
    memoryview: _of_view,
    **{kind: lambda x: iter(x.__reduce__()) for kind in (itemgetter, attrgetter, methodcaller)},
    dict: _of_mapping,
    types.MappingProxyType: lambda x: iter(gc.get_referents(x)),
    datetime.tzinfo: lambda x: iter(()),
    array.array: lambda x: iter((x.typecode, x.tobytes())),
    contextvars.ContextVar: _of_variable,
    contextvars.Token: lambda x: iter([x.var, x.old_value]),
    random.SystemRandom: lambda x: iter(()),
    random.Random: lambda x: iter([_digest(repr(x.getstate()).encode())]),
    types.GeneratorType: _of_generator,
    **dict.fromkeys((types.UnionType, types.GenericAlias), _of_alias),
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
    np.broadcast: lambda x: iter((x.index, x.iters)),
    np.random.Generator: lambda x: iter([x.bit_generator]),
    np.random.RandomState: lambda x: iter([x._bit_generator]),
    np.random.BitGenerator: lambda x: iter([x.state]),
    np.random.SeedSequence: lambda x: iter([x.state]),
}
