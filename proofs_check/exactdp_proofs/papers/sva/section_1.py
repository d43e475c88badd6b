"""SVA, abstract, Section I and Appendix B: announced notions and numbers."""

from __future__ import annotations

from itertools import product

from exactdp.accounting.divergence import max_loss
from exactdp.balls import ball, precision
from exactdp.law import Law
from exactdp.local import SparseVectorMean
from exactdp.local.sparse import KFold, OneBit, Sampled
from exactdp_proofs.comparisons import at_most, below, equal, within
from exactdp_proofs.papers.sva._model import distance, events, pairs, sparse
from exactdp_proofs.papers.sva._published import EVENT, USER, Row, half_unit
from exactdp_proofs.rationals import Fraction, raised
from exactdp_proofs.statements import SVA, as_printed, fitted, mutant


def _flipped(v: tuple[Fraction, ...], e_epsilon: Fraction) -> Law[tuple[int, ...]]:
    """Randomized response on both bits."""
    p = e_epsilon / (e_epsilon + 1)
    bit = [Law({int(x): p, 1 - int(x): 1 - p}) for x in v]
    return bit[0].product(bit[1]).map(tuple)


@SVA.note("Section I-A", "special cases")
@as_printed(power=1)
@mutant("e^(3 epsilon)", power=3)
def special_cases(power: int = 2, loss: Fraction = Fraction(1)) -> None:
    r"""Event-level privacy is the special case L = 2 of L-neighbouring privacy.

    Printed (Section I-A, Additional contributions, line 87): Note that the commonly known user-
        and event-level LDP notions are special cases of the above more generalized notion, for
        $L = 2k$ and $L = 2$, respectively.
    Corrected: Privacy for 2-neighbouring inputs implies event-level privacy, not conversely:
        randomized response on two bits costs e^epsilon per event and e^(2 epsilon) for inputs at
        distance 2. Section III-B states the exact relations.
    Extraction: no; Section III has the implication only.

    >>> from fractions import Fraction as F    # randomized response, e^epsilon = 2
    >>> keep = {True: F(2, 3), False: F(1, 3)}
    >>> p = lambda y, v: keep[y[0] == v[0]] * keep[y[1] == v[1]]
    >>> p((0, 0), (0, 0)) / p((0, 0), (0, 1))        # one event
    Fraction(2, 1)
    >>> p((0, 0), (0, 0)) / p((0, 0), (1, 1))        # L1 distance 2, two events
    Fraction(4, 1)
    """
    e_epsilon = Fraction(2)
    laws = {v: _flipped(v, raised(e_epsilon, loss)) for v in sparse(2, 2, (0, 1))}
    losses = {(v, w): max_loss(laws[v], laws[w]) for v, w in pairs(list(laws))}
    equal(max(ratio for pair, ratio in losses.items() if events(*pair) == 1), e_epsilon)
    equal(max(ratio for pair, ratio in losses.items() if distance(*pair) <= 2), e_epsilon**power)


def _best(rows: dict[str, Row], column: str) -> tuple[str, str]:
    """The printed error of the best other method with short reports, and ours."""
    others = (rows[m] for m in ("k-fold", "sampling", "Harmony", "PCKV") if m in rows)
    ours = getattr(rows["ours"], column)
    return min((getattr(row, column) for row in others), key=Fraction), (
        "0.000083" if ours == "0.00083" else ours  # see Table V, our event-level MSE
    )


def _reductions(column: str, low: str, high: str) -> None:
    """The smallest and the largest reduction, where printed errors may be off by half a unit."""
    least, most = [], []
    for level, name in product((EVENT, USER), EVENT):
        best, ours = _best(level[name], column)
        least.append((Fraction(best) - half_unit(best)) / (Fraction(ours) + half_unit(ours)))
        most.append((Fraction(best) + half_unit(best)) / (Fraction(ours) - half_unit(ours)))
    for name, stated, pick in (("smallest", low, min), ("largest", high, max)):
        ends = pick(least) - half_unit(stated), pick(most) + half_unit(stated)
        within(Fraction(stated), sum(ends) / 2, (ends[1] - ends[0]) / 2, ratio=name)


_ROUNDED = "printed errors may be off by half a unit of their last digit"


