"""Floats suggest where to look. Where they overflow, nothing is known, and nothing is said."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from exactdp.errors import ExactDPError, Undecided

_Parameters = ParamSpec("_Parameters")
_Answer = TypeVar("_Answer")


def followed(question: Callable[_Parameters, _Answer]) -> Callable[_Parameters, _Answer]:
    """The same question; Undecided where a float has no place for a number on the way."""

    @wraps(question)
    def answer(*args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Answer:
        try:
            return question(*args, **kwargs)
        except ExactDPError:
            raise
        except (ArithmeticError, ValueError) as error:
            raise Undecided(
                "the losses, or the answer, are too large or too small to be followed in floats"
            ) from error

    return answer
