"""What numpy's generator computes from one uniform double: floats, and geometric()."""

from __future__ import annotations

import operator
from bisect import bisect_left
from collections.abc import Callable
from functools import lru_cache
from math import log
from typing import Any

import numpy as np

from exactdp.audit.code.forced import FORCED
from exactdp.audit.code.functions import through
from exactdp.audit.code.monotone import With

_HALF = 0.5
#: Draws on which a formula is compared with numpy's own answers.
_COMPARED = 64


def uniform(u: Any, low: float, high: float) -> Any:
    """numpy's uniform(low, high), from a uniform double.

    Source: numpy/random/src/distributions/distributions.c, random_uniform.
    """
    width = high - low
    return _line(through(u, With(operator.mul, width), width >= 0), low, 1.0)


def laplace(u: Any, loc: float, scale: float) -> Any:
    """numpy's laplace(loc, scale), from a uniform double > 0. Source: random_laplace."""
    if u >= _HALF:
        return _line(through(through(u, _twice_the_rest, False), log), loc, -scale)
    return _line(through(through(u, _twice), log), loc, scale)


def gumbel(u: Any, loc: float, scale: float) -> Any:
    """numpy's gumbel(loc, scale), from a uniform double > 0. Source: random_gumbel."""
    exponential = through(through(through(u, _rest, False), log), operator.neg, False)
    return _line(through(exponential, log), loc, -scale)


def logistic(u: Any, loc: float, scale: float) -> Any:
    """numpy's logistic(loc, scale), from a uniform double > 0. Source: random_logistic."""
    return _line(through(through(u, _odds), log), loc, scale)


def _line(value: Any, start: float, slope: float) -> Any:
    """start + slope value; products with -slope are those with slope, with the other sign."""
    return through(value, With(_on_line, start, slope), slope >= 0)


def _on_line(value: float, start: float, slope: float) -> float:
    return start + slope * value


def _twice(u: float) -> float:
    return u + u


def _twice_the_rest(u: float) -> float:
    return 2.0 - u - u


def _rest(u: float) -> float:
    return 1.0 - u


def _odds(u: float) -> float:
    return u / (1.0 - u)


@lru_cache(maxsize=1 << 6)
def geometric_sums(p: float) -> list[float] | None:
    """The probabilities of at most 1, 2, ... trials, which numpy's geometric(p) compares with a
    uniform double; None where numpy draws an exponential number instead.

    Source: random_geometric and random_geometric_search.
    """
    if p < 0.333333333333333333333333:
        return None
    sums, product = [p], p
    while len(sums) < 2 or sums[-1] > sums[-2]:  # later sums are no larger: products only fall
        product *= 1.0 - p
        sums.append(sums[-1] + product)
    return sums[:-1]


def trials(k: int, kind: Callable[[int], Any], p: float) -> Any:
    """numpy's geometric(p) for a double k 2^-53."""
    return kind(1 + bisect_left(geometric_sums(p) or (), k * 2.0**-53))


@lru_cache(maxsize=1 << 6)
def is_numpys_geometric(p: float) -> bool:
    """Whether numpy's own geometric(p) changes where the sums say, at each of its changes."""
    sums = geometric_sums(p) or ()
    cuts = [min(int(each * 2.0**53), (1 << 53) - 1) for each in sums]
    places = {k for cut in cuts for k in (cut, cut + 1) if k <= cuts[-1]}
    return all(FORCED.answer("geometric", (p,), k) == trials(k, int, p) for k in places)


def is_numpys(formula: Callable[[Any], Any], name: str, generator: Any, *options: float) -> bool:
    """Whether a formula gives numpy's answers here: a compiler may fuse products and sums."""
    before = generator.bit_generator.state
    doubles = generator.random(_COMPARED)
    generator.bit_generator.state = before
    answers = getattr(generator, name)(*options, _COMPARED)
    return bool(np.array_equal([formula(float(u)) for u in doubles], answers))
