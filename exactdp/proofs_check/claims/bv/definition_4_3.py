"""BV, Definitions 4.1 to 4.3: counting-query algorithms and their scaled distribution function."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from exactdp.accounting.divergence import hockey_stick, max_loss
from exactdp.proofs_check.claim import Printed, Quibble, require
from exactdp.proofs_check.claims.bv._errors import beyond
from exactdp.proofs_check.claims.bv._laws import EXACT, STICKY, fast, geo
from exactdp.proofs_check.entries import BV, varied
from exactdp.samplers import exact_law
from exactdp.samplers.count_samplers import CountSampler

__all__ = ["CLAIMS"]

_ALGORITHMS = (geo(1), geo(3, 2), fast(2), fast(4, 3, 5))

#: n and all M(0, u), u = 1, ..., d, of deterministic algorithms with n = 1, d = 2 and n = 2, d = 3.
_ALL_ROWS = tuple((n, row) for n in (1, 2) for row in product(range(n + 1), repeat=n + 1))


def _scaled_range(always: bool) -> str:
    """d P(M(0, U) <= z) >= 1 for all z, always or exactly where M(0, U) can be 0; never above d."""
    for n, row in _ALL_ROWS:
        scaled = {sum(out <= z for out in row) for z in range(n + 1)}
        case = f"M(0, .) = {row}: scaled CDF {sorted(scaled)}"
        require((scaled <= set(range(1, len(row) + 1))) == (always or 0 in row), case)
        require((0 in scaled) == (not always and 0 not in row), case)
    return "all laws of M(0) with n = 1, d = 2 and with n = 2, d = 3"


def _shipped_scaled(shift: int) -> str:
    """The shipped numerators are d P(M(0) <= z), M(0) being what is drawn; d at n."""
    for noise in _ALGORITHMS:
        cdf, law = noise.cdf(0), exact_law(lambda source: noise.sample(0, source), residual=0)
        require(cdf.numerator(noise.n) == cdf.denominator, f"{noise}: not d at n")
        for z in range(noise.n + 1):
            exact = cdf.denominator * sum(law[y] for y in range(z + 1))
            require(cdf.numerator(z) + shift == exact, f"{noise}, z={z}: {exact}")
    return f"{len(_ALGORITHMS)} algorithms, every z"


def _counts_suffice(step: int) -> str:
    """The worst ratio, and delta at e^epsilon, over bit strings and over counts c, c + step."""
    for noise in _ALGORITHMS:
        n = noise.n
        rows = list(product((0, 1), repeat=n))
        strings = [
            (sum(D), sum(E))
            for D, E in product(rows, rows)
            if sum(a != b for a, b in zip(D, E, strict=True)) == 1
        ]
        pairs = [(c, c + s) for c in range(n + 1) for s in (step, -step) if 0 <= c + s <= n]
        for e in (None, Fraction(1), Fraction(9, 8)):
            by_rows, by_counts = _worst(noise, strings, e), _worst(noise, pairs, e)
            case = f"{noise}, e^epsilon={e}"
            require(
                by_rows == by_counts, f"{case}: {by_rows} over strings, {by_counts} over counts"
            )
    return f"{len(_ALGORITHMS)} algorithms, all pairs of neighbouring bit strings"


def _worst(
    noise: CountSampler, pairs: list[tuple[int, int]], e: Fraction | None
) -> Fraction | float:
    """Over pairs of counts: the largest ratio, or with e^epsilon the largest delta."""
    laws = [(noise.law(c), noise.law(d)) for c, d in pairs]
    if e is None:
        return max((max_loss(p, q) for p, q in laws), default=Fraction(1))
    return max((hockey_stick(p, q, e_epsilon=e).upper for p, q in laws), default=Fraction(0))


def _accuracy(less: int) -> str:
    """The failure probability from the distribution function, against sums over the noise."""
    for noise in (*_ALGORITHMS, EXACT, STICKY):
        for c, a in product(range(noise.n + 1), range(1, noise.n + 1)):
            outside = sum(p for z, p in noise.law(c).items() if abs(z - c) > a)
            stated = beyond(noise, c, a - less)
            require(outside == stated, f"{_name(noise)}, c={c}, a={a}: {outside}, not {stated}")
    return "six algorithms, every c and a >= 1"


def _name(noise: CountSampler) -> str:
    return f"{type(noise).__name__}(n={noise.n})"


CLAIMS = (
    BV.verified(
        "Definition 4.1",
        "Privacy for counting queries, defined over neighbouring bit strings, is the "
        "same as over counts c and c + 1 in either order, for delta = 0 and delta > 0.",
        "exact law",
        **varied(_counts_suffice, 1, 2, "over counts c and c + 2"),
    ),
    BV.verified(
        "Definition 4.2",
        "(a, beta)-accuracy: for every count the error exceeds a with probability at "
        "most beta; an error of exactly a counts as accurate.",
        "exact law",
        **varied(_accuracy, 0, 1, "an error of exactly a does not"),
    ),
    Quibble(
        paper="BV",
        item="Definition 4.3",
        printed=Printed(
            r"be the function $F_{\mathcal{M}} : [n] \to [d]_+$ defined as "
            r"$F_{\mathcal{M}}(z) = d \cdot F_{\mathcal{M}(0,U)}(z)$",
            "Section 4, Definition 4.3",
            271,
        ),
        statement="The scaled distribution function F_M of every deterministic counting-query "
        "algorithm takes its values in 1, ..., d.",
        note="Algorithm 6 and Proposition 6.3 take F to have this range; they also work with 0",
        method="enumeration",
        check=lambda: _scaled_range(True),
        example="""
>>> M = lambda c, u: 1                  # n = 1, d = 2; (0, 0)-DP
>>> [sum(M(0, u) <= z for u in (1, 2)) for z in (0, 1)]     # d F(z): 0 is not in {1, 2}
[0, 2]
""",
        extraction="no: [n], [d]_+ and [n]_+ are kept apart throughout; the range is printed as "
        "[d]_+ here and in Proposition 6.3",
        corrected=BV.verified(
            "Definition 4.3, corrected",
            "It takes its values in 1, ..., d exactly where P(M(0) = 0) > 0, and 0 among them "
            "otherwise.",
            "enumeration",
            **varied(_scaled_range, False, True, "in 1, ..., d always"),
        ),
    ),
    BV.verified(
        "Definition 4.3, shipped code",
        "The integer numerators of the shipped samplers are d P(M(0) <= z) for what they draw, and "
        "d at n.",
        "exact law",
        **varied(_shipped_scaled, 0, 1, "one less than that"),
        ours=True,
    ),
)
