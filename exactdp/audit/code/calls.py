"""What C functions do beside computing from their arguments."""

from __future__ import annotations

import _random
import enum
import types
from typing import Any

__all__ = ["Effect", "effect_of"]


class Effect(enum.Enum):
    """What a call may do."""

    NONE = "depends on its arguments, and changes nothing"
    CHANGES = "may change its arguments, or what they belong to"
    UNKNOWN = "may have a state of its own"
    OUTSIDE = "reaches outside of the process"
    RANDOM = "draws"


_KNOWN_TEXT = """
_abc _asyncio _bisect _blake2 _codecs _collections _collections_abc _contextvars _csv _datetime
_decimal _functools _hashlib _heapq _io _json _md5 _operator _pickle _sha1 _sha2 _sha256 _sha512
_sre _statistics _string _struct _thread _warnings _weakref array atexit binascii builtins cmath
collections contextvars copyreg datetime decimal errno flint functools gc gmpy2 inspect io itertools
marshal math numpy operator posix re signal sys threading time types unicodedata weakref zlib
"""
#: C functions of these modules depend on their arguments, on what these hold, and on the time.
_KNOWN = frozenset(_KNOWN_TEXT.split())
_OUTSIDE_TEXT = """
_ctypes _multiprocessing _posixshmem _posixsubprocess _socket _sqlite3 _ssl fcntl mmap select
"""
_OUTSIDE = frozenset(_OUTSIDE_TEXT.split())
_REACHING = frozenset(
    [("builtins", "input"), ("builtins", "open"), ("io", "open"), ("_io", "open")]
    + [("_thread", "start_new_thread"), ("_thread", "start_joinable_thread")]
    + [("posix", name) for name in ("open", "read", "pread", "system", "fork", "posix_spawn")]
    + [("_io", name) for name in ("read", "read1", "readline", "readlines", "readinto")]
    + [("sys", "setprofile"), ("sys", "settrace")]
)
#: Modules and types whose functions change nothing, but for those in _CHANGING.
_LASTING = frozenset(["builtins", "math", "cmath", "_operator", "operator", "itertools", "_abc"])
_CHANGING = frozenset(["next", "setattr", "delattr", "exec", "eval", "print", "__import__", "vars"])
_IMMUTABLE = (bool, int, float, complex, str, bytes, tuple, frozenset, range, type(None), type)


def effect_of(owner: Any, function: Any) -> Effect:
    """What a C function may do. owner: its module, or the object whose method it is."""
    name: str = function.__name__
    if isinstance(owner, types.ModuleType):
        module = owner.__name__
    elif isinstance(owner, _random.Random):
        return Effect.RANDOM if name in ("random", "getrandbits", "seed") else Effect.NONE
    else:
        module = (owner if isinstance(owner, type) else type(owner)).__module__
    top = module.partition(".")[0]
    if "rand" in name.lower():
        return Effect.RANDOM
    memory = type(owner).__name__ in ("StringIO", "BytesIO")
    if top in _OUTSIDE or ((top, name) in _REACHING and not memory):
        return Effect.OUTSIDE
    if top not in _KNOWN:
        return Effect.UNKNOWN
    if isinstance(owner, types.ModuleType):
        still = (top in _LASTING and name not in _CHANGING and name[:1] != "i") or name in _QUERIES
        return Effect.NONE if still else Effect.CHANGES
    return Effect.NONE if isinstance(owner, _IMMUTABLE) else Effect.CHANGES


_QUERIES_TEXT = """
id index isclose isfinite isinf isinstance isnan isqrt issubclass iter monotonic perf_counter time
"""
_QUERIES = frozenset(_QUERIES_TEXT.split())
