"""ALP, Lemma 5.6: Algorithm 9 is (epsilon, delta)-differentially private."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import product

from exactdp.accounting.divergence import hockey_stick, max_loss, total_variation
from exactdp.law import Law
from exactdp.mechanisms.projections.thresholds import ApproximateThreshold, Stored
from exactdp.proofs_check.claim import Printed, Quibble, require
from exactdp.proofs_check.claims.alp._threshold import (
    Vector,
    distance,
    power,
    rounded_law,
)
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]

_BASE = Fraction(9, 4)  # e^epsilon
_DELTA = Fraction(4, 9)  # then t = ln(1/delta)/epsilon + 2 = 3
_T = Fraction(3)
_SMALL = tuple(Fraction(n, 4) for n in range(5))
_GRID = (*_SMALL, Fraction(3, 2), Fraction(2))
_PAIRS = tuple(
    (x, other)
    for x in product(_GRID, repeat=2)
    for other in product(_GRID, repeat=2)
    if distance(x, other) <= 1
)


def _private(share: Fraction, t: Fraction = _T) -> str:
    """delta at e^epsilon of all neighbours on the grid is <= share * delta."""
    inside = {x for x in product(_GRID, repeat=2) if max(x) <= t}  # where the model is exact
    laws = {x: rounded_law(x, t, _BASE) for x in inside}
    pairs = [(x, other) for x, other in _PAIRS if {x, other} <= inside]
    for x, other in pairs:
        exact = hockey_stick(laws[x], laws[other], e_epsilon=_BASE).lower
        require(exact <= share * _DELTA, f"{x} against {other}: delta {exact}")
    return f"{len(pairs)} pairs, two entries, e^epsilon = 9/4, delta = 4/9, t = {t}"


def _exact(share: Fraction) -> str:
    """delta/(2 e^eps) at t, and delta/2 one below, times the share."""
    found = _private(share / (2 * _BASE)), _private(share / 2, _T - 1)
    return " and ".join(found)


@cache
def _shipped_law(made: ApproximateThreshold, x: Vector) -> Law[Stored]:
    return made.law(dict(enumerate(x)))


def _shipped(share: Fraction) -> str:
    """The shipped algorithm on a grid, entries above the threshold 3 included."""
    pairs = 0
    for d, values in (
        (1, [Fraction(n, 2) for n in range(9)]),
        (2, [Fraction(n) for n in (0, 1, 3)]),
    ):
        made = ApproximateThreshold(d=d, k=d, u=4, epsilon=1, grid=1, delta=Fraction(1, 4))
        promise = made.guarantee()
        laws = {x: _shipped_law(made, x) for x in product(values, repeat=d)}
        for x, other in product(laws, repeat=2):
            if 0 < distance(x, other) <= 1:
                pairs += 1
                found = hockey_stick(laws[x], laws[other], e_epsilon=promise.e_epsilon).upper
                case = f"{_text(x)} against {_text(other)}: delta {float(found)}"
                require(found <= share * promise.delta.lower, case)
    return f"{pairs} pairs of one or two entries up to u = 4"


def _hats(x: Vector, other: Vector, raised: bool) -> tuple[Vector, Vector]:
    """The two intermediate vectors of the proof."""
    one = Fraction(1)
    first = tuple(min(one, b) if a <= 1 else a for a, b in zip(x, other, strict=True))
    second = tuple(one if b < 1 < a and raised else b for a, b in zip(x, other, strict=True))
    return first, second


def _intermediate(raised: bool) -> str:
    for x, other in _PAIRS:
        first, second = _hats(x, other, raised)
        vectors = (x, first, second, other)
        for a, b in product(vectors, repeat=2):
            require(distance(a, b) <= 1, f"{x}, {other}: distance of {a} and {b}")
        for pair in ((x, first), (other, second)):
            low = all(a == b or max(a, b) <= 1 for a, b in zip(*pair, strict=True))
            require(low, f"{x}, {other}: {pair} differ above 1")
        high = all(a == b or min(a, b) >= 1 for a, b in zip(first, second, strict=True))
        require(high, f"{x}, {other}: {first} and {second} differ below 1")
    return f"{len(_PAIRS)} pairs"


def _small_entry(shift: int) -> str:
    """P(stored) = x delta/(2 e^eps) for x <= 1."""
    for halves, x in product(range(1, 6), _SMALL):
        delta = power(_BASE, Fraction(-halves, 2))
        t = Fraction(halves, 2) + 1 + shift
        chance = rounded_law((x,), t, _BASE)[(1,)]
        require(chance == x * delta / (2 * _BASE), f"delta={delta}, x={x}: {chance}")
    return "25 cases, e^epsilon = 9/4"


def _variation(share: Fraction) -> str:
    """Vectors with entries <= 1: total variation <= distance * delta/(2 e^eps)."""
    vectors = list(product(_SMALL, repeat=2))
    laws = {x: rounded_law(x, _T, _BASE) for x in vectors}
    for x, other in product(vectors, repeat=2):
        exact = total_variation(laws[x], laws[other]).lower
        bound = share * distance(x, other) * _DELTA / (2 * _BASE)
        require(exact <= bound, f"{x} against {other}: {exact}")
    return "625 pairs of vectors with entries at most 1"


def _text(x: Vector) -> str:
    return "(" + ", ".join(map(str, x)) + ")"


def _chain(target: Callable[[Vector, Vector, Vector], Vector]) -> str:
    """P(T(x^) in S) <= e^eps P(T(target) in S) for every S."""
    for x, other in _PAIRS:
        first, second = _hats(x, other, True)
        against = target(x, first, second)
        ratio = max_loss(rounded_law(first, _T, _BASE), rounded_law(against, _T, _BASE))
        case = f"x={_text(x)}, x'={_text(other)}: x^={_text(first)} against {_text(against)}"
        require(ratio <= _BASE, f"{case}: ratio {ratio}")
    return f"{len(_PAIRS)} pairs"


def _sum(two: int) -> str:
    """delta/(two e^eps) (1 + e^eps) <= delta: (1 + b)/(two b) falls in b, so b = 1 decides."""
    import sympy as sp

    b = sp.symbols("b", positive=True)
    share = (1 + b) / (two * b)
    require(sp.simplify(sp.diff(share, b) * two * b**2) == -1, "it does not fall")
    most = share.subs(b, 1)
    require(most <= 1, f"e^eps = 1: {most} delta")
    return "falls from 1 at e^eps = 1"


CLAIMS = (
    ALP.verified(
        "Lemma 5.6",
        "Algorithm 9 is (epsilon, delta)-differentially private; on the grid at most 0.23 delta is "
        "reached.",
        "enumeration",
        **varied(_private, Fraction(23, 100), Fraction(22, 100), "at most 0.22 delta"),
        note="The share of delta that is needed is 1/(2 e^epsilon), see the next entry.",
    ),
    ALP.verified(
        "Lemma 5.6, exact delta",
        "On the grid delta/(2 e^epsilon) suffices; and with t = ln(1/delta)/epsilon + 1 delta/2.",
        "enumeration",
        **varied(_exact, Fraction(1), Fraction(49, 50), "0.98 times that"),
        ours=True,
    ),
    ALP.verified(
        "Lemma 5.6, shipped code",
        "Algorithm 9 as shipped, on a grid, keeps the delta of its guarantee for entries on both "
        "sides of the threshold.",
        "exact law",
        **varied(_shipped, Fraction(1), Fraction(19, 20), "0.95 times that delta"),
        ours=True,
    ),
    ALP.verified(
        "Lemma 5.6, proof, intermediate vectors",
        "x and x^, and x' and x^', differ in entries up to 1 only, x^ and x^' in entries from 1 "
        "on; all distances stay at most 1.",
        "enumeration",
        **varied(_intermediate, True, False, "x^' is x' itself"),
    ),
    ALP.verified(
        "Lemma 5.6, proof, small entries",
        "An entry x_i <= 1 is stored with probability x_i e^(-(t - 1) epsilon)/2 = x_i delta/(2 "
        "e^epsilon).",
        "enumeration",
        **varied(_small_entry, 1, 0, "t = ln(1/delta)/epsilon + 1"),
    ),
    ALP.verified(
        "Lemma 5.6, proof, distance of small entries",
        "For entries up to 1, probabilities differ by at most |x^ - x|_1 delta/(2 e^epsilon).",
        "enumeration",
        **varied(_variation, Fraction(1), Fraction(49, 50), "0.98 times that"),
    ),
    Quibble(
        paper="ALP",
        item="Lemma 5.6, proof, pure step",
        statement="P(Threshold2(x^) in S) <= ... <= e^epsilon P(Threshold2(x) in S).",
        printed=Printed(
            r"\leq e^\varepsilon \cdot \Pr[\text{Threshold2}(x) \in S] .",
            "Section 5.1, Lemma 5.6, proof, fourth display",
            569,
        ),
        method="enumeration",
        check=lambda: _chain(lambda x, first, second: x),
        example="""
>>> from math import exp, log
>>> eps, delta, x, other = 1, 0.01, 0, 1              # one entry
>>> x_hat = min(1, other)                             # = 1, since x <= 1
>>> t = log(1 / delta) / eps + 2
>>> stored = {0: 0, 1: exp(-eps * (t - 1)) / 2}       # a zero entry is never stored
>>> stored[x_hat] <= exp(eps) * stored[x]
False
""",
        extraction="possible, a hat and a prime; the display after it uses x^' correctly",
        corrected=ALP.verified(
            "Lemma 5.6, proof, pure step, corrected",
            "P(Threshold2(x^) in S) <= e^epsilon P(Threshold2(x^') in S).",
            "enumeration",
            **varied(
                _chain,
                lambda x, first, second: second,
                lambda x, first, second: x,
                "with x in place of x^'",
            ),
        ),
    ),
    ALP.proved(
        "Lemma 5.6, proof, last display",
        "e^epsilon delta/(2 e^epsilon) + delta/(2 e^epsilon) <= delta.",
        "symbolic",
        **varied(_sum, 2, 1, "without the factor 2"),
    ),
)
