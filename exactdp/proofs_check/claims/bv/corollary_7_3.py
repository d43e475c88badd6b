"""BV, Corollary 7.3: the parameters of the compact histogram."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

from exactdp.accounting.divergence import max_loss
from exactdp.balls import ball, precision
from exactdp.mechanisms import CompactHistogram
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.bv._errors import beyond, log_error
from exactdp.proofs_check.claims.bv._table_rows import Column, require_column
from exactdp.proofs_check.entries import BV, varied
from exactdp.samplers import FastSample

__all__ = ["CLAIMS"]

#: n, epsilon, |X|, beta.
_CASES = (
    (1, Fraction(1), 2, Fraction(1, 2)),
    (10, Fraction(1), 2**20, Fraction(1, 10)),
    (40, Fraction(1, 2), 1000, Fraction(1, 20)),
    (60, Fraction(1, 10), 2**64, Fraction(1, 5)),
    (400, Fraction(1), 2, Fraction(1, 2)),
    (3, Fraction(1, 57), 4, Fraction(1, 2)),
)


def _made(case: tuple[int, Fraction, int, Fraction]) -> CompactHistogram:
    n, epsilon, universe, beta = case
    return CompactHistogram.of(n=n, epsilon=epsilon, universe=universe, beta=beta)


def _private(share: Fraction) -> str:
    """e^(eps_1 + eps_2 + eps_3) <= e^(share epsilon), from the laws of M(0) and M_0 themselves."""
    for case in _CASES:
        compact = _made(case)
        n, epsilon, universe, beta = case
        noise, part = compact.noise, 1 / Fraction(ceil(10 / (9 * epsilon)))
        stated = FastSample(n=n, epsilon=part, gamma_inverse=int(2 * universe / beta))
        require(noise == stated, f"n={n}, epsilon={epsilon}: {noise}, stated {stated}")
        empty, inverse = noise.law(0), compact.inverse.law
        losses = Fraction(max_loss(inverse, empty) * max_loss(empty, inverse))
        with precision(256):
            loss = ball(noise.e_half_epsilon**2 * losses).log()
            shown = f"n={case[0]}, epsilon={case[1]}: loss {loss.str(6)}"
            require(bool(loss <= ball(share * case[1])), f"{shown} > {share} epsilon")
    return f"{len(_CASES)} parameter sets"


def _room(tenth: Fraction) -> str:
    """epsilon' = 1/ceil(10/(9 epsilon)) leaves at least epsilon/10 for eps_2 + eps_3.

    With epsilon = 1/k, K = ceil(10 k/9), the rest is (1 - k/K)/k. For k = 9q + r,
    K = 10q + ceil(10 r/9): (1 - tenth) K - k is affine in q, its least value and slope decide.
    """
    for r in range(9):
        rounded = -(-10 * r // 9)
        start = (1 - tenth) * rounded - r + (0 if r else 10 * (1 - tenth) - 9)
        require(start >= 0, f"k = {r or 9}: (1 - {tenth}) K - k = {start}")
        require(10 * (1 - tenth) - 9 >= 0, f"k = {r} + 9q: falls with q")
    return "epsilon = 1/k for every k, by the residue of k modulo 9"


def _constant(factor: Fraction) -> str:
    """2/eps~' <= factor/epsilon: 1/ln(1 + 2^-b) <= factor k, b that of epsilon' = 1/K."""
    # beta - gamma >= beta/2 for gamma = beta/(2|X|), and so for beta/|X|
    require_column(Column(Fraction(1), Fraction(2), False, Fraction(1, 2), least=1))
    require_column(Column(Fraction(1), Fraction(2), True, Fraction(1, 2)))
    for k in range(1, 3000):
        inner = -(-10 * k // 9)
        bits = (2 * inner - 1).bit_length()
        with precision(128):
            exact = 1 / (ball(Fraction(1, 2**bits)) + 1).log()
            case = f"epsilon=1/{k}: 2/eps~' = {float(exact.mid()):.4f} > {float(factor * k):.4f}"
            require(bool(exact <= ball(factor * k)), case)
    return (
        "k < 3000; in general 1/ln(1 + x) <= 1/x + 1/2 and 2^b <= 4K - 4 for K >= 2, so 2/eps~' "
        "<= 4K - 7/2 <= 40k/9 + 1/18 with K <= (10k + 8)/9"
    )


def _accurate(factor: Fraction) -> str:
    """Exact failure of M(c) and of M_0 at ceil(factor/epsilon ln(2/beta)), and with beta/|X|."""
    for case in _CASES:
        n, epsilon, universe, beta = case
        compact = _made(case)
        for share in (1, universe):
            a = log_error(factor / epsilon, 2 * share / beta)
            noisy = max(beyond(compact.noise, c, a) for c in (0, n // 2, n))
            empty = compact.inverse.law.probability(lambda z: z > a)
            label = f"n={n}, epsilon={epsilon}, a={a}"
            require(max(noisy, empty) <= beta / share, f"{label}: {float(max(noisy, empty)):.3g}")
    return f"{len(_CASES)} parameter sets, c = 0, n/2, n"


def _size(factor: Fraction) -> str:
    """log2 d_0 <= factor (1/epsilon) (log2 n + log2 |X| + log2(1/beta) + 1), d_0 >= |X|."""
    for case in _CASES:
        n, epsilon, universe, beta = case
        compact = _made(case)
        bits = compact.field.degree
        require(2**bits >= universe, f"n={n}: d_0 = 2^{bits} < |X|")
        # both sides as powers of 2, raised to the product of the denominators
        left = 2 ** (bits * epsilon.numerator * factor.denominator)
        right = (2 * n * universe / beta) ** (factor.numerator * epsilon.denominator)
        require(left <= right, f"n={n}, epsilon={epsilon}: {bits} bits are more than stated")
    return f"{len(_CASES)} parameter sets; l is rounded up, which can triple log2 d_0"


CLAIMS = (
    BV.verified(
        "Corollary 7.3",
        "With epsilon' = 1/ceil(10/(9 epsilon)), gamma = beta/(2|X|) and a suitable M_0, "
        "CompactHistogram is (epsilon, 0)-DP, in these cases even (0.903 epsilon, 0)-DP.",
        "exact law",
        **varied(_private, Fraction(903, 1000), Fraction(9, 10), "even (0.9 epsilon, 0)-DP"),
        note="the text omits M_0; checked with the shipped one, on the exact laws of M(0) and M_0; "
        "that eps_1 + eps_2 + eps_3 is enough is the entry of Theorem 7.2",
    ),
    BV.verified(
        "Corollary 7.3, constant 5",
        "The errors ceil(5/epsilon ln(2/beta)) and ceil(5/epsilon ln(2|X|/beta)) follow "
        "from Theorem 4.6: 2/eps~' <= 5/epsilon for epsilon = 1/k, and beta and beta/|X| are at "
        "least twice gamma = beta/(2|X|).",
        "enumeration",
        **varied(_constant, Fraction(5), Fraction(448, 100), "2/eps~' <= 4.48/epsilon"),
        note="the interval of Theorem 4.5 gives only 9/(2 eps'), 9/epsilon at epsilon = 1; the "
        "constant needs the exact eps~'",
    ),
    BV.proved(
        "Corollary 7.3, room for M_0",
        "epsilon' leaves at least epsilon/10 for the two losses of M_0, epsilon = 1/k.",
        "enumeration",
        **varied(_room, Fraction(1, 10), Fraction(1, 9), "at least epsilon/9"),
    ),
    BV.verified(
        "Corollary 7.3, accuracy",
        "The errors ceil(5/epsilon ln(2/beta)) per query and "
        "ceil(5/epsilon ln(2|X|/beta)) at once (each bin with beta/|X|) hold for the exact laws of "
        "M and M_0, in these cases with 3.9/epsilon, too.",
        "exact law",
        **varied(_accurate, Fraction(39, 10), Fraction(38, 10), "with 3.8/epsilon, too"),
    ),
    BV.verified(
        "Corollary 7.3, log d_0",
        "A field with d_0 >= |X| and log2 d_0 <= 6/epsilon (log2 n + log2 |X| + "
        "log2(1/beta) + 1) is enough.",
        "exact law",
        **varied(_size, Fraction(6), Fraction(59, 10), "5.9/epsilon (...) is enough"),
        note="the text says log d_0 = quasi-O(1/epsilon)(log n + log|X|), for beta >= 1/poly(n)",
    ),
    BV.not_checkable(
        "Corollary 7.3, running times",
        "Running time and evaluation time.",
        "asymptotic running time in the word RAM model",
    ),
)
