"""Work of this library's own in the middle of a watched run, which nobody needs to watch."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

__all__ = ["unwatched"]

P = ParamSpec("P")
T = TypeVar("T")


def unwatched(function: Callable[P, T]) -> Callable[P, T]:
    """The function without a profile hook; it may not call anything of the program's."""

    @wraps(function)
    def alone(*arguments: P.args, **named: P.kwargs) -> T:
        before = sys.getprofile()
        sys.setprofile(None)
        try:
            return function(*arguments, **named)
        finally:
            sys.setprofile(before)

    return alone
