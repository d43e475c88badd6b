"""From noisy counters to the frame that is released, and the errors of its values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from exactdp.frames.cells import Cells
from exactdp.frames.engines import same_kind
from exactdp.frames.question import Question
from exactdp.frames.values import Value, noises_of
from exactdp.mechanisms import NoisyCounts
from exactdp.samplers import Source


def without_base(noisy_counts: NoisyCounts) -> tuple[Fraction, NoisyCounts]:
    """The base (the first counter of TopKWithBase), and the other counters."""
    base = Fraction(noisy_counts.numerators[0], noisy_counts.denominator)
    rest = noisy_counts.elements[1:], noisy_counts.numerators[1:]
    return base, NoisyCounts(*rest, noisy_counts.denominator)


def largest_counts(noisy_counts: NoisyCounts, top: int | None) -> NoisyCounts:
    """The `top` largest noisy counts, or all of them; equal counts in the order of keys."""
    if top is None or len(noisy_counts.elements) <= top:
        return noisy_counts
    order = sorted(range(len(noisy_counts.elements)), key=lambda i: -noisy_counts.numerators[i])
    kept = sorted(order[:top])
    columns = (noisy_counts.elements, noisy_counts.numerators, *noisy_counts.sums)
    elements, numerators, *sums = ([column[i] for i in kept] for column in columns)
    return NoisyCounts(elements, numerators, noisy_counts.denominator, sums)


def quantiles_of_keys(
    question: Question,
    mechanism: Any,
    cells: Mapping[str, Cells],
    keys: Sequence[Any],
    source: Source,
) -> list[list[float]]:
    """The columns of quantiles of released keys."""
    columns = []
    for name, each in question.quantiles.items():
        values = cells[name].of_keys(keys)
        for column in each.columns(name):
            draw = mechanism.columns[column].draw
            columns.append([each.released(draw(values[key], source)) for key in keys])
    return columns


def as_frame(
    question: Question,
    columns: Mapping[str, str],
    noisy_counts: NoisyCounts,
    quantiles: Sequence[list[float]],
) -> Any:
    """The released counters as a frame of the same kind as the question's."""
    # multiples of 1/2 below 2^52 are exact in floats, larger numbers are rounded
    halves = noisy_counts.denominator == 2
    counts = [n / 2 for n in noisy_counts.numerators] if halves else list(noisy_counts.numerators)
    values: list[list[float]] = []
    for value, rows in totals_of(question.values, noisy_counts):
        released = list(map(value.released, rows, noisy_counts.numerators))
        values += (
            map(list, zip(*released, strict=True)) if released else ([] for _ in value.columns(""))
        )
    types = {**columns, **({"count": "Float64"} if halves else {})}
    cells = [*question.columns_of(noisy_counts.elements), counts, *values, *quantiles]
    return same_kind(question.frame, list(types), list(types.values()), cells)


def totals_of(
    values: Mapping[str, Value], noisy_counts: NoisyCounts
) -> Iterator[tuple[Value, list[tuple[int, ...]]]]:
    """Each value, with its noisy totals for every key."""
    place = 0
    for name, value in values.items():
        width = len(value.totals(name))
        yield value, list(zip(*noisy_counts.sums[place : place + width], strict=True))
        place += width


def errors_of(
    values: Mapping[str, Value], mechanism: Any, noisy_counts: NoisyCounts
) -> dict[str, tuple[float, ...]]:
    """The errors of released sums and means by noise."""
    noises = noises_of(values, mechanism)
    errors: dict[str, tuple[float, ...]] = {}
    for name, (value, rows) in zip(values, totals_of(values, noisy_counts), strict=True):
        of_keys = [
            value.errors(name, row, count, noises[name])
            for row, count in zip(rows, noisy_counts.numerators, strict=True)
        ]
        columns = of_keys[0] if of_keys else (name,)
        errors |= {column: tuple(each[column] for each in of_keys) for column in columns}
    return errors
