"""CSH, Lemma 7.5: Algorithm 4 is zCDP; its proof has two misprints."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from flint import arb

from exactdp.balls import ball
from exactdp.proofs_check.claim import Printed, Refuted, require
from exactdp.proofs_check.claims.csh._discrete import masses, renyi, sum_law
from exactdp.proofs_check.claims.csh._model import BITS, at_most, precision
from exactdp.proofs_check.entries import CSH, varied

__all__ = ["CLAIMS"]

_SIGMAS = tuple(Fraction(s) for s in ("0.2", "0.35", "1", "3"))
_ORDERS = tuple(Fraction(a) for a in ("1.1", "2", "3.3", "5"))


def _one_counter(scale: Fraction) -> str:
    """k = 1: half-steps, so the sum Z_1 + Z moves by 2; rho = 1/(4 sigma^2)."""
    with precision(BITS):
        for sigma in _SIGMAS:
            noise = masses(4 * ball(sigma**2))
            law = sum_law(noise, noise)
            for alpha in _ORDERS:
                found, most = renyi(law, 2, alpha), ball(alpha / (4 * sigma**2) * scale)
                case = (
                    f"k=1, sigma={sigma}, alpha={alpha}: {found.mid().str(9)} > {most.mid().str(9)}"
                )
                require(at_most(found, most), case)
    return f"k = 1, {len(_SIGMAS)} sigmas, {len(_ORDERS)} orders, by summing the law of the output"


def _two_counters(scale: Fraction) -> str:
    """k = 2: D_alpha of the pair, whose law is a sum over the shared noise."""
    with precision(96):
        for sigma, moves in product((Fraction(3, 10), Fraction(4, 5)), ((1, 0), (1, 1))):
            own = masses(4 * ball(sigma**2))
            shared = masses(4 * ball(sigma**2) / arb(2).sqrt())
            reach = range(-16, 17)
            law = {
                (x, y): sum(
                    (
                        p * own[x - z] * own[y - z]
                        for z, p in shared.items()
                        if x - z in own and y - z in own
                    ),
                    arb(0),
                )
                for x, y in product(reach, repeat=2)
            }
            total = arb(0)
            for (x, y), p in law.items():
                q = law.get((x + 2 * moves[0], y + 2 * moves[1]), arb(0))
                if q > 0 and p > 0:
                    total += p * p / q
            rho = (2 + arb(2).sqrt()) / (8 * ball(sigma**2)) * ball(scale)
            found = total.log()
            case = f"k=2, sigma={sigma}, changes {moves}: {found.mid().str(9)}, alpha rho = "
            require(at_most(found, 2 * rho), f"{case}{(2 * rho).mid().str(9)}")
    return "k = 2, sigma = 0.3 and 0.8, both changes, order 2"


def _proof(sign: int, case: int) -> str:
    """H^(X') = 2 H(X') - sign with last entry sign: all entries differ by one from (2 H(X), 0).

    case: H(X) - H(X') has entries 0 and case. The counters must come back from the sums.
    """
    for counts in product(range(1, 4), repeat=2):
        for move in product((0, 1), repeat=2):
            other = [c - case * m for c, m in zip(counts, move, strict=True)]
            first = [*(2 * c for c in counts), 0]
            second = [*(2 * c - sign for c in other), sign]
            gaps = {abs(x - y) for x, y in zip(first, second, strict=True)}
            back = [Fraction(x + second[-1], 2) for x in second[:-1]]
            require(back == other, f"H(X')={other} comes back as {back}")
            require(gaps == {1}, f"H(X)={counts}, H(X')={other}: entries differ by {sorted(gaps)}")
    return "two counters, every change; all k + 1 entries differ by one"


def _rho(root_power: int) -> str:
    """sum of 1/sigma_i^2 over the k + 1 entries is 2 rho = (k + sqrt k)/(4 sigma^2)."""
    import sympy as sp

    k, sigma = sp.symbols("k sigma", positive=True)
    total = k / (4 * sigma**2) + 1 / (4 * sigma**2 / k ** sp.Rational(1, root_power))
    rest = sp.simplify(total - 2 * (k + sp.sqrt(k)) / (8 * sigma**2))
    require(rest == 0, f"the sum differs by {rest}")
    return "k/(4 sigma^2) + sqrt(k)/(4 sigma^2) = 2 rho"


CLAIMS = (
    CSH.verified(
        "Lemma 7.5",
        "Algorithm 4 is rho-zCDP with rho = (k + sqrt k)/(8 sigma^2) (here for k = 1; the next "
        "entry has k = 2).",
        "certified numerics",
        **varied(_one_counter, Fraction(1), Fraction(98, 100), "98 percent of rho"),
    ),
    CSH.verified(
        "Lemma 7.5, two counters",
        "The same for k = 2, where sqrt k is not an integer (order 2, sigma = 0.3 and 0.8).",
        "certified numerics",
        **varied(
            _two_counters, Fraction(1), Fraction(97, 100), "k + sqrt k replaced by 97 percent"
        ),
    ),
    Refuted(
        paper="CSH",
        item="Lemma 7.5, proof, construction",
        printed=Printed(
            r"\hat{H}(\mathbf{X}^{\prime})_{i}=2\cdot\hat{H}(\mathbf{X}^{\prime})_{i}-1 ... "
            r"and finally ... "
            r"\hat{H}(\mathbf{X}^{\prime})_{k+1}=1",
            "Section 7, Lemma 7.5, proof",
            393,
        ),
        statement="For H(X) - H(X') in {0,1}^k, the vectors (2 H(X), 0) and (2 H(X') - 1, 1) "
        "differ by one in every entry.",
        severity="cosmetic",
        method="enumeration",
        check=lambda: _proof(1, 1),
        example="""
>>> h, h2 = 5, 4                         # H(X) - H(X') = 1
>>> abs(2*h - (2*h2 - 1)), abs(0 - 1)    # should both be 1
(3, 1)
>>> abs(2*h - (2*h2 + 1)), abs(0 - -1)   # with the signs exchanged
(1, 1)
""",
        extraction="no: sign and entry k + 1 agree in all renderings; they fit the case "
        "{0,-1}^k, which the text calls symmetric. It also has H^ for H on the right-hand side, "
        "and N for N_Z in the definition of M",
        corrected=CSH.verified(
            "Lemma 7.5, proof, construction, corrected",
            "For H(X) - H(X') in {0,1}^k take (2 H(X') + 1, -1): every entry differs by "
            "one, and half the sums with the last entry give the counters back.",
            "enumeration",
            **varied(_proof, -1, 1, "(2 H(X') - 1, 1)", 1),
        ),
    ),
    CSH.proved(
        "Lemma 7.5, proof, display",
        "With sigma_i^2 = 4 sigma^2 and sigma_(k+1)^2 = 4 sigma^2/sqrt k, the sum of "
        "1/sigma_i^2 is 2 rho.",
        "symbolic",
        **varied(_rho, 2, 4, "with sigma_(k+1)^2 = 4 sigma^2/k^(1/4)"),
    ),
)
