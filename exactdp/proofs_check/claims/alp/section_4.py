"""ALP, Section 4, running text: balance of alpha, and epsilon as parameter of the response."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product

from exactdp.accounting.divergence import max_loss
from exactdp.balls import ball, precision
from exactdp.law import Law
from exactdp.proofs_check.claim import Printed, Quibble, require
from exactdp.proofs_check.claims.alp._model import (
    estimate_law,
    exp_lower,
    projection_law,
    round_law,
    spread,
)
from exactdp.proofs_check.claims.alp._shipped import literal
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]

_ONE = Fraction(1)


def _unscaled_privacy(scale: Fraction) -> str:
    """No scaling, p = 1/(eps + 2): ratios against e^(scale eps distance)."""
    grid = [Fraction(n, 4) for n in range(7)]
    for eps in (Fraction(1, 10), Fraction(1), Fraction(4)):
        laws = {v: projection_law((v,), ((0,), (0,)), 1, _ONE, 1 / (eps + 2)) for v in grid}
        for v, w in product(grid, repeat=2):
            if 0 < abs(v - w) <= 1:
                ratio = max_loss(laws[v], laws[w])
                limit = exp_lower(scale * eps * abs(v - w))
                require(ratio <= limit, f"eps={eps}, {v} against {w}: {ratio}")
    return "eps = 1/10, 1, 4, entries 0, 1/4, ..., 3/2"


def _unscaled_error(rounding: Fraction) -> str:
    """E|x - x~| <= (8 eps + 8)/eps^2, and rounding more for non-integers; no collisions, m = 4."""
    for eps, x in product(
        (Fraction(2), Fraction(10), Fraction(100), Fraction(1000)), (Fraction(1, 2), Fraction(2))
    ):
        p = 1 / (eps + 2)
        law = round_law(x).then(lambda y: estimate_law(y, 4, p, p))
        error = law.expectation(lambda e: abs(x - e))
        bound = (8 * eps + 8) / eps**2 + (rounding if x.denominator > 1 else 0)
        require(2 * spread(eps) == (8 * eps + 8) / eps**2, "twice the one-sided mean")
        require(
            error <= bound, f"eps={eps}, x={x}: error {float(error):.4f}, stated {float(bound):.4f}"
        )
    return "eps = 2, 10, 100, 1000, x = 1/2, 2, exact laws"


def _other_choices(share: Fraction) -> str:
    """p below 1/(e^eps + 1) is not private; from there on 8 (p - p^2)/(1 - 2p)^2 >= share 8/eps^2.

    The bound rises with p. At p = 1/(e^eps + 1) it is 8/(2 sinh(eps/2))^2, and 2 sinh(eps/2)/eps
    has a power series with positive coefficients: its largest value on (0, 1] is at 1.
    """
    for base in (Fraction(11, 10), Fraction(3, 2), Fraction(27, 10)):
        p = Fraction(99, 100) / (base + 1)
        first, second = (projection_law((v,), ((0,),), 1, _ONE, p) for v in (Fraction(0), _ONE))
        require(max_loss(second, first) > base, f"e^eps={base}, p={p} is private")
        least = 1 / (base + 1)
        choices = [least + (Fraction(1, 2) - least) * Fraction(i, 10) for i in range(10)]
        bounds = [8 * (x - x * x) / (1 - 2 * x) ** 2 for x in choices]
        require(bounds[0] == 8 * base / (base - 1) ** 2, f"e^eps={base}: {bounds[0]}")
        require(bounds == sorted(bounds), f"e^eps={base}: the bound does not rise with p")
    with precision(64):
        half = ball(Fraction(1, 2))
        sinh = half.exp() - (-half).exp()
        factor = 1 / sinh**2
        require(bool(factor >= ball(share)), f"eps=1: the bound is {factor.str(5)} times 8/eps^2")
    return "three e^eps; least factor 0.9206 at eps = 1"


def _balance(scaled: bool) -> str:
    """As alpha grows: the rounding error alpha E|x/alpha - y| grows, E|y - y~| falls.

    scaled: whether alpha E|y - y~| is said to fall, too.
    """
    alphas, found = (Fraction(1), Fraction(2), Fraction(4), Fraction(8)), []
    for alpha in alphas:
        made, x = literal(6 * alpha, alpha), Fraction(5, 2) * alpha
        levels = Law(made.cells.places(x))
        rounding = alpha * levels.expectation(lambda y: abs(x / alpha - y))
        error = estimate_law(3, 6, made.flip, made.flip).expectation(lambda e: abs(3 - e))
        found.append((rounding, made.flip, error * alpha if scaled else error))
    for n, (a, b) in enumerate(pairwise(alphas)):
        first, second = found[n], found[n + 1]
        require(first[0] < second[0] == b / 2, f"rounding: {first[0]} at {a}, {second[0]} at {b}")
        require(first[1] > second[1], f"flip probability: {first[1]} at {a}, {second[1]} at {b}")
        require(first[2] > second[2], f"noise: {first[2]} at {a}, {second[2]} at {b}")
    return "alpha = 1, 2, 4, 8, exact laws of an entry in the middle of 6 columns"


CLAIMS = (
    ALP.verified(
        "Section 4.1, balance of alpha",
        "A smaller alpha lowers the rounding error (alpha/2 at worst) and raises the flip "
        "probability and the error of the estimate in columns.",
        "enumeration",
        **varied(_balance, False, True, "the error of the estimate times alpha, too"),
    ),
    ALP.verified(
        "Section 4.3, flip probability 1/(epsilon + 2)",
        "Without scaling and with p = 1/(epsilon + 2) the projection is epsilon-differentially "
        "private.",
        "enumeration",
        **varied(_unscaled_privacy, Fraction(1), Fraction(97, 100), "0.97 epsilon"),
    ),
    Quibble(
        paper="ALP",
        item="Section 4.3, error of flip probability 1/(epsilon + 2)",
        statement="Without collisions the expected error of that variant is at most (8 epsilon + "
        "8)/epsilon^2.",
        printed=Printed(
            r"the expected per-entry error would be bounded by $(8\varepsilon + "
            r"8)/\varepsilon^2$ by Equation 4.1 (without considering hash collisions)",
            "Section 4.3, first paragraph",
            378,
        ),
        method="enumeration",
        check=lambda: _unscaled_error(Fraction(0)),
        example="""
