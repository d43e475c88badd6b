"""Sparse recovery: the few values that explain the frequencies of the outputs.

With q the law of a report, q - 1/m is exactly the sum over x of p_x (Q(.|x) - 1/m) for sets of any
sizes, because p sums to 1 (the e_1 in equation (4) of CP, Xiong et al., "Compressive
Privatization", is zero here). The frequencies of the outputs of n reports estimate q with a total
mean square error of at most (1 - 1/m)/n. The columns are the centred sets, scaled to norm 1.
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

#: Largest number of matrix entries: recovery needs the whole matrix in memory.
_LARGEST = 1 << 28


#: Columns of norm 1 and residuals are 0 up to rounding errors below this.
_NEARLY = 1e-10


@dataclass(frozen=True)
class System:
    """A linear system. matrix: m x k, columns of norm 1. scale: p_x = scale[x] * coefficient x."""

    matrix: Floats
    scale: Floats

    @classmethod
    def of(cls, sets: NDArray[np.bool_], ratio: float) -> System:
        """The system of a mechanism. sets: membership, m x k. ratio: r."""
        m, sizes = len(sets), sets.sum(axis=0)
        if sets.size > _LARGEST:
            raise InvalidParameter(
                "k, m", sets.shape[::-1], f"of product <= {_LARGEST} for recovery"
            )
        norms = np.sqrt(sizes * (1 - sizes / m))
        matrix = np.subtract(sets, sizes / m, order="F")
        matrix /= norms
        return cls(matrix, (sizes * (ratio - 1) + m) / ((ratio - 1) * norms))

    def measured(self, counts: NDArray[np.int64], n: int) -> Floats:
        """The measured q - 1/m. counts: number of reports of each output, n in total."""
        return np.asarray(counts / n - 1 / len(counts))

    def noise(self, n: int) -> float:
        """Standard deviation of the error of one output's frequency, for near-uniform outputs."""
        return float(1 / np.sqrt(n * len(self.matrix)))


#: A function from a system and the counters of n reports to the frequencies.
Recovery: TypeAlias = Callable[[System, NDArray[np.int64], int], Floats]


@frozen
class Pursuit:
    """Orthogonal matching pursuit.

    sparsity: largest number s of non-zero frequencies. None: the s that minimizes the squared
    residual + 2 s log(k) noise^2 (risk inflation criterion).
    Source: CP, Algorithm 1 and Section 5; Tropp 2004; for s, Foster and George 1994.
    """

    sparsity: int | None = whole(least=1, default=None)

    def __call__(self, system: System, counts: NDArray[np.int64], n: int) -> Floats:
        """The frequencies; at most `sparsity` are non-zero. Raises InvalidParameter."""
        m, k = system.matrix.shape
        seen = system.measured(counts, n)
        most = self.sparsity or max(m // 4, 1)
        if most > min(m, k):
            raise InvalidParameter("sparsity", most, f"<= {min(m, k)}")
        chosen, squares = _pursued(system.matrix, seen, most)
        if self.sparsity is None and chosen:
            penalty = 2 * np.log(k) * system.noise(n) ** 2
            chosen = chosen[: int(np.argmin(squares + penalty * np.arange(len(chosen)))) + 1]
        return np.asarray(system.scale * _fitted(system.matrix, seen, chosen))


def _pursued(matrix: Floats, seen: Floats, most: int) -> tuple[list[int], Floats]:
    """Columns that reduce the residual most, one after another, and the squared residuals.

    They end early if the residual is nearly 0, or the next column nearly depends on the others.
    """
    chosen: list[int] = []
    squares: list[float] = []
    basis, rest = np.zeros((len(matrix), most), order="F"), seen
    while len(chosen) < most:
        gains = np.abs(matrix.T @ rest)
        best = int(gains.argmax())
        column, before = matrix[:, best], basis[:, : len(chosen)]
        for _ in range(2):  # the second time removes the rounding errors of the first
            column = column - before @ (before.T @ column)
        size = float(np.linalg.norm(column))
        if gains[best] <= _NEARLY * np.linalg.norm(seen) or size <= _NEARLY:
            break
        basis[:, len(chosen)] = column = column / size
        rest = rest - column * (column @ rest)
        chosen.append(best)
        squares.append(float(rest @ rest))
    return chosen, np.array(squares)


def _fitted(matrix: Floats, seen: Floats, support: Any) -> Floats:
    """The least squares fit by these columns."""
    solution = np.zeros(matrix.shape[1])
    solution[support] = np.linalg.lstsq(matrix[:, support], seen, rcond=None)[0]
    return solution


@dataclass(frozen=True)
class Lasso:
    """Non-negative least squares with an l1 penalty, by scikit-learn, and a second fit.

    The penalty is noise * sqrt(2 log k), which pure noise rarely exceeds. A second fit of the
    selected values has no penalty.
    Source: Tibshirani 1996; Candes, Tao 2007 for the second fit.
    """

    def __call__(self, system: System, counts: NDArray[np.int64], n: int) -> Floats:
        """The frequencies; the second fit may make some negative. Raises Undecided."""
        m, k = system.matrix.shape
        seen, noise = system.measured(counts, n), system.noise(n)
        # in units of the noise, so that the tolerance does not depend on n
        alpha = np.sqrt(2 * np.log(k)) / m
        lasso = optional(_MODELS).Lasso
        model = lasso(alpha=alpha, positive=True, fit_intercept=False, max_iter=10_000)
        coefficients = _converged(model, system.matrix, seen / noise).coef_
        return np.asarray(system.scale * _fitted(system.matrix, seen, np.flatnonzero(coefficients)))


def _converged(model: Any, matrix: Floats, seen: Floats) -> Any:
    ConvergenceWarning = optional("sklearn.exceptions").ConvergenceWarning  # noqa: N806
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        try:
            return model.fit(matrix, seen)
        except ConvergenceWarning as warning:
            raise Undecided(f"the lasso did not converge: {warning}") from None
