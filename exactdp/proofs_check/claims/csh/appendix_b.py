"""CSH, Appendix B: the proof of Theorem 3.5, step by step."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from math import isqrt

from flint import acb, arb

from exactdp.accounting.sparse_histograms.csh_exact import pair
from exactdp.balls import ball
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.csh._model import (
    BITS,
    MIXED,
    at_most,
    cdf,
    equal,
    family,
    point,
    precision,
)
from exactdp.proofs_check.claims.csh._published import delta_gauss, fourth, log_psi, third
from exactdp.proofs_check.claims.csh.appendix_b_missing_piece import phi
from exactdp.proofs_check.entries import CSH, varied

__all__ = ["CLAIMS"]


def _vectors(moves: tuple[int, ...], k: int, offset: Fraction) -> list[arb]:
    """g - g^: the differences of the shared entries (counts of X below those of X') and the last.

    offset: by which all noisy counters of X' are lowered, and the shared noise is raised.
    """
    return [*(ball(m - offset) for m in moves), ball(offset) * arb(k).root(4)]


def _length(counters: Callable[[int, int], int]) -> str:
    """With the offset 1/2, |g - g^| = (counters + sqrt k)^(1/2)/2."""
    with precision(BITS):
        for k in (2, 5, 16):
            for j in range(1, min(k, 5)):
                for moves in product((0, 1), repeat=j):
                    gaps = _vectors(moves, k, Fraction(1, 2))
                    found = sum((x * x for x in gaps), arb(0)).sqrt()
                    wanted = (counters(j, k) + arb(k).sqrt()).sqrt() / 2
                    case = f"k={k}, changes {moves}: {found.mid().str(9)}"
                    require(equal(found, wanted), f"{case}, not {wanted.mid().str(9)}")
    return "k = 2, 5, 16, j < k up to 4, every change"


def _uncentred(fewer: int) -> str:
    """Without the offset |g - g^|^2 is j - fewer at most, for k = 49."""
    with precision(BITS):
        for j in range(1, 7):
            gaps = [_vectors(moves, 49, Fraction(0)) for moves in product((0, 1), repeat=j)]
            sizes = [sum((x * x for x in gap), arb(0)) for gap in gaps]
            most = max(sizes, key=lambda size: size.mid())
            require(equal(most, arb(j - fewer)), f"j={j}: squared {most.mid()}")
    return "j up to 6, every change of the shared counters"


def _largest_support(more: int) -> str:
    """The third and fourth terms for |U| = l, j < l < k + more, are at most those for |U| = k."""
    count = 0
    with precision(BITS):
        for at in (*MIXED, point(9, "20", "30", "0.1")):
            for j in sorted({1, at.k // 3, at.k - 2}):
                for size in sorted({j + 1, (j + at.k) // 2, at.k - 1 + more}):
                    for term in (third, fourth):
                        found, worst = term(at, j, size), term(at, j)
                        count += 1
                        case = f"k={at.k}, j={j}, |U|={size}, {term.__name__} term"
                        text = f"{found.mid().str(9)} > {worst.mid().str(9)}"
                        require(at_most(found, worst), f"{case}: {text}")
    return f"{count} triples of k, j and |U|, and term"


def _ends(share: Fraction) -> str:
    """P(some of r <= k new counters shows) <= 1 - psi(k), and j <= k shared counters alone lose at
    most the Gaussian delta (both times share).
    """
    with precision(BITS):
        # U empty nearly reaches its bound at the last point, U = U' at the first
        for at in (*MIXED, point(9, "4", "9", "0.1"), point(100, "20", "20", "0.35")):
            of, sizes = family(at), sorted({1, at.k // 2, at.k})
            appear = [(0, 0, r) for r in sizes]
            change = [(j, a, 0) for j in sizes for a in sorted({1, (j + isqrt(at.k)) // 2, j})]
            bounds = (appear, -log_psi(at, at.k).expm1()), (change, delta_gauss(at))
            for numbers, stated in bounds:
                for j, a, r in (n for n in numbers if n[1] <= n[0]):
                    exact = pair(of, j, a, r)
                    case = f"{at}, (j, a, r) = {j, a, r}: {exact.mid().str(9)}"
                    require(at_most(exact, stated * ball(share)), f"{case} > {stated.mid().str(9)}")
    return f"{len(MIXED) + 2} parameter sets, 1, k/2 and k counters"


def _hidden_and_noise(times: Fraction) -> str:
    """P(Z <= beta | r counters hidden) >= times P(Z <= beta) for the shared noise Z."""
    with precision(BITS):
        for kappa, r, rho in ((2, 1, 1), (3, 4, 2), (4, 10, 3)):  # kappa = sqrt k, r < k
            root = (arb(kappa) / (2 * arb.pi())).sqrt()

            def weighted(
                z: acb, _: bool, kappa: int = kappa, r: int = r, rho: int = rho, root: arb = root
            ) -> acb:
                return (-kappa * z * z / 2).exp() * root * phi(rho - z) ** r

            whole = acb.integral(weighted, acb(-14), acb(14)).real
            for quarters in (-6, -2, 0, 1, 3, 6):
                beta = arb(quarters) / 4
                below = acb.integral(weighted, acb(-14), acb(beta)).real
                given, plain = below / whole, cdf(beta * arb(kappa).sqrt())
                case = f"kappa={kappa}, r={r}, tau/sigma={rho}, beta={quarters / 4}"
                fits = at_most(plain * ball(times), given)
                require(fits, f"{case}: {given.mid().str(9)} < {times} * {plain.mid().str(9)}")
    return "three (kappa, r, tau/sigma), six beta"


#: Near the Gaussian part, half and sqrt j, and near the part of the counters that show (at 4, 1).
_PAIRS = (
    MIXED[0],
    point(4, "6", "20", "1"),
    point(3, "30", "40", "0.1"),
    point(9, "4", "1", "3"),
    point(100, "0.7", "6", "0.1"),
)


def _third_case(share: Fraction) -> str:
    """Every pair U' in U with |U'| = j is below the third term at j (times share)."""
    pairs = 0
    with precision(BITS):
        for at in _PAIRS:
            for j in range(1, min(at.k, 4)):
                stated = third(at, j)
                for a in range(j + 1):
                    exact = pair(family(at), j, a, at.k - j)
                    pairs += 1
                    case = f"{at}, j={j}, a={a}: {exact.mid().str(9)}"
                    require(at_most(exact, stated * ball(share)), f"{case} > {stated.mid().str(9)}")
    return f"{pairs} pairs"


def _chain(sign: int) -> str:
    """e^eps F' + d - F is what the two inequalities leave, both times something positive.

    F = G <= e^(eps^) G' + d and G' <= F'/psi, with eps^ = epsilon + sign ln psi.
    """
    import sympy as sp

    names = "epsilon psi d G G_other F_other"
    epsilon, psi, d, first, second, other = sp.symbols(names, positive=True)
    grow = sp.exp(epsilon + sign * sp.log(psi))
    left = (grow * second + d - first) + grow * (other / psi - second)
    rest = sp.simplify(sp.exp(epsilon) * other + d - first - left)
    require(rest == 0, f"they differ by {rest}")
    return "for every psi > 0 and every chance"


def _worst_event(strict: bool) -> str:
    """No event has a larger P(Y) - e^eps Q(Y) than {e^eps q <= p} (or {q <= p})."""
    laws = (((5, 3, 2), (2, 3, 5)), ((1, 0, 7, 2), (3, 1, 4, 2)), ((4, 3, 2, 1), (1, 2, 3, 4)))
    for weights, others in laws:
        p = [Fraction(w, sum(weights)) for w in weights]
        q = [Fraction(w, sum(others)) for w in others]
        for factor in (Fraction(1), Fraction(5, 4), Fraction(3)):
            gains = [x - factor * y for x, y in zip(p, q, strict=True)]
            chosen = [
                g for g, x, y in zip(gains, p, q, strict=True) if (factor if strict else 1) * y <= x
            ]
            for kept in product((0, 1), repeat=len(p)):
                value = sum((g for g, k in zip(gains, kept, strict=True) if k), Fraction(0))
                case = f"p={p}, q={q}, e^eps={factor}, event {kept}: {value}"
                require(value <= sum(chosen, Fraction(0)), case)
    return "3 pairs of laws, 3 epsilons, every event"


CLAIMS = (
    CSH.verified(
        "Appendix B, distance of g and g^",
        "The two vectors are (j + sqrt k)^(1/2)/2 apart, whichever shared counters move.",
        "enumeration",
        **varied(_length, lambda j, _: j, lambda j, k: min(j + 1, k), "(j + 1 + sqrt k)^(1/2)/2"),
    ),
    CSH.verified(
        "Appendix B, distance for gamma = sqrt j",
        "Without the offset, g^_(k+1) = 0, the vectors are at most sqrt j apart, which is reached.",
        "enumeration",
        **varied(_uncentred, 0, 1, "at most sqrt(j - 1)"),
    ),
    CSH.verified(
        "Appendix B, the larger support has k counters",
        "Without loss of generality max(|U|, |U'|) = k: with fewer counters the third "
        "and fourth term at the same j are at most as large, psi(m) falling with m.",
        "certified numerics",
        **varied(_largest_support, 0, 2, "also with k + 1 counters"),
    ),
    CSH.verified(
        "Appendix B, first and second case",
        "U or U' empty leaves at most 1 - psi(k); U = U' at most the Gaussian delta at "
        "sqrt(k + sqrt k)/2, whatever number of counters there are (up to k).",
        "certified numerics",
        **varied(_ends, Fraction(1), Fraction(99, 100), "at most 99 percent of either"),
    ),
    CSH.verified(
        "Appendix B, case U' in U",
        "delta of every pair with |U'| = j, |U| = k is at most the third term at j, "
        "delta_gauss(j) + delta_inf(j).",
        "certified numerics",
        **varied(_third_case, Fraction(1), Fraction(99, 100), "at most 99 percent of it"),
    ),
    CSH.verified(
        "Appendix B, worst event",
        "It suffices to look at the event {e^epsilon <= p/q} (Balle and Wang).",
        "enumeration",
        **varied(_worst_event, True, False, "at {1 <= p/q}"),
        note="the text has F(g) on both sides of the inequality; the second is F(g')",
    ),
    CSH.proved(
        "Appendix B, chain of inequalities",
        "With eps^ = epsilon + ln psi, P(G) <= e^(eps^) P(G') + d and P(G') <= P(F')/psi give "
        "P(G) <= e^epsilon P(F') + d.",
        "symbolic",
        **varied(_chain, 1, -1, "with eps^ = epsilon - ln psi"),
    ),
    CSH.verified(
        "Appendix B, Bayes' theorem",
        "Given that the new counters stay hidden, a small shared noise is likelier: "
        "P(g~_(k+1) <= beta | no bottom) >= P(g~_(k+1) <= beta) for every beta.",
        "certified numerics",
        **varied(_hidden_and_noise, Fraction(1), Fraction(101, 100), "by 1 percent at least"),
    ),
)
