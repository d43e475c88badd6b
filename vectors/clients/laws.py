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
from exactdp.samplers import Source, exact_law
from vectors.clients.stand_ins import STAND_INS


def client_law(client: Callable[[], Any], modules: Sequence[Any]) -> Law[Any]:
    """The law of a client's report, as tuples and Python numbers.

    modules: those of the client's library that draw random numbers, through the names random, np or
    numpy. Compiled functions in them are replaced by their Python source.
    """

    def program(source: Source) -> Any:
        with _replaced(modules, source):
            return plain(client())

    return exact_law(program, residual=0, progress=False)


@contextmanager
def _replaced(modules: Sequence[Any], source: Source) -> Iterator[None]:
    before = [
        (module, name, value, after)
        for module in modules
        for name, value in list(vars(module).items())
        if (after := _stand_in(name, value, source)) is not None
    ]
    for module, name, _, after in before:
        setattr(module, name, after)
    try:
        yield
    finally:
        for module, name, value, _ in before:
            setattr(module, name, value)


def _stand_in(name: str, value: Any, source: Source) -> Any:
    """The object that replaces a module's name; None where the name keeps its value."""
    if name in STAND_INS:
        return STAND_INS[name](source)
    return getattr(value, "py_func", None)  # of a compiled function, what it was compiled from


def plain(report: Any) -> Any:
    """The report with arrays and lists as tuples, and with Python numbers for numpy's."""
    if isinstance(report, np.ndarray | list | tuple | zip):
        return tuple(plain(part) for part in report)
    return report.item() if isinstance(report, np.generic) else report


@dataclass(frozen=True)
class Loss:
    """The privacy loss of a client. ratio: the exact e^epsilon; None where it is infinite.

    report, values: a report with this ratio, and the indices of the two values with this ratio.
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
