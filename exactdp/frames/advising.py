"""Which mechanism, and which k: certified noise beside what a bound on keys leaves out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import sqrt
from typing import Any

from exactdp.accounting import pld
from exactdp.accounting.guarantee import Guarantee
from exactdp.accounting.neighbours import ADD_REMOVE, of_one_user
from exactdp.display import Printed
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter, Undecided
from exactdp.frames.candidates import SELECTIONS, Target, mechanism_for, selection_for
from exactdp.frames.counts_and_quantiles import CountsAndQuantiles, for_counts
from exactdp.frames.cutting import users_by_keys
from exactdp.frames.payment import Payment
from exactdp.frames.quantiles import Quantile, quantiles_of
from exactdp.frames.values import Mean, Sum, noises_of, values_of
from exactdp.parameters import Real, delta_target, integer, positive, rational, truth
from exactdp.samplers import DiscreteLaplace, Source, SystemSource
from exactdp.samplers.source import require_secure

#: Values of k that are compared, up to the largest number of keys of a user.
LADDER = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000)


@dataclass(frozen=True)
class Bound:
    """One value of k. noise: bound of the error of one count by noise (95 %). above: smallest
    released count, or None without a threshold. left_out: part of the pairs of user and key beyond
    k, or None if nothing is known. error: noise, and what is left out of the count that was asked
    for."""

    k: int
    noise: int
    above: Fraction | None
    left_out: Fraction | None
    error: Fraction


@dataclass(frozen=True)
class Advised:
    """One mechanism, for the best k. releases: what it answers. promise: its guarantee. noise: None
    for keys alone. needs: number of users from which a key is released with probability 1/2.
    left_out: as of Bound. top: where only the largest counts are released, how many; `needs` is
    then the excess over the next largest count, and what is left out is not known."""

    mechanism: str
    releases: str
    promise: Guarantee
    noise: int | None
    needs: Fraction | None
    left_out: Fraction | None
    top: int | None = None

    @property
    def cells(self) -> list[str]:
        """mechanism, releases, neighbours, assumption, noise, users and what is left out."""
        changed, assumed = of_one_user(self.promise.neighbours)
        needs, lost = _text(self.needs, "-"), _share(self.left_out)
        if self.top is not None:
            needs, lost = f"{needs} above the next", f"all but {self.top} keys"
        noise = "-" if self.noise is None else str(self.noise)
        return [self.mechanism, self.releases, changed, assumed, noise, needs, lost]


@dataclass(frozen=True)
class Advice(Printed):
    """bounds: values of k for the mechanism that counts. mechanisms: side by side for the best k.
    count: the true count whose error is compared. learnt: where the numbers of keys per user come
    from. guarantee: of this look at the data, or None if no private data were read. errors: column
    -> what is released of it, and its error by noise (95 %) for the best k; of a mean, over `count`
    values; of a quantile, a number of ranks."""

    bounds: tuple[Bound, ...]
    mechanisms: tuple[Advised, ...]
    count: int
    learnt: str
    guarantee: Guarantee | None = None
    errors: Mapping[str, tuple[str, float]] = field(default_factory=dict)

    @property
    def best(self) -> Bound:
        """The k with the least error; of two k with equal errors, the smaller."""
        return _best(self.bounds)

    @property
    def tables(self) -> list[tuple[str, list[str], list[list[str]]]]:
        """A title, a header and rows: the values of k, then the mechanisms."""
        head = ["k", "left out", "noise (95 %)", "released above", f"error of {self.count}"]
        rows = [
            [
                str(row.k),
                _share(row.left_out),
                str(row.noise),
                _text(row.above, "all"),
                f"{float(row.error):.0f}",
            ]
            for row in self.bounds
        ]
        named = ["mechanism", "releases", "neighbours", "assumes of a user"]
        named += ["noise (95 %)", "users needed", "left out"]
        others = [each.cells for each in self.mechanisms]
        title, best = f"{self.mechanisms[0].mechanism}, by k", f"k = {self.best.k}"
        tables = [(title, head, rows), (best, named, others)]
        if self.errors:
            header = ["column", "released", f"error (95 %), mean of {self.count}"]
            cells = [[name, what, f"{error:.4g}"] for name, (what, error) in self.errors.items()]
            tables.append((f"sums, means and quantiles, {best}", header, cells))
        return tables

    @property
    def difference(self) -> str:
        """Where one of the mechanisms releases the largest counts alone: what that means."""
        top = next((each.top for each in self.mechanisms if each.mechanism == "top-k"), None)
        if top is None:
            return ""
        return (
            f"top-k and top-k-with-base answer another question: at most {top} keys, those whose "
            f"counts exceed the next largest count by a threshold. If more than {top} keys share "
            "the largest count, both release none of them, however large it is. top-k subtracts "
            "the next largest count from all, top-k-with-base releases it with noise."
        )

    @property
    def said(self) -> str:
        """The recommendation, in a sentence."""
        best, name = self.best, self.mechanisms[0].mechanism
        if best.left_out is None:
            return "noise alone is compared: to choose k, say how many keys users have"
        cost = f"; this look cost {self.guarantee}" if self.guarantee else ""
        return (
            f"{name} with k = {best.k}: a count of {self.count} is wrong by about "
            f"{float(best.error):.0f} (95 %), with keys per user {self.learnt}{cost}"
        )

    def __str__(self) -> str:
        from tabulate import tabulate

        tables = [
            f"{title}\n{tabulate(rows, header, disable_numparse=True)}"
            for title, header, rows in self.tables
        ]
        return "\n\n".join(filter(None, [*tables, self.difference, self.said]))


def advise(
    frame: Any = None,
    *,
    user: str = "",
    by: str | Sequence[str] = "",
    epsilon: Real,
    delta: Real,
    count: int = 1000,
    listed: int | None = None,
    sums: Mapping[str, Sum] | None = None,
    means: Mapping[str, Mean] | None = None,
    quantiles: Mapping[str, Quantile] | None = None,
    share: Real = "1/2",
    times: int = 1,
    prior: Mapping[int, Real] | None = None,
    public: bool = False,
    spend: Real | None = None,
    most: int = 100,
    budget: pld.Budget | None = None,
    source: Source | None = None,
) -> Advice:
    """Compare values of k for a release of counts, and mechanisms side by side for the best k.

    epsilon, delta: the target of the release. listed: number of public keys, if they are known.
    sums, means, quantiles, share, times: as for :func:`release`; noise is then that of the whole
    release.
    count: size of a count whose error is compared, >= 1: its noise plus the part of its users that
    the bound leaves out, if all keys lose equally.
    How many keys users have is never read for free. Give one of:
    prior: number of keys -> weight, as you expect it. public: True if the frame is public, or a
    representative sample that is. spend: > 0 and < epsilon, for noisy numbers of users by their
    number of keys; the rest of epsilon is left for the release. most: >= 2, larger numbers of keys
    count as this one. budget: pays `spend`. Or none of them: noise alone is then compared.
    frame, user, by, source: as for :func:`release`; not read with a prior, or without any of these.
    Raises InvalidParameter, Undecided, EngineError, Exhausted.

    >>> from exactdp import frames
    >>> prior = {1: "0.5", 3: "0.3", 10: "0.15", 100: "0.05"}
    >>> advice = frames.advise(epsilon=1, delta="1e-6", prior=prior, count=200)  # takes seconds
    >>> print(advice.said)
    gshm with k = 100: a count of 200 is wrong by about 83 (95 %), with keys per user as stated
    """
    used = SystemSource() if source is None else source
    require_secure(used)
    if (prior is not None) + truth("public", public) + (spend is not None) > 1:
        raise InvalidParameter("public", public, "given alone: one of prior, public and spend")
    loss, size = positive("epsilon", epsilon), integer("count", count, least=1)
    guarantee, learnt = None, "unknown"
    profile: dict[Any, Fraction] = {}
    if prior is not None:
        profile |= _stated(prior)
        learnt = "as stated"
    elif public:
        profile |= {n: Fraction(c) for n, c in users_by_keys(frame, user, by).items()}
        learnt = "as in the public data"
    elif spend is not None:
        part = delta_target("spend", positive("spend", spend) / loss) * loss
        guarantee = Guarantee(part, Enclosure.exact(0), ADD_REMOVE, "discrete Laplace noise")
        profile |= _noisy(frame, user, by, part, integer("most", most, least=2), used, budget)
        learnt, loss = f"with noise of scale {float(1 / part):.3g}", loss - part
        learnt += _much(profile, part)
    longest = listed or LADDER[-1]
    if profile:
        longest = min(longest, most if spend is not None else max(profile))
    ladder = [k for k in LADDER if k < longest] + [longest]
    values, columns = values_of(sums, means), quantiles_of(quantiles)
    whole = [Target(loss, delta, k, None, times, 1, listed, values, share=share) for k in ladder]
    targets = [for_counts(target, columns) for target in whole]
    bounds = tuple(_bound(each, profile, size) for each in targets)
    place = bounds.index(_best(bounds))
    best = targets[place]
    others = tuple(_side_by_side(best, profile))
    errors = {**_value_errors(best, size), **_rank_errors(whole[place], best, columns)}
    return Advice(bounds, others, size, learnt, guarantee, errors)


def _best(bounds: Sequence[Bound]) -> Bound:
    return min(bounds, key=lambda row: (row.error, row.k))


def _bound(target: Target, profile: Mapping[Any, Fraction], size: int) -> Bound:
    mechanism, _ = mechanism_for("auto", target)
    lost, noise = (
        _left_out(profile, mechanism.k // target.times),
        mechanism.accuracy("0.05").per_query,
    )
    error = noise + size * (lost or Fraction(0))
    return Bound(target.k or 1, noise, _above(mechanism), lost, error)


def _side_by_side(target: Target, profile: Mapping[Any, Fraction]) -> Iterator[Advised]:
    """The mechanisms that can keep this target, each with its error."""
    lost = _left_out(profile, target.k or 1)
    largest = replace(target, k=None, top=target.k)
    listed: list[tuple[str, str, Target]] = [("known-keys", "listed counts", target)]
    if target.listed is None:
        listed = [
            ("gshm", "counts above a threshold", target),
            ("top-k-with-base", f"{target.k} largest counts, and the next", largest),
            ("top-k", f"{target.k} largest counts, less the next", largest),
        ]
    for name, what, question in listed:
        with suppress(InvalidParameter, Undecided):
            mechanism, _ = mechanism_for(name, question)
            noise, left_out = mechanism.accuracy("0.05").per_query, None if question.top else lost
            yield Advised(
                name, what, mechanism.guarantee, noise, _above(mechanism), left_out, question.top
            )
    for name in () if target.listed else SELECTIONS:
        with suppress(InvalidParameter, Undecided):
            keys, _ = selection_for(name, k=target.k or 1, **target.pair, times=target.times)
            yield Advised(name, "keys alone", keys.guarantee, None, Fraction(keys.half), lost)


def _value_errors(target: Target, size: int) -> dict[str, tuple[str, float]]:
    """What is released of each column, and its error by noise; of a mean, over `size` values that
    lie at an end of the range."""
    if not target.values:
        return {}
    mechanism, _ = mechanism_for("auto", target)
    noises = noises_of(target.values, mechanism)
    return {
        column: (value.described(name), error)
        for name, value in target.values.items()
        for column, error in value.errors(name, value.farthest(size), size, noises[name]).items()
    }


def _rank_errors(
    whole: Target, of_counts: Target, quantiles: Mapping[str, Quantile]
) -> dict[str, tuple[str, float]]:
    """What is released of each quantile, and its error as a number of ranks."""
    if not quantiles:
        return {}
    counts, _ = mechanism_for("auto", of_counts)
    errors = CountsAndQuantiles.for_target(counts, quantiles, **whole.pair).rank_errors
    return {
        column: (f"{each.reading.described(name)}; in ranks", errors[column])
        for name, each in quantiles.items()
        for column in each.columns(name)
        if column in errors
    }


def _above(mechanism: Any) -> Fraction | None:
    return 1 + Fraction(mechanism.tau) if hasattr(mechanism, "tau") else None


def _share(part: Fraction | None) -> str:
    return "?" if part is None else f"{float(100 * part):.1f} %"


def _text(number: Fraction | None, nothing: str) -> str:
    return nothing if number is None else f"{float(number):g}"


def _stated(prior: Mapping[int, Real]) -> dict[int, Fraction]:
    weights = {integer("prior", n, least=1): rational("prior", w) for n, w in prior.items()}
    if not weights or min(weights.values()) < 0 or not any(weights.values()):
        raise InvalidParameter("prior", prior, "weights >= 0 of numbers of keys, not all 0")
    return weights


def _noisy(
    frame: Any,
    user: str,
    by: str | Sequence[str],
    epsilon: Fraction,
    most: int,
    source: Source,
    budget: pld.Budget | None,
) -> dict[Fraction, Fraction]:
    """Noisy numbers of users, by ranges of the number of keys; the middle of a range names the
    range.

    One user is in one range, so noise of scale 1/epsilon suffices. Negative numbers are kept: they
    make up for those that are too large.
    """
    exact = users_by_keys(frame, user, by)
    ends = [k for k in LADDER if k < most] + [most]
    counts = dict.fromkeys(ends, 0)
    for number, users in exact.items():
        counts[next((end for end in ends if number <= end), most)] += users
    promise = Guarantee(epsilon, Enclosure.exact(0), ADD_REMOVE, "discrete Laplace noise")
    pay = Payment(budget, "a look at the number of keys per user")
    noise = DiscreteLaplace(scale=1 / epsilon)
    with pay.settled():
        pay(promise)
        return {
            Fraction(before + 1 + end, 2): Fraction(users + noise.sample(source))
            for before, (end, users) in zip([0, *ends], counts.items(), strict=False)
        }


def _much(profile: Mapping[Any, Fraction], epsilon: Fraction) -> str:
    """A warning if the noise (standard deviation) is 10 % of the number of pairs or more."""
    pairs = sum((n * users for n, users in profile.items()), Fraction(0))
    spread = sqrt(2 * sum(n * n for n in profile)) / float(epsilon)
    if spread < pairs / 10:
        return ""
    share = f"{100 * spread / pairs:.0f} % of" if pairs > 0 else "more than"
    return f", in total {share} all pairs of user and key: spend more, or lower `most`"


def _left_out(profile: Mapping[Any, Fraction], k: int) -> Fraction | None:
    """The part, from 0 to 1, of all pairs of user and key that a bound of k keys per user leaves
    out."""
    pairs = sum((n * weight for n, weight in profile.items()), Fraction(0))
    if pairs <= 0:
        return None
    beyond = sum((max(n - k, 0) * weight for n, weight in profile.items()), Fraction(0))
    return min(max(beyond / pairs, Fraction(0)), Fraction(1))
