"""exactdp release basic, stability, ...: histograms over numbers or texts (Balcer and Vadhan)."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import click

from exactdp.cli import parameters as opt
from exactdp.cli.elements import element, length_of, text_of
from exactdp.cli.publishing import TABLES, accuracy, table_writer
from exactdp.cli.reading import counts_in, existing, listed
from exactdp.cli.release import Publication, releasing
from exactdp.errors import InvalidParameter
from exactdp.parameters import integer, positive

#: Most rows for the mechanisms with replace-one neighbours, whose fractions grow with n.
_MOST_ROWS = 10_000_000

_LEAST_LOSS = Fraction(1, 10**9)


def _released(
    name: str,
    make: Callable[..., Any],
    data: str,
    target: Path,
    universe: str | None,
    text: str | None,
    public: str | None = None,
    **texts: str | None,
) -> Publication:
    from exactdp import mechanisms
    from exactdp.samplers import SystemSource

    if (universe is None) == (text is None):
        raise click.UsageError("universe must be given, or else text (not both)")
    length = None if text is None else length_of(text)
    size: int | str | None = universe if length is None else 256 ** (length + 1)
    true = {
        element(x, length): integer(f"count of {x}", c, least=0)
        for x, c in counts_in(existing(data))
    }
    if sum(true.values()) > _MOST_ROWS:
        raise InvalidParameter("the sum of counts", sum(true.values()), f"<= {_MOST_ROWS}")
    kept = None if public is None else listed(existing(public, "public"))
    present = {key: value for key, value in texts.items() if value is not None}
    mechanism = make(mechanisms, sum(true.values()), size, **present)
    histogram = mechanism.release(true, SystemSource())
    bits = "varies" if mechanism.bits is None else f"{mechanism.bits} for all data"
    facts = {**accuracy(mechanism), "random bits": bits}
    if name == "compact":
        stored = histogram.of_texts(length)
        size_of = len(stored.coefficients), "coefficients"
        whole = stored.to_bytes()
        return Publication(
            mechanism, histogram.guarantee, size_of, lambda part: part.write_bytes(whole), facts
        )
    rows = [(text_of(x, length), c) for x, c in histogram.items()]
    if kept is not None:  # post-processing: costs no privacy
        rows = [row for row in rows if row[0] in kept]
    elif name in ("sparse", "padded", "fixed-time-sparse"):
        facts["note"] = "some released elements may not occur in the data; see --public"
    write = table_writer(target.suffix, ["element", "count"], rows)
    return Publication(mechanism, histogram.guarantee, (len(rows), "bins"), write, facts)


def _geo(n: int, epsilon: str) -> Any:
    from exactdp.samplers import GeoSample

    return GeoSample(n=n, epsilon=_loss(epsilon))


def _fast(n: int, epsilon: str) -> Any:
    """Noise from a fixed number of random bits, or GeoSample if its table would be too large.

    The report says which by its line "random bits".
    """
    from exactdp.samplers import FastSample

    loss = _loss(epsilon)
    try:
        return FastSample(n=n, epsilon=loss)
    except InvalidParameter:
        return _geo(n, epsilon)


def _loss(text: str) -> Fraction:
    """An epsilon for which the mechanisms' fractions, n times as long, stay small enough."""
    loss = positive("epsilon", text)
    if not _LEAST_LOSS <= loss <= 1 / _LEAST_LOSS:
        raise InvalidParameter("epsilon", text, "between 1e-9 and 1e9")
    return loss


def _stability(m: Any, n: int, universe: Any, epsilon: str, delta: str) -> Any:
    return m.StabilityHistogram.for_target(_fast(n, epsilon), universe, delta)


def _compact(m: Any, n: int, universe: Any, epsilon: str, beta: str = "0.05") -> Any:
    return m.CompactHistogram.of(n=n, epsilon=_loss(epsilon), universe=universe, beta=beta)


def _padded(m: Any, n: int, universe: Any, epsilon: str, length: str | None = None) -> Any:
    bins, loss = None if length is None else integer("length", length, least=1), _loss(epsilon)
    return m.PaddedSparseHistogram.of(n=n, epsilon=loss, universe=universe, length=bins)


_Options = tuple[opt.Option, ...]

#: Command -> required options, further ones, help, maker of the mechanism, options of the example.
_TABLE: dict[str, tuple[_Options, _Options, str, Callable[..., Any], str]] = {
    "basic": (
        (opt.EPSILON,),
        (),
        "Noise on every element of a small universe (Balcer and Vadhan, Algorithm 3).",
        lambda m, n, d, epsilon: m.BasicHistogram(_fast(n, epsilon), d),
        "--epsilon 1 --universe 100 --output out.csv",
    ),
    "stability": (
        (opt.EPSILON, opt.DELTA),
        (),
        "Non-empty bins above a threshold; (epsilon, delta)-DP (Balcer and Vadhan, Theorem 1.3).",
        _stability,
        "--epsilon 1 --delta 1e-6 --text 30 --output out.csv",
    ),
    "sparse": (
        (opt.EPSILON,),
        (opt.PUBLIC,),
        "The heaviest bins; pure DP (Balcer and Vadhan, Theorem 6.6).",
        lambda m, n, d, epsilon: m.PureSparseHistogram(_geo(n, epsilon), d),
        "--epsilon 1 --text 30 --output out.csv",
    ),
    "padded": (
        (opt.EPSILON,),
        (opt.PUBLIC, opt.LENGTH),
        "Bins above a threshold, padded with random ones to a fixed number; pure DP, from a fixed "
        "number of random bits, in time linear in n (after arXiv 2507.17017).",
        _padded,
        "--epsilon 1 --text 30 --output out.csv",
    ),
    "fixed-time-sparse": (
        (opt.EPSILON,),
        (opt.PUBLIC,),
        "The heaviest bins; pure DP, from a fixed number of random bits (Balcer and Vadhan, "
        "Algorithm 8). Quadratic in n and in the length of texts, so for few rows and small "
        "universes only; padded has no such limit.",
        lambda m, n, d, epsilon: m.FixedTimeSparseHistogram(_geo(n, epsilon), d),
        "--epsilon 1 --universe 1000 --output out.csv",
    ),
    "compact": (
        (opt.EPSILON,),
        (opt.BETA,),
        "A hash function that answers every query; pure DP (Balcer and Vadhan, Algorithm 9). 10^4 "
        "different texts take 15 seconds and 0.5 GB; 10^5 take more than ten times as much of "
        "both. Equal rows cost little.",
        _compact,
        "--epsilon 1 --text 30 --output out.edph",
    ),
}
for _name, (_required, _optional, _text, _make, _example) in _TABLE.items():
    releasing(
        _name,
        _required,
        (opt.UNIVERSE, opt.TEXT, *_optional),
        _text,
        f"COUNTS.csv {_example}",
        *((".edph",) if _name == "compact" else TABLES),
    )(partial(_released, _name, _make))
