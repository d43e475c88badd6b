"""CP, equation (2): the channel, and the known mechanisms it contains."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from exactdp.local import HadamardResponse, MatrixResponse, RandomizedResponse
from exactdp.local.public_matrices import GivenColumns
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.cp._instances import beta_of
from exactdp.proofs_check.claims.cp._model import (
    HIGH_PRIVACY,
    MEDIUM_PRIVACY,
    MIXED,
    channel,
    gram,
    hadamard,
    isometric,
    plus,
    privacy_factor,
    response,
)
from exactdp.proofs_check.entries import CP, elsewhere, varied

__all__ = ["CLAIMS"]


def _weights(extra: int) -> str:
    """The law of the shipped mechanism, by its set: e and 1 over n_x e + m - n_x + extra."""
    sizes = tuple((1,) * n + (-1,) * (12 - n) for n in range(1, 12))
    for columns, eps in product((*MIXED, sizes), (Fraction(1, 2), Fraction(1), Fraction(3))):
        shipped, m = MatrixResponse(GivenColumns(columns), epsilon=eps), len(columns[0])
        e = shipped.ratio
        for x, column in enumerate(columns):
            base = plus(column) * e + m - plus(column) + extra
            stated = {y: (e if sign == 1 else 1) / base for y, sign in enumerate(column)}
            law, case = shipped.law(x), f"m={m}, n={plus(column)}, e^eps={e}"
            require(law == response(column, e), f"{case}: {law}, not the channel of the ledger")
            require(dict(law.items()) == stated, f"{case}: {law}, not {stated}")
    return "every size of a set for m = 12, and three matrices; three eps; laws have total 1"


def _randomized_response(own: int) -> str:
    """Sets {x + own}: the shipped k-ary randomized response has just these laws for own = 0."""
    for k, eps in product(range(2, 9), (Fraction(1, 2), Fraction(1), Fraction(3))):
        shipped = RandomizedResponse(k, eps)
        e = shipped.e_epsilon
        columns = tuple(tuple(1 if y == (x + own) % k else -1 for y in range(k)) for x in range(k))
        laws = channel(columns, e)
        require(privacy_factor(laws) == e, f"k={k}: ratio {privacy_factor(laws)}")
        for x, law in enumerate(laws):
            require(law == shipped.law(x), f"k={k}, e^eps={e}, x={x}: {law}")
    return "k up to 8, three values of eps, privacy factor exactly e^eps"


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


def _hadamard_response(first: int) -> str:
    """The channel over Hadamard columns, from number `first` on, against Hadamard response."""
    for k, eps in product((2, 3, 4, 7, 8), (Fraction(1, 2), Fraction(1))):
        shipped = HadamardResponse(k, eps, blocks=1)
        e, columns = shipped.e_epsilon, hadamard(1 << k.bit_length())[first : first + k]
        laws = channel(columns, e)
        theirs = [shipped.law(x) for x in range(k)]
        require(laws == theirs, f"k={k}, e^eps={e}: {laws[0]}, shipped {theirs[0]}")
        require(privacy_factor(laws) == e, f"k={k}: ratio {privacy_factor(laws)}")
        require(beta_of(columns) == 0, f"k={k}: beta {beta_of(columns)}")
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
        "distribution on [m]: the law of a report of the mechanism as shipped, with its rational r "
        "for e^eps.",
        "exact law",
        **varied(_weights, 0, 1, "with m - n_x + 1 in the denominator"),
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
        "With C_x = {x} the mechanism is k-ary randomized response, as shipped.",
        "exact law",
        **varied(_randomized_response, 0, 1, "with C_x = {x + 1} it is"),
    ),
    CP.verified(
        "Section 2, Hadamard response",
        "Hadamard response as shipped, also for k that is not a power of two, is the mechanism (2) "
        "over the columns of a Hadamard matrix after the first; P1 holds with beta = 0.",
        "exact law",
        **varied(_hadamard_response, 1, 0, "over the columns from the first on"),
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
