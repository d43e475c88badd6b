"""CP, Theorem 1.1 (informal) and the claim of optimality after it."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import chain, product
from math import log, sqrt

from flint import arb

from exactdp.balls import ball, precision
from exactdp.proofs_check.claim import Mutant, Printed, Quibble, Refuted, require
from exactdp.proofs_check.claims.cp._hadamard_projection import (
    noise_factor,
    outcomes,
    samples_any,
    samples_sparse,
    worst_noise,
)
from exactdp.proofs_check.claims.cp._instances import distributions
from exactdp.proofs_check.claims.cp._model import (
    dot,
    empirical_laws,
    hadamard_response,
    measured,
    output,
)
from exactdp.proofs_check.entries import CP, varied

__all__ = ["CLAIMS"]

#: What stands for the unknown constants in O and Omega; the refutations scale with it.
_CONSTANT = 1000

Rate = Callable[[int, int], arb]


def _printed_log(s: int, k: int) -> arb:
    return (arb(k) / s).log()


def _enough(rate: Rate) -> str:
    """1000 s^2 rate(s, k)/(eps alpha)^2 is never below the bound s^2/(eps alpha)^2/1000.

    The lower bound is the paper's own, for s-ary distributions; 1000 stands for both constants.
    """
    with precision(64):
        for j in range(1, 30):
            k = 2**j
            for s in {1, k // 2, k - 1, k} - {0}:
                value = _CONSTANT * rate(s, k)
                case = f"s={s}, k={k}: {_CONSTANT} times the logarithm is {value.str(4)}"
                require(bool(value > ball(Fraction(1, _CONSTANT))), case)
    return "k up to 2^29; s = 1, k/2, k - 1, k"


def _explicit(slack: Fraction) -> str:
    """|h|_1 <= 4 s |w|_inf, |h|_2^2 <= 4 s |w|_inf^2 in every outcome; the rates from them."""
    with precision(64):
        eps, alpha, k, s = Fraction(1, 2), Fraction(1, 3), 1000, 5
        for norm, factor in ((1, 4 * s), (2, 2 * s**0)):
            n = samples_sparse(s, k, eps, alpha, norm)
            noise = noise_factor(eps) * (2 * arb(2 * k).log() / n).sqrt()
            error = noise * factor * (1 if norm == 1 else arb(s).sqrt())
            require(bool(abs(error - ball(alpha)) < 1e-9), f"norm {norm}: error {error.str(6)}")
    done = 0
    for s, w, l1, l2 in chain(outcomes(), worst_noise()):
        require(l2 <= slack * 4 * s * w * w, f"s={s}, |w|={w}: squared l2 error {l2}")
        require(l1 <= slack * 4 * s * w, f"s={s}, |w|={w}: l1 error {l1}")
        done += 1
    return f"{done} exact outcomes; expected |w|_inf at most c sqrt(2 log(2k)/n)"


def _largest_noise(share: Fraction) -> str:
    """E|w|_inf <= share c sqrt(2 log(2k)/n), the mean summed over every outcome of n reports."""
    done = 0
    for k, e, n in product((2, 3, 7), (Fraction(3, 2), Fraction(5, 2)), (1, 2, 4)):
        columns, c = hadamard_response(k), (e + 1) / (e - 1)
        if len(columns[0]) == 8 and n == 4:
            continue
        for p in distributions(k):
            mean = Fraction(0)
            for weight, seen in empirical_laws(output(columns, e, p), n):
                y = measured(seen, e)
                z = [dot(column, y) / len(y) for column in columns]
                mean += weight * max(abs(a - b) for a, b in zip(z, p, strict=True))
            with precision(64):
                bound = ball(share * c) * (2 * arb(2 * k).log() / n).sqrt()
                case = f"k={k}, n={n}, e^eps={e}: {float(mean):.5g}"
                require(bool(ball(mean) <= bound), f"{case} > {bound.str(5)}")
            done += 1
    return f"{done} exact multinomial laws; each report moves a coordinate by +-c/n (Hoeffding)"


def _first_rows(k: int, level: Fraction) -> arb:
    """max(log(k)/eps^2, log(k)/alpha^2) of Theorem 3.6, l2, c = delta = 1, alpha = eps."""
    return arb(k).log() / ball(level) ** 2


def _same_rate(least: Callable[[int, int], Fraction], constant: int) -> str:
    """m of Theorem 3.6 <= constant s log(k/s) where alpha = eps = least(k, s), so also above.

    The third term of m is s log(k/s) itself; the first two are compared with it.
    """
    with precision(64):
        for j in range(2, 41):
            k = 2**j
            for s in {1, 2 ** (j // 2), k // 4, k // 2}:
                level = least(k, s)
                rows, printed = _first_rows(k, level), s * (arb(k) / s).log()
                case = f"k={k}, s={s}, alpha=eps={float(level):.3g}: m={rows.str(4)}"
                require(bool(rows <= constant * printed), f"{case}, s log(k/s)={printed.str(4)}")
    return "k up to 2^40; s = 1, sqrt(k), k/4, k/2"


def _level(share: float) -> Callable[[int, int], Fraction]:
    """A rational point just above share sqrt(log(k)/(s log(k/s)))."""
    return lambda k, s: Fraction(share * (1 + 1e-9) * sqrt(log(k) / (s * log(k / s))))


def _lower_bound(alpha_of: Callable[[int], Fraction]) -> str:
    """No scheme beats s/(1000 eps^2 alpha^2) samples for l2, at eps = 1 and s = k."""
    with precision(64):
        for j in range(1, 101):
            s, eps = 2**j, Fraction(1)
            alpha = alpha_of(j)
            schemes = (samples_any(s, eps, alpha), samples_sparse(s, s, eps, alpha, 2))
            stated = Fraction(s, _CONSTANT) / (eps * alpha) ** 2
            found = " and ".join(n.str(4) for n in schemes)
            case = f"s=k=2^{j}, alpha={float(alpha):.3g}: {found} reports suffice"
            holds = all(bool(n > ball(stated)) for n in schemes)
            require(holds, f"{case}, the bound asks for {float(stated):.4g}")
    return "s = k up to 2^100: consistent"


def _any_p(slack: Fraction) -> str:
    """|h|_2^2 <= 2 |w|_inf in every outcome: the bound behind the counterexample."""
    done = 0
    for s, w, _, l2 in chain(outcomes(), worst_noise()):
        require(l2 <= slack * w, f"s={s}, |w|={w}: squared l2 error {l2}")
        done += 1
    return f"{done} exact outcomes"


def _inverse_root(j: int) -> Fraction:
    return Fraction(1, 2 ** ((j + 1) // 2))


def _log_root(j: int) -> Fraction:
    """A rational point near sqrt(log(2k)/s), s = k = 2^j."""
    return Fraction(sqrt((j + 1) * log(2) / 2**j))


def _only_up_to(order: Callable[[int], Fraction]) -> str:
    """Consistent at alpha = order(s) and 1/sqrt(s); beaten for any s at 250 sqrt(log(2k)/s)."""
    with precision(64):
        for j in range(1, 101):
            s, alpha = 2**j, 250 * _log_root(j)
            n = samples_any(s, Fraction(1), alpha)
            case = f"s=k=2^{j}, alpha={float(alpha):.3g}: {n.str(4)} reports"
            require(bool(n < ball(Fraction(s, _CONSTANT) / alpha**2)), f"{case} are not fewer")
    return f"{_lower_bound(order)}; {_lower_bound(_inverse_root)}; beaten at 250 times that order"


CLAIMS = (
    Quibble(
        paper="CP",
        item="Theorem 1.1",
        statement="(Informal) For every s <= k, eps in (0, 1) and alpha > 0, "
        "O(s^2 log(k/s)/(eps alpha)^2) samples give l1 error alpha, and "
        "O(s log(k/s)/(eps alpha)^2) l2 error alpha.",
        printed=Printed(
            r"If p is s sparse, then the sample complexity of Q is $O\left(\frac{s^2 "
            r"\log(k/s)}{\varepsilon^2 \alpha^2}\right)$",
            "Section 1, Theorem 1.1",
            49,
        ),
        method="certified numerics",
        check=lambda: _enough(_printed_log),
        example="""
