"""Where the floats that suggest where to look overflow, a question is undecided."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from exactdp.errors import ExactDPError, Undecided

_Parameters = ParamSpec("_Parameters")
_Answer = TypeVar("_Answer")


def followed(question: Callable[_Parameters, _Answer]) -> Callable[_Parameters, _Answer]:
    """The same question; raises Undecided where a number on the way does not fit into a float."""

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
