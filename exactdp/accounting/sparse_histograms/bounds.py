"""Numbers of counters that papers call k. Each has its own name here, and `k` means the first.

A bound on what one user contributes says nothing about the number of counters in the whole
histogram: with many users, ten million counters are non-zero although every user has ten.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import Field
from functools import wraps
from typing import Any, ClassVar, ParamSpec, Self, TypeVar

from exactdp.errors import InvalidParameter

#: Parameter -> what it bounds.
BOUNDS = {
    "k": "contributions, the largest number of counters to which one user contributes",
    "sparsity": "sparsity, the largest number of non-zero counters of the whole histogram",
    "keys": "keys, the number of keys of the public list",
    "top": "top, the number of largest counters that are released",
}

_P = ParamSpec("_P")
_Answer = TypeVar("_Answer")


def refuse_k(arguments: Mapping[str, object], *takes: str) -> None:
    """Raise InvalidParameter if k is among the arguments of a function that takes another bound.

    takes: the names of the bounds that the function takes.
    """
    if "k" in arguments:
        readings = "; or ".join(BOUNDS[name] for name in takes)
        meant = "" if "k" in takes else f" (k stands for {BOUNDS['k']})"
        raise InvalidParameter("k", arguments["k"], f"left out here: give {readings}{meant}")


def without_k(function: Callable[_P, _Answer]) -> Callable[_P, _Answer]:
    """The function of another bound, which refuses k by :func:`refuse_k`."""
    takes = [name for name in BOUNDS if name in inspect.signature(function).parameters]

    @wraps(function)
    def checked(*args: _P.args, **kwargs: _P.kwargs) -> _Answer:
        refuse_k(kwargs, *takes)
        return function(*args, **kwargs)

    return checked


class RefusesK:
    """A base of frozen dataclasses with another bound: k among their arguments is refused."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __new__(cls, *_: Any, **parameters: Any) -> Self:
        """The object before its fields are set. Raises InvalidParameter for k."""
        refuse_k(parameters, *(name for name in BOUNDS if name in cls.__dataclass_fields__))
        return super().__new__(cls)
