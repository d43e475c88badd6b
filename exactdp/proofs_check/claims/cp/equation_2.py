"""CP, equation (2): the channel, and the known mechanisms it contains."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from exactdp.law import Law
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.cp._instances import beta_of
from exactdp.proofs_check.claims.cp._model import (
    HIGH_PRIVACY,
    MEDIUM_PRIVACY,
    channel,
    gram,
    hadamard,
    hadamard_response,
    isometric,
    plus,
    privacy_factor,
    response,
)
from exactdp.proofs_check.entries import CP, elsewhere, varied

__all__ = ["CLAIMS"]


def _sums_to_one(extra: int) -> str:
    """n e/(n e + m - n + extra) + (m - n)/(...) = 1 for every size 0 <= n <= m."""
    for m, e in product(range(1, 13), HIGH_PRIVACY + MEDIUM_PRIVACY):
        for n in range(m + 1):
            total = (n * e + (m - n)) / (n * e + m - n + extra)
            require(total == 1, f"m={m}, n={n}, e^eps={e}: total {total}")
            if not extra:
                response([1] * n + [-1] * (m - n), e)  # Law rejects a total other than 1
    return "m up to 12, every size of the set, nine values of eps"


def _randomized_response(e_off: Fraction) -> str:
    """Sets {x}: k-ary randomized response keeps x with probability e/(e + k - 1)."""
    for k, e in product(range(2, 9), HIGH_PRIVACY + MEDIUM_PRIVACY):
        columns = tuple(tuple(1 if y == x else -1 for y in range(k)) for x in range(k))
        laws = channel(columns, e)
        require(privacy_factor(laws) == e, f"k={k}: ratio {privacy_factor(laws)}")
        for x in range(k):
            for y in range(k):
                stated = (e if y == x else e_off) / (e + k - 1)
                require(laws[x][y] == stated, f"k={k}, e^eps={e}: {laws[x][y]} against {stated}")
    return "k up to 8, nine values of eps, privacy factor exactly e^eps"


def _hadamard_half(first: int) -> str:
    """All columns of the Hadamard matrix from number `first` on have m/2 entries +1."""
    for power in range(1, 7):
        m = 2**power
        for x, column in enumerate(hadamard(m)[first:], start=first):
            require(2 * plus(column) == m, f"m={m}, column {x}: {plus(column)} entries +1")
    return "m = 2, 4, ..., 64"


def _hadamard_isometry(scale: int) -> str:
    """H^T H/scale = I: norms are kept for all vectors, so the property has order k and delta 0."""
    for power in range(1, 6):
        m = 2**power
        few = gram(hadamard(m)[1:4])
        require(isometric(few, len(few), Fraction(1), Fraction(1)), f"m={m}")
        products = gram(hadamard(m))
        for i, j in product(range(m), repeat=2):
            found = products[i][j] * m / (m if scale else 1)
            require(found == (i == j), f"m={m}, product of columns {i} and {j}: {found}")
    return "m = 2, ..., 32"


def _hadamard_response(e_in: int) -> str:
    """The channel over Hadamard columns against the law of Hadamard response.

    Hadamard response draws a uniform y, and keeps it with probability 1 inside the set of x and
    1/e outside, starting over otherwise: P(y) is proportional to e inside and 1 outside.
    """
    for k, e in product((2, 3, 4, 7, 8), HIGH_PRIVACY):
        columns = hadamard_response(k)
        factor = privacy_factor(channel(columns, e))
        require(factor == e, f"k={k}: ratio {factor}")
        require(beta_of(columns) == 0, f"k={k}: beta {beta_of(columns)}")
        for column in columns:
            raw = {y: Fraction(1) if s == 1 else 1 / e**e_in for y, s in enumerate(column)}
            total = sum(raw.values())
            known = Law({y: w / total for y, w in raw.items()})
            require(response(column, e) == known, f"k={k}, e^eps={e}")
    return "k in 2, 3, 4, 7, 8 (order 2^j > k, powers of two or not); factor exactly e^eps"


def _inside(small: tuple[int, ...], large: tuple[int, ...]) -> bool:
    return all(b == 1 for a, b in zip(small, large, strict=True) if a == 1)


def _sizes_and_privacy(nested_suffices: bool) -> str:
    """eps-LDP as it stands exactly when every smaller set lies inside every larger one."""
    sets = list(product((1, -1), repeat=4))
    for pair, e in product(product(sets, repeat=2), HIGH_PRIVACY[::2] + MEDIUM_PRIVACY[2:]):
        small, large = sorted(pair, key=plus)
        nested = nested_suffices and _inside(small, large)
        factor = privacy_factor(channel((small, large), e))
        stated = plus(small) == plus(large) or nested
        case = f"sets {small}, {large}, e^eps={e}: largest ratio {factor}"
        require((factor <= e) == stated, case)
    return "all pairs of sets in [4], five values of eps"


CLAIMS = (
    CP.verified(
        "Equation (2)",
        "The weights e^eps inside C_x and 1 outside, over n_x e^eps + m - n_x, form a "
        "distribution on [m] for every size n_x.",
        "enumeration",
        **varied(_sums_to_one, 0, 1, "with m - n_x + 1 in the denominator"),
    ),
    CP.verified(
        "Equation (2), equal sizes",
        "Two sets as they stand give eps-LDP exactly when they have the same size or the "
        "smaller lies inside the larger; in all other cases eps must be rescaled.",
        "enumeration",
        **varied(_sizes_and_privacy, True, False, "exactly when the sizes are equal"),
        ours=True,
    ),
    CP.verified(
        "Section 2, randomized response",
        "With C_x = {x} the mechanism is k-ary randomized response.",
        "enumeration",
        **varied(
            _randomized_response, Fraction(1), Fraction(2), "which reports y != x with weight 2"
        ),
    ),
    CP.verified(
        "Section 2, Hadamard response",
        "Hadamard response, also for k that is not a power of two, is the mechanism (2) "
        "over columns of a Hadamard matrix other than the first; P1 holds with beta = 0.",
        "enumeration",
        **varied(_hadamard_response, 1, 2, "the weight outside is e^(-2 eps)"),
    ),
    CP.verified(
        "Section 2, columns of the Hadamard matrix",
        "Exactly half of every column of Sylvester's matrix is +1, except the first.",
        "enumeration",
        **elsewhere(
            "the mutant is about one more column",
            varied(_hadamard_half, 1, 0, "including the first"),
        ),
    ),
    CP.verified(
        "Section 2, isometry of the Hadamard matrix",
        "H/sqrt(m) is orthonormal, so any k of its columns are (k, 0)-RIP.",
        "enumeration",
        **varied(_hadamard_isometry, 1, 0, "H itself is orthonormal"),
        note="the text calls H orthonormal; its columns have norm sqrt(m)",
    ),
)
