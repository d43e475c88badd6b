"""Releases that all take the same time, so that a clock says nothing about the data.

A strict bound of the running time does not prevent timing attacks, but all executions can be padded
to take as long as the bound: a release is kept back until a public time has passed since its start.

Source: Balcer and Vadhan, "Differential Privacy on Finite Computers" (BV), Section 1.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from math import floor
from typing import ParamSpec, TypeVar

from exactdp.parameters import Real, positive

P = ParamSpec("P")
T = TypeVar("T")

#: The end of a wait is counted down by the clock itself: sleeping ends late by about this, in
#: seconds.
_COUNTED = 2e-3


def in_one_time(seconds: Real, release: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Call release with the other arguments; return, or raise its error, after this time.

    seconds: > 0 and public, longer than a release of any data takes, with room for a busy machine.
    A release that takes longer ends at the next multiple of `seconds`; how many multiples that are
    may depend on the data. What else a machine shows (caches, memory, power) is not hidden. Raises
    InvalidParameter.
    Source: BV, Section 1 (padding of executions).

    >>> from exactdp.mechanisms import StabilityHistogram, in_one_time
    >>> from exactdp.samplers import SystemSource
    >>> stable = StabilityHistogram.of(n=100, epsilon=1, universe=2**64, delta="1e-6")
    >>> in_one_time("0.01", stable.release, {17: 100}, SystemSource())[17] > 0
    True
    """
    span, start = float(positive("seconds", seconds)), time.monotonic()
    try:
        return release(*args, **kwargs)
    finally:
        whole = floor((time.monotonic() - start) / span)
        _wait_until(start + (whole + 1) * span)


def _wait_until(moment: float) -> None:
    """Return at this time of the monotonic clock."""
    rest = moment - time.monotonic() - _COUNTED
    if rest > 0:
        time.sleep(rest)
    while time.monotonic() < moment:
        pass
