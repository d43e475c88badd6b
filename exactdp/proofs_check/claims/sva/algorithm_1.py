"""SVA, Algorithm 1: binning with signs, noise, and the server's estimate."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from exactdp.accounting.divergence import max_loss
from exactdp.law import Law
from exactdp.proofs_check.claim import Printed, Quibble, require
from exactdp.proofs_check.claims.sva._model import (
    Hashes,
    Vector,
    bins,
    distance,
    hashes,
    noisy,
    pairs,
    report,
    sensitivity,
    sparse,
)
from exactdp.proofs_check.entries import SVA, varied

__all__ = ["CLAIMS"]

_GRID = (-1, Fraction(-1, 3), 0, Fraction(1, 2), 1)
_INPUTS: tuple[Vector, ...] = tuple(sparse(3, 2, _GRID)[::5]) + tuple(sparse(3, 3, (1,)))


def _estimates(v: Vector, b: int, x: int, family: list[Hashes]) -> list[Fraction]:
    """s(x) B_h(x) for every pair of hash functions of a family, without noise."""
    return [s[x] * bins(v, (h, s), b)[h[x]] for h, s in family]


def _mean(values: list[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values)


def _unbiased(free_signs: bool) -> str:
    """The mean estimate of every coordinate is the coordinate (symmetric noise adds 0)."""
    for v, b in product(_INPUTS, (1, 2, 3)):
        family = [f for f in hashes(3, b) if free_signs or f[1][0] == f[1][1]]
        for x in range(3):
            found = _mean(_estimates(v, b, x, family))
            require(found == v[x], f"b={b}, coordinate {x} of {v}: mean estimate {found}")
    return f"{len(_INPUTS)} vectors, b up to 3, every h and s"


def _variance(factor: Fraction) -> str:
    """Without noise the estimate of v_x has variance (sum of the other v_l^2)/b."""
    for v, b in product(_INPUTS, (1, 2, 3)):
        for x in range(3):
            values = _estimates(v, b, x, hashes(3, b))
            found = _mean([y * y for y in values]) - _mean(values) ** 2
            rest = sum((y * y for l, y in enumerate(v) if l != x), Fraction(0))  # noqa: E741
            require(found == rest / b * factor, f"b={b}, x={x}, {v}: variance {found}")
    return f"{len(_INPUTS)} vectors, b up to 3, every h and s"


def _clients(weight: Fraction) -> str:
    """The server's average over two clients, with noise, has mean (v_1 + v_2)/2."""
    b, a, reach = 2, Fraction(1, 4), 5
    for v, w in product(sparse(2, 1, (-1, 0, 1)), repeat=2):
        for x in range(2):
            means = []
            for client in (v, w):
                found = Fraction(0)
                for h, s in hashes(2, b):
                    centre = bins(client, (h, s), b)[h[x]]
                    # clamping at +-reach and the sign average out: the law is odd in s
                    found += s[x] * noisy(int(centre), a, reach).expectation() / 16
                means.append(found)
            clamped = noisy(1, a, reach).expectation()
            server, truth = sum(means) * weight, (v[x] + w[x]) / 2 * clamped
            require(server == truth, f"{v}, {w}, coordinate {x}: {server}, not {truth}")
    return "two clients, d = 2, b = 2, geometric noise clamped at 5, exact"


def _unclipped_range(slack: Fraction) -> str:
    """Clipping at eta >= k changes no bin; at less it does."""
    for k, b in product((1, 2, 3), (1, 2)):
        for v, f in product(sparse(3, k, (-1, 0, 1)), hashes(3, b)):
            same = bins(v, f, b, k * slack) == bins(v, f, b)
            require(same, f"k={k}, b={b}, eta={k * slack}: a bin of {v} is clipped")
    return "d = 3, k up to 3, b up to 2, every h and s"


def _noise_suffices(factor: Fraction) -> str:
    """The bins of L-neighbours are at most L apart, for every h and s."""
    for v, w in pairs(sparse(3, 2, (-1, 0, 1))[::2]):
        length = sum((abs(x - y) for x, y in zip(v, w, strict=True)), Fraction(0))
        found = sensitivity(v, w, 2)
        require(found <= length * factor, f"{v}, {w}: bins {found} apart, inputs {length}")
    return "every second 2-sparse vector over -1, 0, 1 in three dimensions, b = 2"


def _sent(noise: bool) -> str:
    """The message with noise of ratio 1/2, e^epsilon = 2 for inputs at distance 1; or without."""
    a, b = Fraction(1, 2), 2
    laws = {}
    for v in sparse(2, 2, (0, 1)):
        exact = Law.uniform(hashes(2, b)).map(lambda f: (f, bins(v, f, b)))
        laws[v] = report(v, b, a, 3) if noise else exact
    for v, w in pairs(list(laws)):
        ratio = max_loss(laws[v], laws[w])
        require(ratio <= a ** -int(distance(v, w)), f"{v} against {w}: ratio {ratio}")
    return "binary vectors of length 2, two bins, every h and s"


CLAIMS = (
    SVA.verified(
        "Algorithm 1",
        "With independent uniform h and s, s(x) times bin h(x) has mean v_x for every "
        "coordinate x and every vector, so the server's average is unbiased (without clipping).",
        "enumeration",
        **varied(_unbiased, True, False, "two coordinates share their sign"),
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
        "Clipping to [-eta, eta] changes no bin when eta >= k; at a smaller eta it can.",
        "enumeration",
        **varied(_unclipped_range, Fraction(1), Fraction(99, 100), "eta >= 0.99 k"),
    ),
    SVA.verified(
        "Algorithm 1, line 9",
        "Without clipping, the bins of two inputs are at most as far apart in L1 "
        "distance as the inputs, so noise Delta = L gives (epsilon, 0) for L-neighbours; the "
        "whole distance can occur.",
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
        check=lambda: _sent(False),
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
            **varied(_sent, True, False, "the bins before noise"),
        ),
    ),
    SVA.verified(
        "Algorithm 1, line 13",
        "The server averages s_i(x) times the noisy bin h_i(x) over the n clients.",
        "enumeration",
        **varied(_clients, Fraction(1, 2), Fraction(100, 201), "it divides by n + 1/100"),
    ),
)
