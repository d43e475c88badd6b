"""CP, equations (3) to (5): the report's law as a linear system, and its two error terms."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product

from exactdp.proofs_check.claim import Printed, Quibble, require
from exactdp.proofs_check.claims.cp._instances import (
    image,
    instances,
    second_error,
)
from exactdp.proofs_check.claims.cp._model import (
    HIGH_PRIVACY,
    MEDIUM_PRIVACY,
    empirical_laws,
    measured,
    output,
    plus,
    weights,
)
from exactdp.proofs_check.entries import CP, varied

__all__ = ["CLAIMS"]

_FACTORS = HIGH_PRIVACY + MEDIUM_PRIVACY


def _linear_form(half: Fraction) -> str:
    """q = ((e-1)/2 A + (e+1) half J) D p against the channel itself."""
    done = 0
    for columns, e, p in instances(_FACTORS):
        m = len(columns[0])
        dp = [x / (plus(c) * e + m - plus(c)) for x, c in zip(p, columns, strict=True)]
        common = (e + 1) * half * sum(dp)
        stated = tuple((e - 1) / 2 * v + common for v in image(columns, dp))
        exact = output(columns, e, p)
        require(stated == exact, f"e^eps={e}, p={p}: {stated[0]} against {exact[0]}")
        done += 1
    return f"{done} exact cases"


def _sum_over_sets(second: Callable[[bool, int, int], bool]) -> str:
    """q[j] = sum over the sets with j of e p_i/(...) + sum over others of p_i/(...).

    second(inside, j, k): whether a set counts in the second sum; inside: whether j is in it.
    """
    for columns, e, p in instances():
        m, k = len(columns[0]), len(columns)
        exact = output(columns, e, p)
        for j in range(m):
            stated = sum(
                (((e if c[j] == 1 else 0) + second(c[j] == 1, j, k))
                 * x / (plus(c) * e + m - plus(c)) for c, x in zip(columns, p, strict=True)),
                Fraction(0),
            )  # fmt: skip
            require(stated == exact[j], f"e^eps={e}, j={j}: {stated} against {exact[j]}")
    return "every coordinate of 60 cases"


def _noiseless(share: Fraction) -> str:
    """sqrt(m) times (4): (e+1)/(e-1)(m q - 1) = A D'p + share (e+1)/(e-1) sum (d'-1)p."""
    done = 0
    for columns, e, p in instances(_FACTORS):
        d = weights(columns, e)
        x = [a * b for a, b in zip(d, p, strict=True)]
        shift = share * (e + 1) / (e - 1) * (sum(x) - 1)
        right = tuple(v + shift for v in image(columns, x))
        left = measured(output(columns, e, p), e)
        require(left == right, f"e^eps={e}: {left[0]} against {right[0]}")
        done += 1
    return f"{done} exact cases"


def _noisy(share: Fraction) -> str:
    """sqrt(m) times (5), for every outcome of two reports; the e_2 part times share."""
    done = 0
    for columns, e, p in instances(_FACTORS[1:3]):
        q = output(columns, e, p)
        clean = measured(q, e)
        for _, seen in empirical_laws(q, 2):
            noise = [share * v for v in second_error(q, seen, e)]
            right = tuple(a + b for a, b in zip(clean, noise, strict=True))
            require(measured(seen, e) == right, f"e^eps={e}, q_hat={seen}")
            done += 1
    return f"{done} exact cases"


def _unit_weights(more: int) -> str:
    """D' = I where every set has size m/2 + more."""
    for m, e in product((4, 6, 8), _FACTORS):
        sets = [s for s in product((1, -1), repeat=m) if plus(s) == m // 2 + more]
        scale = weights(tuple(sets), e)
        require(set(scale) == {Fraction(1)}, f"m={m}, e^eps={e}: {scale[0]}")
    return "every set of half of 4, 6 and 8 outputs, nine values of eps"


CLAIMS = (
    CP.verified(
        "Equation (3)",
        "q = ((e^eps - 1)/2 A + (e^eps + 1)/2 J) D p, with D the diagonal of "
        "1/(n_i e^eps + m - n_i).",
        "enumeration",
        **varied(
            _linear_form,
            Fraction(1, 2),
            Fraction(49, 100),
            "J has the coefficient 0.49 (e^eps + 1)",
        ),
    ),
    Quibble(
        paper="CP",
        item="Section 2, q as a sum over the sets",
        statement="q[j] is the sum of e^eps p_i/(n_i e^eps + m - n_i) over the i with j in C_i and "
        "of p_i/(n_i e^eps + m - n_i) over those with j in [k] but not in C_i.",
        printed=Printed(
            r"\sum_{i:j \in [k] \setminus C_i} \frac{p[i]}{n_i e^\varepsilon + m - n_i}",
            "Section 2, display before equation (3)",
            151,
        ),
        method="enumeration",
        check=lambda: _sum_over_sets(lambda inside, j, k: not inside and j < k),
        example="""
>>> from fractions import Fraction
>>> k, m, e = 1, 2, 3                          # one symbol, C_1 = {1}: n_1 = 1
>>> p = Fraction(1, (e - 1) * 1 + m)           # of the report 2, which is not in C_1
>>> 2 in set(range(1, k + 1)) - {1}, p         # so the sum for q[2] is empty
(False, Fraction(1, 4))
""",
        extraction="possible: k for m; for m <= k the two agree",
        corrected=CP.verified(
            "Section 2, q as a sum over the sets, corrected",
            "The second sum is over the sets without j, which lie in [m].",
            "enumeration",
            **varied(
                _sum_over_sets,
                lambda inside, j, k: not inside,
                lambda inside, j, k: True,
                "the second sum is over all sets",
            ),
        ),
        note="it matters for m > k, as in Hadamard response",
    ),
    CP.verified(
        "Equation (4)",
        "(e^eps+1)/(e^eps-1)(sqrt(m) q - 1/sqrt(m)) = A D'p/sqrt(m) + "
        "(e^eps+1)/(sqrt(m)(e^eps-1)) J(D' - I)p.",
        "enumeration",
        **varied(_noiseless, Fraction(1), Fraction(99, 100), "0.99 of the last term"),
    ),
    CP.verified(
        "Equation (5)",
        "With the empirical law in place of q the additional term is "
        "e_2 = sqrt(m)(e^eps+1)/(e^eps-1)(q_hat - q).",
        "enumeration",
        **varied(_noisy, Fraction(1), Fraction(99, 100), "0.99 of it"),
    ),
    CP.verified(
        "Section 2, D'",
        "D' = m(e^eps+1)/2 D is the identity where every set has size m/2.",
        "enumeration",
        **varied(_unit_weights, 0, 1, "and where every set has size m/2 + 1"),
    ),
)
