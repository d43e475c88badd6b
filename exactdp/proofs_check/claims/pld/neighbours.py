"""Section 4 of the page: the worst neighbours of samples and batches."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product

from flint import acb, arb

from exactdp.balls import ball, precision
from exactdp.normal import hockey_stick, pdf
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.entries import OUR_PLD as PLD
from exactdp.proofs_check.entries import elsewhere, varied

__all__ = ["CLAIMS"]

_BITS = 96

#: Outcome -> probability.
_Law = dict[int, Fraction]

#: Symmetric noise on integers, by its masses at 0, 1, 2, ...
_LOG_CONCAVE = ((6, 4, 1), (3, 2, 1), (64, 32, 16, 8, 4, 2, 1))
_OTHER = ((1, 3), (2, 1, 4))
_RATES = (Fraction(1, 5), Fraction(2, 3))
_RATIOS = tuple(Fraction(r) for r in ("1/4", "2/3", "1", "6/5", "5/2"))


def _noise(masses: tuple[int, ...]) -> _Law:
    total = 2 * sum(masses) - masses[0]
    return {z: Fraction(masses[abs(z)], total) for z in range(1 - len(masses), len(masses))}


def _moved(law: _Law, by: int) -> _Law:
    return {z + by: p for z, p in law.items()}


def _mixed(*parts: tuple[Fraction, _Law]) -> _Law:
    found: _Law = {}
    for weight, law in parts:
        for z, p in law.items():
            found[z] = found.get(z, Fraction(0)) + weight * p
    return found


def _excess(p: _Law, q: _Law, ratio: Fraction) -> Fraction:
    """sup over S of P(S) - ratio Q(S)."""
    gains = (p.get(z, Fraction(0)) - ratio * q.get(z, Fraction(0)) for z in p.keys() | q.keys())
    return sum((gain for gain in gains if gain > 0), Fraction(0))


def _poisson(log_concave: bool) -> str:
    """All contributions of a user from -2 to 2, before and after."""
    count = 0
    for masses, rate in product(_LOG_CONCAVE if log_concave else _OTHER, _RATES):
        noise = _noise(masses)
        laws = [_mixed((1 - rate, noise), (rate, _moved(noise, u))) for u in range(-2, 3)]
        for ratio in _RATIOS:
            worst = _excess(laws[4], laws[0], ratio)
            for p, q in product(laws, repeat=2):
                count += 1
                require(_excess(p, q, ratio) <= worst, f"masses {masses}, q={rate}, x={ratio}")
    return f"{count} pairs of laws"


def _curve(noise: _Law, rate: Fraction, ratio: Fraction, moves: int) -> Fraction:
    """The curve of a batch: one law above ratio 1, its reverse below."""
    without, with_ = noise, _mixed((1 - rate, noise), (rate, _moved(noise, moves)))
    return _excess(with_, without, ratio) if ratio >= 1 else _excess(without, with_, ratio)


def _batches(moves: int) -> str:
    """All data sets of three users who add -1, 0 or 1, in batches of one or two."""
    count = 0
    for masses, size in product(_LOG_CONCAVE, (1, 2)):
        noise = _noise(masses)
        data = list(product((-1, 0, 1), repeat=3))
        laws = {users: _all_batches(noise, users, size) for users in data}
        for ratio in _RATIOS:
            worst = _curve(noise, Fraction(size, 3), ratio, moves)
            found = [
                _excess(laws[users], laws[other, *users[1:]], ratio)
                for users, other in product(data, (-1, 0, 1))
            ]
            count += len(found)
            require(max(found) == worst, f"masses {masses}, batches of {size}, x={ratio}")
    return f"{count} pairs of data sets; attained at every ratio"


def _all_batches(noise: _Law, users: tuple[int, ...], size: int) -> _Law:
    chosen = list(combinations(users, size))
    weight = Fraction(1, len(chosen))
    return _mixed(*((weight, _moved(noise, sum(batch))) for batch in chosen))


def _reversed(scaled: bool) -> str:
    """The curve of the reversed pair."""
    pairs = [(_noise(a), _moved(_noise(b), 1)) for a, b in product(_LOG_CONCAVE, repeat=2)]
    for (p, q), x in product(pairs, _RATIOS):
        back = _excess(q, p, 1 / x)
        require(_excess(p, q, x) == 1 - x + (x * back if scaled else back), f"x={x}")
    return f"{len(pairs)} pairs, five ratios"


def _atoms(kept: bool) -> str:
    """The measure of a batch, made of the losses above 0, against its curve."""
    for masses, rate in product(_LOG_CONCAVE[:2], _RATES):
        noise = _noise(masses)
        other = _moved(noise, 2)
        mixed = _mixed((1 - rate, noise), (rate, other))
        pairs = [
            (p, noise.get(z, Fraction(0)))
            for z, p in mixed.items()
            if p > noise.get(z, Fraction(0))
        ]
        left = 1 - sum((p + q for p, q in pairs), Fraction(0))
        outcomes = [*pairs, *((q, p) for p, q in pairs), *([(left, left)] * kept)]
        for ratio in _RATIOS:
            found = sum((max(p - ratio * q, Fraction(0)) for p, q in outcomes), Fraction(0))
            require(found == _curve(noise, rate, ratio, 2), f"masses {masses}, q={rate}, x={ratio}")
    return "four measures, five ratios"


def _covariances(centred: bool) -> str:
    """E (1 - a e^X - b e^Y)_+ for normal X, Y with E e^X = E e^Y = 1 and growing covariances."""
    count = 0
    with precision(_BITS):
        for start in ((1, Fraction(1, 2), 1), (Fraction(1, 2), 0, 2), (2, Fraction(-1, 2), 1)):
            base = [Fraction(c) for c in start]
            for a, b in ((Fraction(1, 4), Fraction(1, 2)), (Fraction(1), Fraction(1, 5))):
                before = _mean(base, a, b, centred)
                for i in range(3):
                    grown = list(base)
                    grown[i] += Fraction(1, 4)
                    count += 1
                    after = _mean(grown, a, b, centred)
                    require(bool(before < after), f"{start}, entry {i}, a={a}, b={b}")
    return f"{count} steps along entries of covariance matrices"


def _mean(covariances: list[Fraction], a: Fraction, b: Fraction, centred: bool) -> arb:
    """By the mean over Y given X, which is the price of an option, integrated over X."""
    xx, xy, yy = (ball(c) for c in covariances)
    deviation, width = xx.sqrt(), (yy - xy * xy / xx).sqrt()
    shift = arb(1) / 2 if centred else arb(0)
    end = ((-ball(a).log() + shift * xx) / deviation).lower()

    def integrand(z: acb, _: bool) -> acb:
        left = 1 - ball(a) * (deviation * z - shift * xx).exp()
        mean = xy / deviation * z - shift * yy + ball(b).log()
        if not left.real > 0:
            return acb("nan", "nan")
        place = (left.log() - mean) / width
        price = left * _cdf(place) - (mean + width * width / 2).exp() * _cdf(place - width)
        return price * (-z * z / 2).exp() / (2 * arb.pi()).sqrt()

    last = (end - arb(2) ** -30).mid()
    inside = acb.integral(integrand, -9, last, abs_tol=arb(2) ** -40).real
    # at most 1, over the rest of the line and next to the end
    return inside + arb(0.5, 0.5) * (pdf(arb(9)) + arb(2) ** -29)


def _cdf(z: acb) -> acb:
    return (-z / arb(2).sqrt()).erfc() / 2


def _tangent(factor: Fraction) -> str:
    """The tangent at the right end of a cell of a Gaussian curve, at the left end."""
    count = 0
    with precision(_BITS):
        for mu, h in product((Fraction(1, 2), Fraction(2)), (Fraction(1, 8), Fraction(1, 100))):
            for left in _places(mu):
                m, right = ball(mu), ball(left + h)
                slope = -_cdf(acb(-m / 2 - right / m)).real
                x, y = ball(left).exp(), right.exp()
                gap = hockey_stick(ball(left), m) - (hockey_stick(right, m) + slope * (x - y))
                centre = mu * mu / 2
                nearest = max(left - centre, Fraction(0)) - max(centre - left - h, Fraction(0))
                bound = ball(h).expm1() ** 2 / 2 * pdf(ball(nearest / mu)) / m * ball(factor)
                count += 1
                require(bool(gap <= bound), f"mu={mu}, h={h}, cell at {left}")
    return f"{count} cells"


def _places(mu: Fraction) -> Iterator[Fraction]:
    for i in range(-20, 21, 4):
        yield i * mu / 10


CLAIMS = (
    PLD.verified(
        "Section 4, covariances",
        "For normal X, Y with E e^X = E e^Y = 1 and a, b > 0, E (1 - a e^X - b e^Y)_+ rises with "
        "each of their variances and with their covariance.",
        "certified numerics",
        **varied(_covariances, True, False, "with E X = E Y = 0 instead"),
    ),
    PLD.verified(
        "Section 4, replacement on Poisson samples",
        "With symmetric log-concave noise on a number, no two contributions within the sensitivity "
        "leak more, at any ratio, than plus and minus the sensitivity.",
        "enumeration",
        **elsewhere(
            "the mutant speaks of other noise",
            varied(_poisson, True, False, "with symmetric noise that is not log-concave"),
        ),
    ),
    PLD.verified(
        "Section 4, batches",
        "The curve of a batch drawn without replacement is nowhere above that of a Poisson sample "
        "for twice the sensitivity, with the user against without from ratio 1 on and the "
        "reverse below, and data sets attain it at every ratio.",
        "enumeration",
        **varied(_batches, 2, 1, "for the sensitivity itself"),
    ),
    PLD.verified(
        "Section 4, reversed pair",
        "The curve of the reversed pair is 1 - x + x D(1/x).",
        "enumeration",
        **varied(_reversed, True, False, "1 - x + D(1/x)"),
    ),
    PLD.verified(
        "Section 4, measure of a batch",
        "The losses above 0 of a sampled pair, with masses under P and Q, the same exchanged, and "
        "an atom of loss 0 for all that is left, have the curve of a batch.",
        "enumeration",
        **varied(_atoms, True, False, "without the atom"),
    ),
    PLD.verified(
        "Section 2, tangent at the largest loss",
        "At the left end of a cell of length h, the tangent at its right end is below a Gaussian "
        "curve by at most (e^h - 1)^2/2 times the largest density of the loss in the cell.",
        "certified numerics",
        **varied(_tangent, Fraction(1), Fraction(95, 100), "95 percent of it"),
    ),
)
