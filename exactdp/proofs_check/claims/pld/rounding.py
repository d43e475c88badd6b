"""Section 3 of the page: the transform, its powers, and what lies outside the window."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
from flint import acb, arb

from exactdp.accounting.pld.transform import forward, relative_error
from exactdp.balls import ball, precision
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.entries import OUR_PLD as PLD
from exactdp.proofs_check.entries import varied

__all__ = ["CLAIMS"]

_BITS = 128


def _transform(factor: float) -> str:
    """The shipped transform against Arb's in balls, over the sum of the moduli."""
    worst = 0.0
    for points in (32, 256, 2048):
        generator = np.random.default_rng(points)
        for spread in (1.0, 40.0):
            sizes = np.exp(-spread * generator.random(points))
            values = sizes * np.exp(2j * np.pi * generator.random(points))
            total = float(np.abs(values).sum())
            with precision(_BITS):
                exact = acb.dft([acb(v) for v in values.tolist()])
                found = [acb(v) for v in forward(values).tolist()]
                off = max(float(abs(a - b).upper()) for a, b in zip(found, exact, strict=True))
            bound = relative_error(points) * total * factor
            worst = max(worst, off / bound)
            require(off <= bound, f"{points} points, spread {spread}: {off:.2g} > {bound:.2g}")
    return f"lengths 32, 256, 2048; at most {worst:.1e} of the bound"


def _power(share: Fraction) -> str:
    """Powers of numbers in the unit disc that are d off; n errors count, not share n."""
    with precision(_BITS):
        for n in (3, 40, 1000):
            d = arb(1) / 10**6
            for k in range(21):
                z = acb(arb(k) / 20, 0) * acb(0, arb(k) / 7).exp()
                for direction in range(8):
                    moved = z + d * acb(0, arb(direction) / 8 * 2 * arb.pi()).exp()
                    if not abs(moved) <= 1:
                        continue
                    off = abs(moved**n - z**n)
                    most = abs(moved).max(arb(1) / 2) ** n
                    bound = (2 * n * d * ball(share)).expm1() * most
                    require(bool(off <= bound), f"n={n}, |z|={k}/20, direction {direction}")
    return "n = 3, 40, 1000; |z| from 0 to 1"


def _window(factor: Fraction) -> str:
    """Chernoff's bound on what a binomial law has beyond an edge, against exact sums."""
    with precision(_BITS):
        for n, edge in ((20, 15), (100, 70), (400, 230), (30, 30)):
            exact = sum((arb(comb(n, k)) for k in range(edge, n + 1)), arb(0)) / arb(2) ** n
            share = Fraction(edge, n)
            # where the bound is least; at n it falls to the chance as the rate grows
            rate = ball(share / (1 - share)).log() if edge < n else arb(20)
            for part in (Fraction(0), Fraction(1, 2), Fraction(2), Fraction(1)):
                own = rate * ball(part)
                bound = (((1 + own.exp()) / 2).log() * n - own * edge * ball(factor)).exp()
                case = f"n={n}, from {edge} on, {part} of the best lambda"
                require(bool(exact <= bound), f"{case}: {exact.str(5)} > {bound.str(5)}")
    return "binomial laws, n = 20, 30, 100, 400"


def _aliasing(part: Fraction) -> str:
    """Sums of losses modulo the length of a transform, against the sums in every window."""
    laws: tuple[dict[int, Fraction], ...] = (
        {0: Fraction(1, 2), 5: Fraction(1, 2)},
        {0: Fraction(1, 8), 1: Fraction(1, 2), 4: Fraction(3, 8)},
    )
    nearest = Fraction(0)
    for law, times, length in product(laws, (2, 3, 5), (4, 6, 7)):
        sums = {0: Fraction(1)}
        for _ in range(times):
            before, sums = sums, {}
            for (i, p), (j, q) in product(before.items(), law.items()):
                sums[i + j] = sums.get(i + j, Fraction(0)) + p * q
        for start in range(5 * times):
            inside = {k: sums.get(k, Fraction(0)) for k in range(start, start + length)}
            outside = 1 - sum(inside.values())
            for k, true in inside.items():
                found = sum((p for j, p in sums.items() if (j - k) % length == 0), Fraction(0))
                case = f"{dict(law)}, {times} times, modulo {length}, sum {k}"
                require(true <= found <= true + part * outside, case)
                nearest = max(nearest, (found - true) / outside if outside else Fraction(0))
    return f"18 compositions, every window; up to {nearest} of what is outside"


CLAIMS = (
    PLD.verified(
        "Section 3, transform",
        "Every output of the transform of L points is within relative_error(L) times the sum of "
        "the moduli of its inputs (on those tried, within 2 percent of that).",
        "certified numerics",
        **varied(_transform, 0.02, 0.01, "within 1 percent of that"),
        note="errors of opposite signs cancel; the bound is for the worst order of signs",
    ),
    PLD.verified(
        "Section 3, powers",
        "If |Z - z| <= d then |Z^n - z^n| <= (e^(2nd) - 1) max(|Z|, 1/2)^n.",
        "certified numerics",
        **varied(_power, Fraction(1), Fraction(99, 100), "with 0.99 n for n"),
    ),
    PLD.verified(
        "Section 3, aliasing",
        "A sum modulo L has at least the mass of the sum in a window of length L, and at most the "
        "mass outside the window more.",
        "enumeration",
        **varied(_aliasing, Fraction(1), Fraction(1, 2), "half the mass outside"),
    ),
    PLD.verified(
        "Section 3, window",
        "A sum of n losses (coins: binomial laws) is at least b with probability at most "
        "e^(-lambda b) (E e^(lambda X))^n, lambda >= 0.",
        "certified numerics",
        **varied(_window, Fraction(1), Fraction(101, 100), "with 1.01 b for b"),
    ),
)
