"""CSH, Definition 2.2: differential privacy, its worst event, and post-processing."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product

from exactdp.proofs_check.claim import require
from exactdp.proofs_check.entries import CSH, varied

__all__ = ["CLAIMS"]

Law = tuple[Fraction, ...]


def _law(*weights: int) -> Law:
    return tuple(Fraction(w, sum(weights)) for w in weights)


_PAIRS = (
    (_law(5, 3, 2), _law(2, 3, 5)),
    (_law(1, 0, 7, 2), _law(3, 1, 4, 2)),
    (_law(1, 1, 1, 1), _law(1, 2, 3, 4)),
)
_FACTORS = (Fraction(1), Fraction(3, 2), Fraction(4))  # e^epsilon


def _worst_event(p: Law, q: Law, factor: Fraction) -> Fraction:
    """max over all sets Y of P(Y) - e^epsilon Q(Y)."""
    sets = product((0, 1), repeat=len(p))
    return max(
        sum((x - factor * y for x, y, kept in zip(p, q, s, strict=True) if kept), Fraction(0))
        for s in sets
    )


def _excess(p: Law, q: Law, factor: Fraction) -> Fraction:
    return sum((max(x - factor * y, Fraction(0)) for x, y in zip(p, q, strict=True)), Fraction(0))


def _total(p: Law, q: Law, factor: Fraction) -> Fraction:
    return sum((abs(x - factor * y) for x, y in zip(p, q, strict=True)), Fraction(0)) / 2


def _is_hockey_stick(formula: Callable[[Law, Law, Fraction], Fraction]) -> str:
    for (p, q), factor in product(_PAIRS, _FACTORS):
        worst, stated = _worst_event(p, q, factor), formula(p, q, factor)
        require(worst == stated, f"p={p}, q={q}, e^eps={factor}: worst event {worst}, not {stated}")
    return f"{len(_PAIRS)} pairs of laws, {len(_FACTORS)} epsilons, every event"


def _image(p: Law, mapping: tuple[int, ...]) -> Law:
    return tuple(
        sum((x for x, to in zip(p, mapping, strict=True) if to == out), Fraction(0))
        for out in range(len(p))
    )


def _post_processing(scale: Fraction) -> str:
    """No map of the outputs, and no mixture of it with the map before it in a list of all, has a
    delta above `scale` times the delta before.
    """
    for (p, q), factor in product(_PAIRS, _FACTORS):
        before = _worst_event(p, q, factor)
        maps = list(product(range(len(p)), repeat=len(p)))
        for last, mapping in zip(maps[-1:] + maps, maps, strict=False):
            for share in (Fraction(0), Fraction(1, 3)):
                after_p, after_q = (
                    _mixed(_image(law, last), _image(law, mapping), share) for law in (p, q)
                )
                after = _worst_event(after_p, after_q, factor)
                case = f"map {mapping}, with chance {share} {last}: {after} > {scale} * {before}"
                require(after <= scale * before, case)
    return "every map of the outputs of 3 pairs of laws, alone and mixed with another, 3 epsilons"


def _mixed(first: Law, second: Law, share: Fraction) -> Law:
    return tuple(share * x + (1 - share) * y for x, y in zip(first, second, strict=True))


CLAIMS = (
    CSH.verified(
        "Definition 2.2",
        "The smallest delta with P(Y) <= e^epsilon Q(Y) + delta for every set Y of "
        "outputs is the sum of (p - e^epsilon q)_+ over the outputs.",
        "enumeration",
        **varied(_is_hockey_stick, _excess, _total, "it is half the sum of |p - e^epsilon q|"),
        note="the text has Y as an element of the output space; it is a measurable subset",
    ),
    CSH.verified(
        "Definition 2.2, post-processing",
        "Applying a map to the outputs, or one of two at random, does not raise delta.",
        "enumeration",
        **varied(
            _post_processing, Fraction(1), Fraction(49, 50), "it lowers delta by at least 2 percent"
        ),
    ),
)
