"""The exact law of another library's local client: its own code, followed choice by choice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from exactdp.law import Law
from exactdp.oracle.standins import NumpyStandIn, RandomStandIn
from exactdp.samplers import Source, exact_law

__all__ = ["Loss", "client_law", "loss", "plain"]


def client_law(client: Callable[[], Any], modules: Sequence[Any]) -> Law[Any]:
    """The law of what a client returns, made plain.

    modules: those of its library that draw, through the names random, np or numpy.
    """

    def program(source: Source) -> Any:
        with _replaced(modules, source):
            return plain(client())

    return exact_law(program, residual=0, progress=False)


@contextmanager
def _replaced(modules: Sequence[Any], source: Source) -> Iterator[None]:
    stand_ins = {"random": RandomStandIn, "np": NumpyStandIn, "numpy": NumpyStandIn}
    before = [
        (module, name, getattr(module, name))
        for module in modules
        for name in stand_ins
        if hasattr(module, name)
    ]
    for module, name, _ in before:
        setattr(module, name, stand_ins[name](source))
    try:
        yield
    finally:
        for module, name, value in before:
            setattr(module, name, value)


def plain(report: Any) -> Any:
    """Arrays and lists as tuples, numpy's numbers as Python's."""
    if isinstance(report, np.ndarray | list | tuple | zip):
        return tuple(plain(part) for part in report)
    return report.item() if isinstance(report, np.generic) else report


@dataclass(frozen=True)
class Loss:
    """What a client's reports can tell. ratio: the exact e^epsilon; None where it is infinite.

    report: where it is reached, with the values that it tells apart.
    """

    ratio: Fraction | None
    report: Any
    values: tuple[int, int]


def loss(laws: Sequence[Law[Any]]) -> Loss:
    """The largest ratio of two probabilities of one report, over all pairs of values."""
    worst = Loss(Fraction(1), None, (0, 0))
    for (a, p), (b, q) in product(enumerate(laws), repeat=2):
        for report, chance in p.items():
            if not q[report]:
                return Loss(None, report, (a, b))
            if worst.ratio is not None and chance / q[report] > worst.ratio:
                worst = Loss(chance / q[report], report, (a, b))
    return worst