@SVA.holds("Section I-A", "1.8x to 7.3x", slack=_ROUNDED)
@mutant(high="7.8")
def worst_errors(low: str = "1.8", high: str = "7.3") -> None:
    """On the real data our L_infinity error is 1.8 to 7.3 times smaller than that of the best other
    method with short reports.

    Note: naive perturbation, with reports of 4d bytes, is left out; with it the largest ratio
        would be 4.0.
    """
    _reductions("worst", low, high)


@SVA.holds("Section I-A", "3.1x to 114.3x", slack=_ROUNDED)
@mutant(high="120.0")
def square_errors(low: str = "3.1", high: str = "114.3") -> None:
    """On the real data our mean square error is 3.1 to 114.3 times smaller than that of the best
    other method with short reports, with 0.000083 in Table V.
    """
    _reductions("square", low, high)


@SVA.holds("Abstract", "one or two orders of magnitude", ours=True)
@mutant(many=3)
def orders(many: int = 2) -> None:
    """Of the twelve comparisons with the best method with short reports in Tables IV to VI, two
    show a reduction by a factor of 10 or more, both in mean square error. The abstract says
    "often".
    """
    ratios = [_best(level[name], c) for level in (EVENT, USER) for name in level for c in _COLUMNS]
    equal(sum(Fraction(best) >= 10 * Fraction(ours) for best, ours in ratios), many)


_COLUMNS = ("worst", "square")
_N, _D, _K = 10**5, 10**5, 64


@SVA.holds("Section I-A", "29.6x and 5.0x at event level")
@mutant(bins=32)
def event_headline(bins: int = 16) -> None:
    """At n = d = 1e5, k = 64 and epsilon = 1 the mean square error is 29.6 times, and the
    L_infinity error 5.0 times smaller than that of k-fold repetition: the exact variances allow
    25 to 37.5 times, by the size of a user's values, and the root of the smallest ratio is 5.0.
    """
    ours = SparseVectorMean(d=_D, k=_K, epsilon=1, level="event", bins=bins).plan
    before = KFold(d=_D, k=_K, epsilon=1).variance
    full, empty = before / ours.variance, before / ours.noise  # 64 entries of size 1, or none
    at_most(Fraction(296, 10), empty)
    at_most(full, Fraction(505, 100) ** 2)
    at_most(full, Fraction(296, 10))


@SVA.holds("Section I-A", "29.6x at user level, one bit", ours=True)
@mutant(times=Fraction(348, 10))
@fitted(times=Fraction(347, 10))
def one_bit_headline(times: Fraction = Fraction(296, 10)) -> None:
    """With one randomized bit of the sum clipped at sqrt(k log n)/2.5, which is what the published
    code sends, the variance is at least 29.6 times smaller than that of sampling (n = d = 1e5,
    k = 64, epsilon = 1), before the bias of clipping.
    """
    with precision(80):
        root = (_K * ball(_N).log()).sqrt() / ball(Fraction(5, 2))
        eta = Fraction(round(float(root) * 64), 64)
        below(abs(root - ball(eta)), Fraction(1, 64))
    before = Sampled(d=_D, k=_K, epsilon=1).variance
    at_most(times, before / OneBit(d=_D, k=_K, epsilon=1, clip=eta).variance)


@SVA.holds("Section I-A", "29.6x at user level, with Laplace noise", ours=True)
@mutant(most=Fraction(145, 100))
def laplace_headline(most: Fraction = Fraction(146, 100)) -> None:
    """With Table II's clipping and Laplace noise, which the paper describes, the variance is at
    most 1.46 times smaller than that of sampling (n = d = 1e5, k = 64, epsilon = 1), for every
    beta <= 1: not 29.6 times.
    """
    before = Sampled(d=_D, k=_K, epsilon=1).variance
    with precision(80):
        noise = 8 * 2 * _K * ball(4 * _N).log()  # beta = 1; a smaller beta has more noise
        at_most(ball(before) / noise, most)


SVA.not_checkable(
    "Section I-A",
    "Reports are smaller or up to a few times larger than a TCP/IP header of 20 bytes.",
    "a comparison in words: reports have 9 bytes at user level and up to 105 at event level in "
    "Tables IV to VI, and a TCP/IP header has 40 bytes or more",
    "report size",
)
SVA.not_checkable(
    "Appendix B",
    "Errors, bias and communication of other methods.",
    "cited from other papers; Table I has the shipped ones",
)
