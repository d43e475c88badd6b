"""ALP, Section 2: rounding, randomized response, universal hashing, negative values."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import product

from exactdp.accounting.divergence import max_loss
from exactdp.law import Law
from exactdp.proofs_check.claim import Conditional, require
from exactdp.proofs_check.claims.alp._model import all_hashes, round_law
from exactdp.proofs_check.claims.alp._threshold import power
from exactdp.proofs_check.entries import ALP, varied
from exactdp.samplers import BinaryRandomizedResponse, exact_law, random_rounding

__all__ = ["CLAIMS"]


def _rounding(up: int) -> str:
    """The shipped sampler has the stated law: up with the fractional part."""
    for numerator in range(-9, 10):
        r = Fraction(numerator, 4)
        shipped = exact_law(lambda s: random_rounding(r, s), residual=0, progress=False)
        below = r.numerator // r.denominator
        chance = r - below if up else 1 - (r - below)
        require(shipped == round_law(r), f"the model at r={r}")
        require(shipped == Law({below + 1: chance, below: 1 - chance}), f"r={r}: {shipped}")
    return "19 values"


def _response(keep: int) -> str:
    for chance in (Fraction(0), Fraction(1, 5), Fraction(1, 2)):
        for bit in (0, 1):
            shipped = exact_law(
                lambda s: BinaryRandomizedResponse(chance).sample(bit, s),
                residual=0,
                progress=False,
            )
            stated = Law({bit if keep else 1 - bit: 1 - chance, 1 - bit if keep else bit: chance})
            require(shipped == stated, f"p={chance}, bit {bit}")
    return "p = 0, 1/5, 1/2, both bits"


def _universal(rows: int, bound: Fraction) -> str:
    """All functions from three keys to the rows: any two keys collide with probability 1/rows."""
    family = list(all_hashes(3, rows))
    for i, j in ((0, 1), (0, 2), (1, 2)):
        chance = Fraction(sum(h[i] == h[j] for h in family), len(family))
        require(chance == bound, f"{rows} rows: {chance}")
    return f"all functions of three keys to {rows} rows"


def _multiply_shift(bits: int, out: int, factor: int) -> str:
    """h_a(x) = (a x mod 2^bits) >> (bits - out), a odd: collisions of all pairs <= factor/2^out."""
    odd = range(1, 2**bits, 2)
    table = [[(a * x % 2**bits) >> (bits - out) for x in range(2**bits)] for a in odd]
    for x, y in product(range(2**bits), repeat=2):
        if x < y:
            chance = Fraction(sum(h[x] == h[y] for h in table), len(table))
            require(
                chance <= Fraction(factor, 2**out),
                f"keys {x}, {y}: collision probability {chance} > {factor}/{2**out}",
            )
    return f"all pairs of {2**bits} keys, {2**out} rows, all {len(table)} functions"


def _clipped(low: int) -> str:
    """Moving an estimate into [low, u] never moves it away from a value in [0, u]."""
    u = 3
    for x, guess in product(range(u + 1), (Fraction(n, 2) for n in range(-8, 15))):
        inside = min(max(guess, Fraction(low)), Fraction(u))
        require(abs(x - inside) <= abs(x - guess), f"value {x}, estimate {guess} moved to {inside}")
    return "values 0 to 3, estimates from -4 to 7"


def _negative(factor: Fraction) -> str:
    """v -> (max(v, 0), -min(v, 0)) keeps distances, and v = x - y at most doubles the error."""
    grid = [Fraction(n, 2) for n in range(-4, 5)]
    errors = (Fraction(-1), Fraction(1, 3), Fraction(1))
    for v, w in product(grid, repeat=2):
        parts = [(max(a, Fraction(0)), -min(a, Fraction(0))) for a in (v, w)]
        require(all(a - b == c for (a, b), c in zip(parts, (v, w), strict=True)), f"v={v}")
        gap = sum((abs(a - b) for a, b in zip(*parts, strict=True)), Fraction(0))
        require(gap == abs(v - w), f"{v} and {w}: distance {gap}")
        x, y = parts[0]
        for e, f in product(errors, repeat=2):
            error = abs((x + e) - (y + f) - v)
            require(error <= factor * max(abs(e), abs(f)), f"v={v}, errors {e}, {f}: {error}")
    return "81 pairs of values; errors of both signs and two sizes"


def _parts(scaled: bool) -> str:
    """A mechanism run on each part of one signed entry: ratios against e^eps = 9/4 for neighbours.

    Randomised response on 'x > 0?' loses eps however small the change; with odds e^(eps x) (scaled)
    it loses at most eps times the distance.
    """
    base = Fraction(9, 4)

    def response(part: Fraction) -> Law[int]:
        odds = power(base, part) if scaled else base if part else 1 / base
        return Law({1: odds / (1 + odds), 0: 1 / (1 + odds)})

    grid = [Fraction(n, 2) for n in range(-3, 4)]
    laws = {v: response(max(v, Fraction(0))).product(response(max(-v, Fraction(0)))) for v in grid}
    for v, w in product(grid, repeat=2):
        if 0 < abs(v - w) <= 1:
            ratio = max_loss(laws[v], laws[w])
            require(ratio <= base, f"v={v} against {w}: ratio {ratio} = e^(2 eps)")
    return "one entry from -3/2 to 3/2, exact laws"


CLAIMS = (
    ALP.verified(
        "Section 2, RandRound",
        "r is rounded up with its fractional part as probability, down otherwise.",
        "exact law",
        **varied(_rounding, 1, 0, "up and down are exchanged"),
    ),
    ALP.verified(
        "Section 2, RandResponse",
        "A bit is flipped with probability p and kept with probability 1 - p.",
        "exact law",
        **varied(_response, 1, 0, "kept with probability p"),
    ),
    ALP.verified(
        "Section 2, universal hashing",
        "A family is universal when two keys collide with probability at most 1/|R|; the family of "
        "all functions is, with equality.",
        "enumeration",
        **varied(partial(_universal, 3), Fraction(1, 3), Fraction(49, 150), "with 0.98/|R|"),
    ),
    ALP.not_checkable(
        "Section 2, universal hashing, cited construction",
        "A construction of O(log |U|) bits with constant evaluation time is presented in [DHKP97].",
        "cited; the construction is not given",
    ),
    ALP.verified(
        "Section 2, universal hashing, multiply-shift",
        "For the multiply-shift family two keys collide with probability at most 2/|R|.",
        "enumeration",
        **varied(partial(_multiply_shift, 5, 2), 2, 1, "at most 1/|R|"),
        note="Whether [DHKP97] is cited for this family is not said here. If it is meant, the "
        "bounds hold with 2k/s for k/s, and the requirement is s > 4k; adding a random constant "
        "before the shift gives a universal family (Woelfel).",
        ours=True,
    ),
    ALP.verified(
        "Section 2, restricted output",
        "Restricting estimates to [0, u] never increases the error of an entry in [0, u].",
        "enumeration",
        **varied(_clipped, 0, 1, "the restriction may be to [1, u]"),
    ),
    ALP.verified(
        "Section 2, negative values",
        "Splitting a vector into its positive and negative parts preserves the l1 distance, and "
        "the difference of two estimates has at most twice the error.",
        "enumeration",
        **varied(_negative, Fraction(2), Fraction(99, 50), "at most 1.98 times the error"),
    ),
    Conditional(
        paper="ALP",
        item="Section 2, negative values, privacy",
        statement="Representing both parts x and y of v by an epsilon-differentially private "
        "mechanism represents v with epsilon-differential privacy.",
        outcome="verified",
        method="enumeration",
        condition="run on each part, its loss is at most epsilon times the l1 distance (so for the "
        "Laplace and ALP mechanisms); one that only promises epsilon to neighbours loses 2 epsilon",
        **varied(_parts, True, False, "for every epsilon-differentially private mechanism"),
        note="The text names no epsilon: 'any differentially private representation of x and y can "
        "be used as a differentially private representation of v'. Both parts can change at once, "
        "by 1/2 each. One vector (x, y) of 2d entries keeps the distance: the entry before.",
    ),
    ALP.not_checkable(
        "Section 2, model of computation",
        "A k-sparse vector takes O(k log(d + u)) bits with constant look-up on a word RAM with "
        "words of Theta(log d + log u) bits.",
        "machine model and hash table cited; asymptotic",
    ),
)