>>> from math import log
>>> s = k = 2
>>> s ** 2 * log(k / s)              # no samples at all, for any constant and any alpha
0.0
>>> guess = (0.5, 0.5)               # without samples the best guess misses (1, 0) by 1 in l1
>>> abs(1 - guess[0]) + abs(0 - guess[1])
1.0
""",
        extraction="no: log(k/s) stands in the theorem, in the text and in Theorem 3.6; usual is "
        "log(ek/s), which matters only for s near k",
        note="Fails only where log(k/s) vanishes, at s = k, which nobody calls sparse.",
        corrected=CP.verified(
            "Theorem 1.1, corrected",
            "32 c^2 s^2 log(2k)/alpha^2 samples give expected l1 error alpha and "
            "8 c^2 s log(2k)/alpha^2 l2 error alpha, c = coth(eps/2), already with Hadamard "
            "response and projection: |h|_1 <= 4 s |w|_inf, |h|_2 <= 2 sqrt(s) |w|_inf.",
            "enumeration",
            **varied(_explicit, Fraction(1), Fraction(97, 100), "with 97 % of the error"),
        ),
    ),
    Refuted(
        paper="CP",
        item="Theorem 1.1, as a summary of Theorem 3.6",
        statement="(Informal) The rate of Theorem 3.6 with its m is that of Theorem 1.1 for every "
        "alpha > 0 and 0 < eps < 1, that is m = O(s log(k/s)) suffices.",
        severity="loose",
        printed=Printed(
            r"The main result (informal) is summarized as follows; see Theorem 3.6 for exact "
            r"bounds and results for approximately sparse distributions. ... For any $0 < "
            r"\varepsilon < 1$ and $\alpha > 0$",
            "Section 1, Our results, and Theorem 1.1",
            47,
        ),
        method="certified numerics",
        check=lambda: _same_rate(lambda k, s: Fraction(1, 100), _CONSTANT),
        example="""