>>> eps = 100
>>> x = 0.5                       # rounded to 0 or 1; all peaks have the same parity, so the
>>> guesses = [0, 1, 2, 3]        # average of peaks is 0 or at least 1: the error is >= 0.5
>>> min(abs(x - g) for g in guesses) > (8 * eps + 8) / eps**2
True
""",
        extraction="no: Equation (4.1) bounds the distance to the rounded value, before rounding "
        "is counted",
        corrected=ALP.verified(
            "Section 4.3, error of flip probability 1/(epsilon + 2), corrected",
            "The expected error is at most 1/2 + (8 epsilon + 8)/epsilon^2 (integers: without the "
            "1/2).",
            "enumeration",
            **varied(_unscaled_error, Fraction(1, 2), Fraction(49, 100), "0.49 for 1/2"),
        ),
        note="The sentence is about small epsilon, where 1/2 is nothing beside 8/epsilon^2; the "
        "point made, O(1/epsilon^2), stands. The example is outside that range.",
    ),
    ALP.verified(
        "Section 4.3, other flip probabilities",
        "Every flip probability that makes the unscaled projection epsilon-differentially private "
        "is at least 1/(e^epsilon + 1), and for those the bound of Equation (4.1) is at least 0.92 "
        "times 8/epsilon^2, epsilon <= 1: no choice of p avoids the order 1/epsilon^2.",
        "certified numerics",
        **varied(_other_choices, Fraction(92, 100), Fraction(93, 100), "0.93 times"),
        note="The text names no choices; this covers all of them.",
    ),
)
