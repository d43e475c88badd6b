"""SVA, Algorithm 1: binning with signs, noise, and the server's estimate."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import product

import numpy as np

from exactdp.accounting.divergence import max_loss
from exactdp.law import Law
from exactdp.local import SparseVectorMean
from exactdp.proofs_check.claim import Printed, Quibble, require
from exactdp.proofs_check.claims.sva._model import (
    Hashes,
    Vector,
    bins,
    distance,
    hashes,
    pairs,
    report,
    sensitivity,
    sparse,
)
from exactdp.proofs_check.entries import SVA, varied
from exactdp.samplers import SeededSource

__all__ = ["CLAIMS"]

_GRID = (-1, Fraction(-1, 3), 0, Fraction(1, 2), 1)
_INPUTS: tuple[Vector, ...] = tuple(sparse(3, 2, _GRID)[::5]) + tuple(sparse(3, 3, (1,)))


def _estimates(v: Vector, b: int, x: int, family: list[Hashes]) -> list[Fraction]:
    """s(x) B_h(x) for every pair of hash functions of a family, without noise."""
    return [s[x] * bins(v, (h, s), b)[h[x]] for h, s in family]


def _mean(values: list[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values)


def _unbiased(alike: Fraction) -> str:
    """The mean estimate of every coordinate is the coordinate (symmetric noise adds 0).

    alike: how often the first two items share their sign.
    """
    for v, b in product(_INPUTS, (1, 2, 3)):
        parts = [[f for f in hashes(3, b) if (f[1][0] == f[1][1]) == same] for same in (1, 0)]
        for x in range(3):
            same, other = (_mean(_estimates(v, b, x, part)) for part in parts)
            found = alike * same + (1 - alike) * other
            require(found == v[x], f"b={b}, coordinate {x} of {v}: mean estimate {found}")
    return f"{len(_INPUTS)} vectors, b up to 3, every h and s"


def _variance(factor: Fraction) -> str:
    """Without noise the estimate of v_x has variance (sum of the other v_l^2)/b."""
    for v, b in product(_INPUTS, (1, 2, 3)):
        for x in range(3):
            values = _estimates(v, b, x, hashes(3, b))
            found = _mean([y * y for y in values]) - _mean(values) ** 2
            rest = sum((y * y for i, y in enumerate(v) if i != x), Fraction(0))
            require(found == rest / b * factor, f"b={b}, x={x}, {v}: variance {found}")
    return f"{len(_INPUTS)} vectors, b up to 3, every h and s"


def _server(more: Fraction) -> str:
    """The shipped server, by one transform, against line 13 item by item; divided by n + more."""
    vectors = [{0: 1, 3: -1}, {2: Fraction(1, 2)}, {3: 1, 5: Fraction(-1, 3)}, {}]
    for bins_, seed in product((1, 4), (1, 2)):
        m = SparseVectorMean(d=6, k=2, epsilon=1, level="event", bins=bins_)
        reports = m.draw_many(vectors, SeededSource(seed))
        functions, noisy = m.functions_of(reports), m.bins_of(reports)
        users, means = np.arange(len(vectors)), m.aggregate().add(reports).estimate()
        for x in range(m.d):
            place, sign = m.family.places(functions, np.full(len(vectors), x))
            total = Fraction(int((sign * noisy[users, place]).sum()), m.plan.grid)
            stated, (found,) = total / (len(vectors) + more), means.exact([x])
            require(found == stated, f"b={bins_}, item {x}: {found}, line 13 gives {stated}")
    return "4 clients, 6 items, 1 and 4 bins, two seeds"


def _unclipped_range(share: Fraction) -> str:
    """Clipping at share * k changes no bin of any vector; at k - 1/100 it changes one."""
    for k, b in product((1, 2, 3), (1, 2)):
        cases = list(product(sparse(3, k, (-1, 0, 1)), hashes(3, b)))
        eta, less = k * share, k - Fraction(1, 100)
        some = any(bins(v, f, b, less) != bins(v, f, b) for v, f in cases)
        require(some, f"k={k}, b={b}: nothing is clipped at {less}")
        for v, f in cases:
            same = bins(v, f, b, eta) == bins(v, f, b)
            require(same, f"k={k}, b={b}, eta={eta}: a bin of {v} is clipped")
    return "d = 3, k up to 3, b up to 2, every h and s"


def _noise_suffices(factor: Fraction) -> str:
    """The bins of L-neighbours are at most L apart, for some h and s as much."""
    for v, w in pairs(sparse(3, 2, (-1, 0, 1))[::2]):
        length, found = distance(v, w), sensitivity(v, w, 2)
        require(found == length * factor, f"{v}, {w}: bins {found} apart, inputs {length}")
    return "every second 2-sparse vector over -1, 0, 1 in three dimensions, b = 2"


def _sent(noise: bool, share: Fraction) -> str:
    """The message with noise of ratio 1/2, e^epsilon = 2 for inputs at distance 1; or without."""
    a, b = Fraction(1, 2), 2
    laws = {}
    for v in sparse(2, 2, (0, 1)):
        exact = Law.uniform(hashes(2, b)).map(lambda f: (f, bins(v, f, b)))
        laws[v] = report(v, b, a, 3) if noise else exact
    for v, w in pairs(list(laws)):
        ratio = max_loss(laws[v], laws[w])
        require(ratio <= share * a ** -int(distance(v, w)), f"{v} against {w}: ratio {ratio}")
    return "binary vectors of length 2, two bins, every h and s"


CLAIMS = (
    SVA.verified(
        "Algorithm 1",
        "With independent uniform h and s, s(x) times bin h(x) has mean v_x for every "
        "coordinate x and every vector, so the server's average is unbiased (without clipping).",
        "enumeration",
        **varied(_unbiased, Fraction(1, 2), Fraction(51, 100), "two signs agree 51 % of the time"),
    ),
    SVA.verified(
        "Algorithm 1, line 6",
        "Binning contributes exactly (sum over l != x of v_l^2)/b to the variance of one "
        "client's estimate of v_x.",
        "enumeration",
        **varied(_variance, Fraction(1), Fraction(51, 50), "two percent more"),
        note="v_l in line 6 is v_{i,l}",
    ),
    SVA.verified(
        "Algorithm 1, line 7",
        "Clipping to [-eta, eta] changes no bin at eta = k; at eta = k - 1/100 it does.",
        "enumeration",
        **varied(_unclipped_range, Fraction(1), Fraction(99, 100), "at eta = 0.99 k"),
    ),
    SVA.verified(
        "Algorithm 1, line 9",
        "Without clipping, the bins of two inputs are at most as far apart in L1 distance as the "
        "inputs, for some h and s as far: Delta = L is what Claim 13 needs for (epsilon, 0).",
        "enumeration",
        **varied(_noise_suffices, Fraction(1), Fraction(99, 100), "0.99 times as far"),
        note="so the settings without delta are pure without clipping; the text says (epsilon, "
        "delta) for all but user level",
    ),
    Quibble(
        paper="SVA",
        item="Algorithm 1, line 11",
        statement="The client sends its clipped bins as they were before noise (tilde), and the "
        "message is epsilon-LDP.",
        printed=Printed(
            r"Send $(h_i, s_i, \tilde{B}_{i,1}, \dots, \tilde{B}_{i,b})$ to the server",
            "Section IV-A, Algorithm 1, line 11",
            268,
        ),
        method="exact law",
        check=partial(_sent, False, Fraction(1)),
        example="""
>>> s = (1, 1)                                   # one bin; the signs are sent along
>>> sent = lambda v: sum(a * b for a, b in zip(s, v))        # the bin before noise
>>> sent((1, 0)), sent((0, 0))                   # neighbours: told apart with certainty
(1, 0)
""",
        extraction="likely: Appendix C has a bar for the clipped and a tilde for the noisy bins, "
        "here they are a tilde and a hat",
        corrected=SVA.verified(
            "Algorithm 1, line 11, corrected",
            "It sends the noisy bins (hat), which line 13 uses: the whole message is epsilon-LDP.",
            "exact law",
            **varied(partial(_sent, True), Fraction(1), Fraction(99, 100), "e^epsilon 1 % smaller"),
        ),
    ),
    SVA.verified(
        "Algorithm 1, line 13",
        "The server averages s_i(x) times the noisy bin h_i(x) over the n clients: so does the one "
        "that is shipped, which decodes all items by one Walsh-Hadamard transform.",
        "enumeration",
        **varied(_server, Fraction(0), Fraction(1, 100), "it divides by n + 1/100"),
        ours=True,
    ),
)
