"""Section 4 of the page certified-pld: the worst neighbours of samples and batches."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product

from flint import acb, arb

from exactdp.balls import ball, precision
from exactdp.normal import pdf
from exactdp_proofs.comparisons import at_most, below, equal
from exactdp_proofs.rationals import Fraction, raised
from exactdp_proofs.statements import PLD, mutant

#: Outcome -> probability.
_Law = dict[int, Fraction]

#: Symmetric noise on integers, by its masses at 0, 1, 2, ...
_LOG_CONCAVE = ((6, 4, 1), (3, 2, 1), (64, 32, 16, 8, 4, 2, 1))
_RATES = (Fraction(1, 5), Fraction(2, 3))
_RATIOS = tuple(Fraction(r) for r in ("1/4", "2/3", "1", "6/5", "5/2"))


def _noise(masses: tuple[int, ...], loss: Fraction = Fraction(1)) -> _Law:
    """Symmetric noise; what a move loses is multiplied by `loss`."""
    sharper = [raised(Fraction(mass), loss) for mass in masses]
    total = 2 * sum(sharper) - sharper[0]
    return {z: sharper[abs(z)] / total for z in range(1 - len(masses), len(masses))}


def _moved(law: _Law, by: int) -> _Law:
    return {z + by: p for z, p in law.items()}


def _mixed(*parts: tuple[Fraction, _Law]) -> _Law:
    mixture: _Law = {}
    for weight, law in parts:
        for z, p in law.items():
            mixture[z] = mixture.get(z, Fraction(0)) + weight * p
    return mixture


def _excess(p: _Law, q: _Law, ratio: Fraction) -> Fraction:
    """sup over S of P(S) - ratio Q(S)."""
    gains = (p.get(z, Fraction(0)) - ratio * q.get(z, Fraction(0)) for z in p.keys() | q.keys())
    return sum((gain for gain in gains if gain > 0), Fraction(0))


@PLD.holds("Section 4", "covariances")
@mutant("with E X = E Y = 0 instead", centred=False)
def covariances(centred: bool = True) -> None:
    """For normal X, Y with E e^X = E e^Y = 1 and a, b > 0, E (1 - a e^X - b e^Y)_+ rises with each
    of their variances and with their covariance. (Random shifts and replaced data rest on this.)
    """
    with precision(96):
        for texts in (("1", "1/2", "1"), ("1/2", "0", "2"), ("2", "-1/2", "1")):
            start = [Fraction(t) for t in texts]
            for a, b in ((Fraction(1, 4), Fraction(1, 2)), (Fraction(1), Fraction(1, 5))):
                before = _mean(start, a, b, centred)
                for i in range(3):
                    grown = [c + Fraction(i == j, 4) for j, c in enumerate(start)]
                    after = _mean(grown, a, b, centred)
                    below(before, after, start=texts, entry=i, a=a, b=b)


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


@PLD.holds(
    "Section 4", "replacement on Poisson samples", elsewhere="the mutant is about other noise"
)
@mutant("with symmetric noise that is not log-concave", noises=((1, 3), (2, 1, 4)))
def replacement(
    noises: tuple[tuple[int, ...], ...] = _LOG_CONCAVE, loss: Fraction = Fraction(1)
) -> None:
    """With symmetric log-concave noise on a number, no two contributions within the sensitivity
    leak more, at any ratio, than plus and minus the sensitivity.
    """
    for masses, rate in product(noises, _RATES):
        laws, stated = (
            [_mixed((1 - rate, noise), (rate, _moved(noise, u))) for u in range(-2, 3)]
            for noise in (_noise(masses, loss), _noise(masses))
        )
        for ratio in _RATIOS:
            worst = _excess(stated[4], stated[0], ratio)
            for p, q in product(laws, repeat=2):
                at_most(_excess(p, q, ratio), worst, noise=masses, rate=rate, ratio=ratio)


def _batch_curve(noise: _Law, rate: Fraction, ratio: Fraction, moves: int) -> Fraction:
    """The curve of a batch: one law above ratio 1, its reverse below."""
    sampled = _mixed((1 - rate, noise), (rate, _moved(noise, moves)))
    return _excess(sampled, noise, ratio) if ratio >= 1 else _excess(noise, sampled, ratio)


@PLD.holds("Section 4", "batches")
@mutant("for the sensitivity itself", moves=1)
def batches(moves: int = 2, loss: Fraction = Fraction(1)) -> None:
    """The curve of a batch drawn without replacement is nowhere above that of a Poisson sample for
    twice the sensitivity, with the user against without from ratio 1 on and the reverse below,
    and data sets attain it at every ratio: all of three users who add -1, 0 or 1.
    """
    for masses, size in product(_LOG_CONCAVE, (1, 2)):
        noise, data = _noise(masses), list(product((-1, 0, 1), repeat=3))
        less = _noise(masses, loss)
        laws = {users: _all_batches(less, users, size) for users in data}
        for ratio in _RATIOS:
            delta = max(
                _excess(laws[users], laws[other, *users[1:]], ratio)
                for users, other in product(data, (-1, 0, 1))
            )
            worst = _batch_curve(noise, Fraction(size, 3), ratio, moves)
            equal(delta, worst, noise=masses, size=size, ratio=ratio)


def _all_batches(noise: _Law, users: tuple[int, ...], size: int) -> _Law:
    chosen = list(combinations(users, size))
    weight = Fraction(1, len(chosen))
    return _mixed(*((weight, _moved(noise, sum(batch))) for batch in chosen))


@PLD.holds("Section 4", "reversed pair")
@mutant("1 - x + D(1/x)", scaled=False)
def reversed_pair(scaled: bool = True) -> None:
    """The curve of the reversed pair is 1 - x + x D(1/x)."""
    for (a, b), x in product(product(_LOG_CONCAVE, repeat=2), _RATIOS):
        p, q = _noise(a), _moved(_noise(b), 1)
        back = _excess(q, p, 1 / x)
        equal(_excess(p, q, x), 1 - x + (x * back if scaled else back), x=x)


@PLD.holds("Section 4", "measure of a batch", no_mechanism="one pair of laws, written in two ways")
@mutant("without the atom", atom=False)
def measure_of_a_batch(atom: bool = True) -> None:
    """The losses above 0 of a sampled pair, with masses under P and Q, the same exchanged, and an
    atom of loss 0 for all that is left, have the curve of a batch.
    """
    for masses, rate in product(_LOG_CONCAVE[:2], _RATES):
        noise = _noise(masses)
        sampled = _mixed((1 - rate, noise), (rate, _moved(noise, 2)))
        pairs = [(p, noise.get(z, Fraction(0))) for z, p in sampled.items()]
        pairs = [(p, q) for p, q in pairs if p > q]
        left = 1 - sum((p + q for p, q in pairs), Fraction(0))
        outcomes = [*pairs, *((q, p) for p, q in pairs), *([(left, left)] * atom)]
        for x in _RATIOS:
            delta = sum((max(p - x * q, Fraction(0)) for p, q in outcomes), Fraction(0))
            equal(delta, _batch_curve(noise, rate, x, 2), noise=masses, rate=rate, x=x)


@PLD.holds("Section 4", "any mechanism on batches", no_mechanism="it is about any three laws")
@mutant("q D(2 x)", sum_of_both=False)
def any_mechanism(sum_of_both: bool = True) -> None:
    """For x >= 1 the curve of a batch is at most q D(a + x), a = (1 - q)(x - 1)/q, where D is the
    larger curve of the data with the user against each of the two without.
    """
    for rate, (own, other, rest) in product((Fraction(1, 4), Fraction(2, 3)), _three_laws()):
        p, q = (_mixed((1 - rate, rest), (rate, law)) for law in (own, other))
        for x in (Fraction(1), Fraction(6, 5), Fraction(2)):
            at = (1 - rate) * (x - 1) / rate + x if sum_of_both else 2 * x
            bound = rate * max(_excess(own, rest, at), _excess(own, other, at))
            at_most(_excess(p, q, x), bound, rate=rate, x=x, laws=(own, other, rest))


def _three_laws() -> Iterator[tuple[_Law, ...]]:
    """Laws on three outcomes, in tenths."""
    tenths = [(a, b, 10 - a - b) for a in (1, 4, 7) for b in (1, 2)]
    for three in product(tenths, repeat=3):
        yield tuple({i: Fraction(t, 10) for i, t in enumerate(law)} for law in three)
