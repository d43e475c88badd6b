"""Published violations as minimal programs, written from their descriptions, with mended twins.

Sources: arXiv 2602.17454 (abstract, and the artifact's list of findings) and the issues of the
libraries. The paper itself was not at hand, so that its own numbering is not used here.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import strategies as st

from exactdp.oracle.strategies import neighbouring_datasets

#: Sums of floats round: a mended twin may exceed its sensitivity by this factor, and no more.
ROUNDING = 1 + 2.0**-40


@dataclass
class Case:
    """A violation: the program, its mended twin, the pairs to look at and what is declared.

    kind: the kind of violation that is reported.
    """

    name: str
    source: str
    broken: Callable[[Any], Any]
    mended: Callable[[Any], Any]
    pairs: Any
    kind: str
    options: dict[str, Any] = field(default_factory=dict)


CASES: list[Case] = []


def case(source: str, pairs: Any, kind: str, **options: Any) -> Callable[[Any], Any]:
    """Add a case: the decorated function makes the program, given whether it is mended."""

    def add(make: Callable[[bool], Any]) -> Callable[[bool], Any]:
        CASES.append(
            Case(make.__name__, source, make(False), make(True), pairs, kind, dict(options))
        )
        return make

    return add


def numbers(low: int, high: int, relation: str = "replace-one", size: int = 4) -> Any:
    """Pairs of data sets of integers."""
    return neighbouring_datasets(st.integers(low, high), relation=relation, max_size=size)


@case("smartnoise-sdk issue 622", numbers(0, 9), "sensitivity", declared=3 * 2 * ROUNDING)
def covariance_of_raw_columns(mended: bool) -> Any:
    """The data are censored to [0, 2], and the covariance is taken of the data before."""

    def noise(scale: float) -> Any:  # the inverse of the distribution function
        u = np.random.uniform(size=3)
        return -scale * np.sign(u - 0.5) * np.log(1 - 2 * np.abs(u - 0.5))

    def release(rows: Any) -> Any:
        raw = np.array([(x, x * x) for x in (*rows, 0, 1)], dtype=float)
        censored = np.clip(raw, 0, 2)
        matrix = np.cov((censored if mended else raw).T)
        return list(matrix[np.tril_indices(2)] + noise(6.0))

    return release


@case("the first finding in synthcity", numbers(0, 1, "add-remove"), "leak", declared=1)
def frequencies_of_a_secret_size(mended: bool) -> Any:
    """Noisy counts are divided by the number of rows, which is private."""

    def marginal(rows: Any) -> Any:
        counts = np.bincount(np.array(rows, dtype=int), minlength=2)
        noisy = counts + np.random.laplace(scale=1.0, size=2)
        return noisy / (max(noisy.sum(), 1) if mended else max(len(rows), 1))

    return marginal


@case("synthcity's PrivBayes, is_weak_mi", numbers(0, 3, size=2), "structure", declared=2)
def parents_by_raw_information(mended: bool) -> Any:
    """Whether a parent is used depends on its dependence in the data, without noise."""

    def network(rows: Any) -> Any:
        table = np.zeros((2, 2))
        for row in rows:
            table[row // 2, row % 2] += 1
        weak = abs(np.linalg.det(table)) < 1
        joint = table.ravel() + np.random.laplace(scale=4.0, size=4)
        if not mended and weak:
            return joint
        return joint, table.sum(axis=0) + np.random.laplace(scale=4.0, size=2)

    return network


@case("synthcity's PrivBayes, K = n_features", numbers(0, 1), "budget", epsilon=1)
def no_noise_for_all_parents(mended: bool) -> Any:
    """The scale is proportional to n_features - K, which may be 0."""

    def conditionals(rows: Any, features: int = 2, k: int = 2) -> Any:
        scale = 2.0 * (max(features - k, 1) if mended else features - k)
        counts = np.bincount(np.array(rows, dtype=int), minlength=2)
        return counts + np.random.default_rng().laplace(0, scale, size=2)

    return conditionals


@case("diffprivlib issue 105", numbers(0, 4), "budget", epsilon=1)
def squares_by_the_lower_bound(mended: bool) -> Any:
    """The sensitivity of a sum of squares uses the lower bound twice."""

    def moment(rows: Any, bounds: Any = (1, 4)) -> Any:
        x = np.clip(rows, *bounds)
        sensitivity = np.max(np.abs([bounds[0], bounds[1 if mended else 0]])) ** 2
        return (x**2).sum() + np.random.laplace(0, float(sensitivity))

    return moment


@case("diffprivlib issue 106", numbers(0, 2, "add-remove"), "structure", declared=1)
def classes_of_the_labels(mended: bool) -> Any:
    """One weight is fitted for every label that occurs."""

    def fit(labels: Any) -> Any:
        classes = range(3) if mended else np.unique(labels)
        rng = np.random.default_rng()
        return {int(c): labels.count(c) + rng.laplace(scale=2.0) for c in classes}

    return lambda rows: fit(list(rows))


@case("Opacus issue 571", numbers(-3, 3, "add-remove", size=2), "leak", declared=1, norm="l2")
def gradients_by_a_secret_size(mended: bool) -> Any:
    """The step is divided by the expected batch size, made from the size of the data set."""

    def step(rows: Any, rate: float = 0.5) -> Any:
        rng = np.random.default_rng()
        sampled = [x for x in rows if rng.random() < rate]
        total = sum((min(1.0, 1 / max(abs(x), 1)) * x for x in sampled), 0.0)
        expected = 100 if mended else max(int(rate * len(rows) * 4), 1)
        return (total + rng.normal(0, 1.0)) / expected

    return step


@case("MOSTLY AI, accounting", numbers(0, 5, "add-remove", size=2), "budget", epsilon=1)
def a_budget_spent_twice(mended: bool) -> Any:
    """Ranges and totals are protected with the whole epsilon each."""

    def profile(rows: Any, epsilon: float = 1.0) -> Any:
        rng = np.random.default_rng()
        share = epsilon / 2 if mended else epsilon
        count = len(rows) + rng.laplace(0, 1 / share)
        total = np.clip(rows, 0, 5).sum() + rng.laplace(0, 5 / share)
        return count, total

    return profile


@case("mbi issue 65", numbers(0, 3, size=3), "sensitivity", declared=2 * ROUNDING, norm="linf")
def scores_that_move_twice(mended: bool) -> Any:
    """A score is the difference of two errors, each of which moves by up to 2."""

    def select(rows: Any) -> Any:
        true = np.bincount(np.array(rows, dtype=int), minlength=4).astype(float)
        model, public = np.array([3.0, 0, 0, 0]), np.array([0, 0, 0, 3.0])
        gain = np.abs(true - model).sum() - np.abs(true - public).sum()
        scores = np.array([gain, 0.0]) / (2 if mended else 1)
        return int(np.argmax(scores + np.random.gumbel(scale=4.0, size=2)))

    return select


@case("mbi, Gaussian call of JAM", numbers(0, 3), "sensitivity", declared=1, norm="l2")
def a_marginal_of_replaced_rows(mended: bool) -> Any:
    """A replaced row moves two cells, by sqrt(2) together; the code assumes 1."""

    def measure(rows: Any) -> Any:
        cells = np.bincount(np.array(rows, dtype=int), minlength=4)
        return (cells / 2 if mended else cells) + np.random.normal(0, 3.0, size=4)

    return measure


@case("dpmm issue 18", numbers(0, 5), "structure", declared=2)
def a_domain_of_the_largest_value(mended: bool) -> Any:
    """The number of categories is the largest value plus 1."""

    def one_way(rows: Any) -> Any:
        categories = 6 if mended else max(rows) + 1
        return np.bincount(rows, minlength=categories) + np.random.laplace(size=categories)

    return one_way


@case("dpmm, PrivBayes", numbers(-9, 9), "sensitivity", declared=2)
def bins_outside_the_bounds(mended: bool) -> Any:
    """Values outside the bounds get bin numbers beyond the domain, and weigh as much."""

    def total_bin(rows: Any, low: int = 0, width: int = 2) -> Any:
        bins = (np.array(rows, dtype=int) - low) // width
        bins = np.clip(bins, 0, 2) if mended else bins
        return bins.sum() + np.random.laplace(0, 2.0)

    return total_bin


_FLOATS = neighbouring_datasets(
    st.sampled_from([0.0, 1.0, -7.0, float("nan"), float("inf")]), max_size=3
)


@case("NaN in five libraries", _FLOATS, "sensitivity", declared=2)
def nan_survives_the_clip(mended: bool) -> Any:
    """numpy.clip leaves NaN as it is."""

    def total(rows: Any) -> Any:
        clipped = np.clip(np.array(rows), -1, 1)
        clipped = np.nan_to_num(clipped) if mended else clipped
        return clipped.sum() + np.random.default_rng(1).laplace(0, 2.0)

    return total


@case("NaN in a clipped gradient", _FLOATS, "sensitivity", declared=2, norm="l2")
def nan_survives_the_factor(mended: bool) -> Any:
    """Clipping by a factor of the norm leaves NaN, and makes NaN of infinity."""

    def step(rows: Any) -> Any:
        rng = np.random.default_rng()
        total = 0.0
        for gradient in rows:
            factor = min(1.0, 1.0 / max(abs(gradient), 1e-6))
            clipped = gradient * factor
            total += clipped if np.isfinite(clipped) or not mended else 0.0
        return total + 1.5 * rng.standard_normal()

    return step
