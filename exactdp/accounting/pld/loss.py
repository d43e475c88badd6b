"""Pld: the privacy loss of mechanisms that are composed, sampled, allocated or grouped.

What few questions need is imported by the methods, so that programs start quickly.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from exactdp.accounting.neighbours import (
    ADD_REMOVE,
    REPLACE_ONE,
    REPLACE_SPECIAL,
    covered_by,
    group,
    is_derived,
    relation,
)
from exactdp.accounting.pld.losses.base import Step
from exactdp.accounting.pld.questions import Questions
from exactdp.display import Displayed, summary
from exactdp.errors import Described, InvalidParameter
from exactdp.fields import converted, frozen, text
from exactdp.parameters import Real, integer, rational

#: The largest number of runs: floats guess where to look.
_MOST_TIMES = 10**18

#: The number of steps that repr and print name.
_MOST_SHOWN = 5

_OURS = "exactdp statement explain certified-pld, section 4"


def _steps(name: str, value: Any) -> tuple[tuple[Step, int], ...]:
    pairs = isinstance(value, tuple) and value
    if not pairs or not all(isinstance(p, tuple) and len(p) == 2 for p in value):
        raise InvalidParameter(name, value, "a tuple of pairs of a step and a number of runs")
    for i, (step, _) in enumerate(value):
        if not isinstance(step, Step):
            raise InvalidParameter(
                f"{name}[{i}]", step, "a step, exactdp.accounting.pld.losses.base"
            )
    return tuple((step, integer("times", times, least=1)) for step, times in value)


@frozen
class Pld(Questions, Displayed):
    """The privacy loss of mechanisms run one after the other, the later ones chosen adaptively.

    Each upper end holds for all mechanisms with these dominating pairs. Each lower end is reached
    by some of them: mechanisms whose pairs one pair of neighbours attains at once. Where no side of
    a pair of neighbours has a name (replace-one neighbours), each run may have its dominating pair
    in its own order, chosen by earlier answers; the lower end then has orders that are fixed.

    steps: each step with its number of runs. neighbours: the relation, the same for all steps.
    source: proves the dominating pairs. Raises InvalidParameter.
    """

    steps: tuple[tuple[Step, int], ...] = converted(_steps)
    neighbours: str = text()
    source: str = text()

    def __repr__(self) -> str:
        return f"<privacy loss: {'; '.join(self._mechanisms())}>"

    def _repr_html_(self) -> str:
        from exactdp.accounting.pld.picture import delta_over_epsilon

        return super()._repr_html_() + delta_over_epsilon(self)

    def _title(self) -> str:
        return "privacy loss"

    def _rows(self) -> Mapping[str, object]:
        mechanisms = {f"mechanism {i}": text for i, text in enumerate(self._mechanisms(), 1)}
        return {**mechanisms, "neighbours": self.neighbours, "source": self.source}

    def _mechanisms(self) -> list[str]:
        """The first mechanisms in a few words each."""
        first, rest = self.steps[:_MOST_SHOWN], self.steps[_MOST_SHOWN:]
        texts = [
            summary(step.removed) + (f", {times} times" if times > 1 else "")
            for step, times in first
        ]
        return texts + ([f"{len(rest)} more"] if rest else [])

    def composed(self, times: int | str) -> Pld:
        """The mechanisms repeated; each run of a sampled mechanism draws a new sample.

        times: number of runs, an integer >= 1 and <= 1e18. Several runs on one sample:
        ``pld.together(loss.composed(n)).sampled(q)``. For neighbours without a named side each run
        has its own order: of laws that are not alike in both orders, two runs can leak more than
        in either order of both.

        >>> from exactdp.accounting import pld
        >>> print(format(pld.gaussian(sigma=10).composed(100).epsilon("1e-5"), "4"))
        [4.377, 4.378]
        """
        count = integer("times", times, least=1)
        if count > _MOST_TIMES:
            raise InvalidParameter("times", times, "an integer >= 1 and <= 1e18")
        return Pld(tuple((step, n * count) for step, n in self.steps), self.neighbours, self.source)

    def then(self, other: Pld) -> Pld:
        """These mechanisms and then the others, on the same data; orders as in :meth:`composed`.

        >>> from fractions import Fraction
        >>> from exactdp.accounting import pld
        >>> from exactdp.law import Law
        >>> p = Law({0: Fraction(50, 100), 1: Fraction(49, 100), 2: Fraction(1, 100)})
        >>> q = Law({0: Fraction(35, 100), 1: Fraction(63, 100), 2: Fraction(2, 100)})
        >>> bit = pld.laws(p, q, neighbours=pld.REPLACE_ONE)  # one of two bits of a user
        >>> print(format(bit.then(bit).delta("0.95"), "4"))  # from (0, 1) to (1, 0) it is 9.5002e-4
        [0.00095, 0.0009501]
        """
        neighbours = covered_by("other", self.neighbours, other.neighbours)
        merged = dict(self.steps)
        for step, n in other.steps:
            merged[step] = merged.get(step, 0) + n
        sources = dict.fromkeys([*self.source.split("; "), *other.source.split("; ")])
        return Pld(tuple(merged.items()), neighbours, "; ".join(sources))

    def sampled(
        self, rate: Real, *, batch_limit: int | str | None = None, users: int | str | None = None
    ) -> Pld:
        """The mechanism on a Poisson sample: each user takes part with probability rate.

        rate: in (0, 1]. Every run draws a new, secret sample. For other neighbours sample first,
        then call :meth:`replaced` or :meth:`grouped`.
        batch_limit: largest size of a sample (truncated Poisson sampling), an integer >= 1; of a
        larger sample a uniformly random part of this size is kept. Then users, the number of users
        including the one who is added or removed, is required, and the noise must be Gaussian. The
        upper end tells when others alone fill the sample; the lower end has others who add 0.
        Raises InvalidParameter for several mechanisms, which could share one sample or have one
        each: ``pld.together(a, b).sampled(q)`` or ``a.sampled(q).then(b.sampled(q))``.
        Source: Zhu, Dong, Wang 2022, Theorem 11; Ganesh et al. 2025 (arXiv 2508.15089).

        >>> from exactdp.accounting import pld
        >>> loss = pld.gaussian(sigma=1).sampled("0.01", batch_limit=60, users=2000)
        >>> print(format(loss.composed(1000).epsilon("1e-5"), "4"))  # takes seconds
        [1.827, 1.829]
        """
        probability = _rate(rate)
        self._only_one("sampled", probability)
        if is_derived(self.neighbours):
            raise InvalidParameter("neighbours", self.neighbours, "chosen after sampling")
        self._only_add_remove()  # a sample leaves out a user: one side has to be without the user
        if (batch_limit is None) != (users is None):
            alone = "batch_limit" if users is None else "users"
            raise InvalidParameter(alone, Described("alone"), "given with batch_limit and users")
        if batch_limit is not None and users is not None:
            from exactdp.accounting.pld.losses.truncated import truncated

            sizes = integer("users", users, least=1), integer("batch_limit", batch_limit, least=1)
            return self._each(
                lambda step: truncated(step, probability, *sizes),
                self.neighbours,
                "Ganesh et al. 2025 (arXiv 2508.15089)",
            )
        if probability == 1:
            return self
        return self._each(
            lambda step: step.sampled(probability),
            self.neighbours,
            "Zhu, Dong, Wang 2022, Theorem 11",
        )

    def batched(self, rate: Real) -> Pld:
        """The mechanism on a batch of fixed size, without replacement; replace-one neighbours.

        rate: batch size over number of users, in (0, 1]. Each user adds at most the sensitivity to
        a sum. The batch of every run is drawn anew, and is secret. The upper end takes neighbours
        that may differ between runs, by the answers so far; the lower end takes the same neighbours
        for all runs.
        Raises InvalidParameter for several mechanisms, as :meth:`sampled` does.

        >>> from exactdp.accounting import pld
        >>> loss = pld.gaussian(sigma=4).batched("0.01").composed(100)
        >>> print(format(loss.epsilon("1e-5"), "3"))  # takes seconds
        [0.189, 0.196]
        """
        probability = _rate(rate)
        self._only_one("batched", probability)
        whole = self if relation(self.neighbours) == relation(REPLACE_ONE) else self.replaced()
        if probability == 1:
            return whole
        return whole._each(
            lambda step: step.batched(probability),
            REPLACE_ONE,
            f"upper bound by worst neighbours: Zhu, Dong, Wang 2022, Proposition 30, {_OURS}",
        )

    def allocated(self, steps: int | str) -> Pld:
        """An epoch of steps, in one of which the user takes part: random allocation.

        steps: number of runs of this mechanism in the epoch, an integer >= 1. For every user one of
        them is drawn uniformly, independently of all other users, and kept secret ("balls in
        bins"). Add-remove neighbours: with the user, or without the user in any step; a null
        record that adds 0 in place of the user gives the same answers. Every epoch of
        :meth:`composed` draws anew. For Gaussian, Laplace and discrete noise and exact laws.
        This is not the law of a shuffled data set cut into batches of one fixed size: there, the
        other users move when one leaves. For a user in k different steps of t,
        ``loss.allocated(t // k).composed(k)`` is an upper bound; no lower bound is proved here.
        Raises InvalidParameter for several mechanisms, as :meth:`sampled` does.
        Source: Chua et al. 2024 (arXiv 2412.16802); Feldman, Shenfeld 2025 (arXiv 2502.08202).

        >>> from exactdp.accounting import pld
        >>> loss = pld.gaussian(sigma=2).allocated(20)
        >>> print(format(loss.epsilon("1e-5"), "3"))
        [0.421, 0.423]
        """
        from exactdp.accounting.pld.losses.allocated import allocated

        count = integer("steps", steps, least=1)
        self._only_add_remove()
        self._only_one("allocated", Fraction(1, count))
        if count == 1:
            return self
        source = "Chua et al. 2024 (arXiv 2412.16802); Feldman, Shenfeld 2025 (arXiv 2502.08202)"
        return self._each(lambda step: allocated(step, count), self.neighbours, source)

    def replaced(self) -> Pld:
        """The same steps for replace-one neighbours: one user's data is replaced by other data.

        Both are within the sensitivity, so a query moves by up to twice the sensitivity. On a
        Poisson sample the user has the same chance of being in the sample with either data.
        Source: exactdp statement explain certified-pld, section 4.

        >>> from exactdp.accounting import pld
        >>> loss = pld.gaussian(sigma=1).sampled("0.01").replaced().composed(1000)
        >>> print(format(loss.epsilon("1e-5"), "4"))
        [2.843, 2.844]
        """
        self._only_add_remove()
        return self._each(Step.replaced, REPLACE_ONE, _OURS)

    def replaced_by_null(self) -> Pld:
        """The same steps for replace-special neighbours: a null record replaces one user's data.

        The null record adds 0 to every query, as a user who is not there; on a Poisson sample it
        adds 0 whether or not it is drawn. So the loss is the add-remove loss. Not so for
        batches of fixed size, where a null record takes the place of another user; in truncated
        samples it does so where others alone would fill the sample.
        Source: Kairouz, McMahan, Song, Thakkar, Thakurta, Xu 2021, Definition 1.1.
        """
        self._only_add_remove()
        steps = tuple((step.replaced_by_null(), n) for step, n in self.steps)
        return Pld(steps, REPLACE_SPECIAL, self.source)

    def grouped(self, size: int | str) -> Pld:
        """The same steps for a group of users who take part or not; each is sampled separately.

        size: of the group, an integer >= 1; at most 1000 on samples. For Gaussian, discrete
        Gaussian and discrete Laplace noise, and for Laplace noise without sampling.
        Source: exactdp statement explain certified-pld, section 4.

        >>> from exactdp.accounting import pld
        >>> loss = pld.gaussian(sigma=2).sampled("0.01").grouped(3).composed(100)
        >>> print(format(loss.epsilon("1e-5"), "3"))  # takes seconds
        [0.633, 0.635]
        """
        self._only_add_remove()
        count = integer("size", size, least=1)
        if count == 1:
            return self
        return self._each(lambda step: step.grouped(count), group(count), _OURS)

    def bound(self) -> Pld:
        """The upper bound of this loss: both ends of an answer enclose that bound."""
        steps = tuple((Step(step.removed, step.added), n) for step, n in self.dominating)
        return Pld(steps, self.neighbours, self.source)

    def _each(self, changed: Callable[[Step], Step], neighbours: str, source: str) -> Pld:
        steps = tuple((changed(step), n) for step, n in self.steps)
        return Pld(steps, neighbours, f"{self.source}; {source}")

    def _only_one(self, draw: str, rate: Fraction) -> None:
        """Refuse to sample a composition, which has two readings; at rate 1 both agree."""
        if self.count > 1 and rate < 1:
            allowed = (
                f"one mechanism: pld.together(a, b).{draw}(rate) runs all on one sample, "
                f"a.{draw}(rate).then(b.{draw}(rate)) draws a sample for each of them"
            )
            raise InvalidParameter("loss", Described(f"{self.count} mechanisms"), allowed)
        if rate < 1 and not all(step.removed.one_step for step, _ in self.steps):
            allowed = (
                "a mechanism of one step: with correlated noise no amplification is proved, except "
                "for a banded strategy on cyclic samples (pld.sampled_matrix); as an upper bound, "
                "keep the loss as it is"
            )
            raise InvalidParameter("loss", Described("a matrix mechanism"), allowed)

    def _only_add_remove(self) -> None:
        covered_by("neighbours", ADD_REMOVE, self.neighbours)


def _rate(rate: Real) -> Fraction:
    probability = rational("rate", rate)
    if not Fraction(1, 10**100) <= probability <= 1:
        raise InvalidParameter("rate", rate, "> 0 and <= 1, at least 1e-100")
    return probability
