"""Sparse recovery: which few values explain the frequencies of the outputs.

With q the law of a report, q - 1/m is the sum over x of p_x (Q(.|x) - 1/m), exactly, whatever the
sizes of the sets: as p sums to 1, nothing is left over (the e_1 of CP, equation (4), is zero in
these terms). Outputs of n reports have q with an error of mean square at most (1 - 1/m)/n in all.
The columns are the centred sets, scaled to norm 1.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from exactdp.errors import InvalidParameter, Undecided
from exactdp.extras import optional
from exactdp.fields import frozen, whole

_MODELS = "sklearn.linear_model"

Floats: TypeAlias = NDArray[np.float64]

#: Largest matrix, in entries: recovery works on all of it.
_LARGEST = 1 << 28


@dataclass(frozen=True)
class System:
    """matrix: m x k with columns of norm 1. scale: p_x is scale[x] times a coefficient."""

    matrix: Floats
    scale: Floats

    @classmethod
    def of(cls, sets: NDArray[np.bool_], ratio: float) -> System:
        """From marks of the sets, m x k, and r."""
        m, sizes = len(sets), sets.sum(axis=0)
        if sets.size > _LARGEST:
            raise InvalidParameter("k, m", sets.shape[::-1], f"k m <= {_LARGEST} for recovery")
        norms = np.sqrt(sizes * (1 - sizes / m))
        matrix = np.subtract(sets, sizes / m, order="F")
        matrix /= norms
        return cls(matrix, (sizes * (ratio - 1) + m) / ((ratio - 1) * norms))

    def measured(self, counts: NDArray[np.int64], n: int) -> Floats:
        """q - 1/m as it was seen."""
        return np.asarray(counts / n - 1 / len(counts))

    def noise(self, n: int) -> float:
        """The standard deviation of the error of one output, for outputs about equally likely."""
        return float(1 / np.sqrt(n * len(self.matrix)))


#: From a system and the counters of n reports to the frequencies.
Recovery: TypeAlias = Callable[[System, NDArray[np.int64], int], Floats]


@frozen
class Pursuit:
    """Orthogonal matching pursuit (scikit-learn's): the best column, a new fit, and so on.

    sparsity: how many values; None to let the data say, by the risk inflation criterion: the number
    of values s with the least squared residual + 2 s log(k) noise^2.
    Source: CP, Algorithm 1 and Section 5; Tropp 2004; for s, Foster and George 1994.
    """

    sparsity: int | None = whole(least=1, default=None)

    def __call__(self, system: System, counts: NDArray[np.int64], n: int) -> Floats:
        """The frequencies, with at most so many that are not 0."""
        m, k = system.matrix.shape
        seen = system.measured(counts, n)
        most = self.sparsity or max(m // 4, 1)
        if most > min(m, k):
            raise InvalidParameter("sparsity", most, f"<= {min(m, k)}")
        with warnings.catch_warnings():  # what is explained before the last step is no fault
            warnings.filterwarnings("ignore", "Orthogonal matching pursuit ended", RuntimeWarning)
            path = optional(_MODELS).orthogonal_mp(
                system.matrix, seen, n_nonzero_coefs=most, return_path=self.sparsity is None
            )
        found = path if self.sparsity else _least_risk(system, seen, path.reshape(k, -1), n)
        return np.asarray(system.scale * found)


def _least_risk(system: System, seen: Floats, path: Floats, n: int) -> Floats:
    if not path.shape[1]:  # no column explains anything
        return np.zeros(len(path))
    support = np.flatnonzero(path.any(axis=1))
    rests = seen[:, None] - system.matrix[:, support] @ path[support]
    penalty = 2 * np.log(len(path)) * system.noise(n) ** 2
    risks = (rests**2).sum(axis=0) + penalty * np.arange(1, path.shape[1] + 1)
    return np.asarray(path[:, risks.argmin()])


@dataclass(frozen=True)
class Lasso:
    """Least squares with an l1 penalty and no negative entries (scikit-learn's), fitted again.

    The penalty is noise sqrt(2 log k), which pure noise rarely passes; the values that remain are
    fitted once more without it.
    Source: Tibshirani 1996; Candes, Tao 2007 for fitting again.
    """

    def __call__(self, system: System, counts: NDArray[np.int64], n: int) -> Floats:
        """The frequencies; none is negative before the second fit."""
        m, k = system.matrix.shape
        seen, noise = system.measured(counts, n), system.noise(n)
        # in units of the noise, so that tolerances mean the same for every n
        alpha = np.sqrt(2 * np.log(k)) / m
        lasso = optional(_MODELS).Lasso
        model = lasso(alpha=alpha, positive=True, fit_intercept=False, max_iter=10_000)
        coefficients = _converged(model, system.matrix, seen / noise).coef_
        support = np.flatnonzero(coefficients)
        found = np.zeros(k)
        fit = np.linalg.lstsq(system.matrix[:, support], seen, rcond=None)[0]
        found[support] = fit
        return np.asarray(system.scale * found)


def _converged(model: Any, matrix: Floats, seen: Floats) -> Any:
    ConvergenceWarning = optional("sklearn.exceptions").ConvergenceWarning  # noqa: N806
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        try:
            return model.fit(matrix, seen)
        except ConvergenceWarning as warning:
            raise Undecided(f"the lasso did not converge: {warning}") from None