>>> from math import log
>>> k, s, alpha, eps = 10_000, 10, 0.01, 0.5
>>> m = max(log(k) / eps ** 2, log(k) / alpha ** 2, s * log(k / s))      # Theorem 3.6, l2
>>> m > 1000 * s * log(k / s)        # so n grows like 1/alpha^4, not 1/alpha^2
True
""",
        extraction="no: the three terms of m stand in Theorem 3.6 and before it, and P1 asks for "
        "beta <= c alpha; Theorem 1.1 refers to Theorem 3.6 for the exact bounds",
        note="Small alpha is what a number of samples is about. As a statement of existence "
        "Theorem 1.1 is true up to the logarithm, by another scheme: see Theorem 1.1, corrected.",
        corrected=CP.verified(
            "Theorem 1.1, as a summary of Theorem 3.6, corrected",
            "The l2 rates agree where alpha and eps are at least "
            "sqrt(log(k)/(s log(k/s))); below that m = log(k)/min(alpha, eps)^2 dominates.",
            "certified numerics",
            check=lambda: _same_rate(_level(1.0), 1),
            mutant=Mutant("at least 99 % of that", lambda: _same_rate(_level(0.99), 1)),
        ),
    ),
    Quibble(
        paper="CP",
        item="Section 1, optimality",
        statement="Every scheme needs Omega(s/(eps^2 alpha^2)) samples for l2 error alpha, so "
        "that the rate of Theorem 1.1 is optimal up to log(k/s).",
        printed=Printed(
            r"which means our sample complexity is *optimal* up to a $\log(k/s)$ factor",
            "Section 1, Our results, after Theorem 1.1",
            51,
        ),
        method="certified numerics",
        check=lambda: _lower_bound(lambda j: Fraction(1, 2)),
        example="""
>>> from math import log, tanh
>>> s = k = 2 ** 40
>>> eps, alpha = 1, 0.5
>>> enough = 8 * log(2 * k) / tanh(eps / 2) ** 2 / alpha ** 4     # Hadamard response, projected
>>> enough < 1e-6 * s / (eps * alpha) ** 2
True
""",
        extraction="no: the bound carries no condition on alpha; the cited one is for small alpha",
        note="Lower bounds of this kind are for small alpha, which is understood.",
        corrected=CP.verified(
            "Section 1, optimality, corrected",
            "The bound can hold only for alpha of the order sqrt(log(2k)/s) or less: "
            "for larger alpha fewer samples, 8 c^2 log(2k)/alpha^4, suffice for every p, sparse "
            "or not.",
            "certified numerics",
            **varied(
                _only_up_to,
                _log_root,
                lambda j: Fraction(1, 2 ** (j // 4)),
                "for alpha of the order s^(-1/4)",
            ),
            slack="orders are compared, with 1000 in place of the unknown constants",
            note="up to that order the bound, with 1/1000 for its constant, is consistent with the "
            "two simple schemes; so it is for alpha of the order 1/sqrt(s)",
        ),
    ),
    CP.verified(
        "Theorem 1.1, noise of Hadamard response",
        "The error w of Hadamard response before projection has "
        "E|w|_inf <= c sqrt(2 log(2k)/n), c = coth(eps/2), in these cases even 0.76 of it.",
        "enumeration",
        **varied(_largest_noise, Fraction(76, 100), Fraction(75, 100), "even 0.75 of it"),
        ours=True,
    ),
    CP.verified(
        "Section 1, optimality, the simple scheme",
        "For Hadamard response with projection |p_hat - p|_2^2 <= 2 |w|_inf, w the error "
        "before projection.",
        "enumeration",
        **varied(_any_p, Fraction(2), Fraction(17, 10), "<= 1.7 |w|_inf"),
        ours=True,
    ),
)
