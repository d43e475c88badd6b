"""One run of the experiment of Section 5: k = 10000, m = 500, eps = 0.5, uniform sparse laws.

The method recovers by orthogonal matching pursuit and normalizes; Hadamard response normalizes.
Floating point is harmless here: only random errors of some per cent are compared.
"""

from __future__ import annotations

from typing import Any

_K, _M, _EPS = 10_000, 500, 0.5


def factors(sparsity: int, samples: int, runs: int, seed: int) -> list[float]:
    """Per run, the l1 error of Hadamard response over that of the method."""
    import numpy as np

    source = np.random.default_rng(seed)
    ratios = []
    for _ in range(runs):
        p = np.zeros(_K)
        p[source.choice(_K, sparsity, replace=False)] = 1 / sparsity
        ours = abs(_normalized(np, _method(np, p, sparsity, samples, source)) - p).sum()
        theirs = abs(_normalized(np, _hadamard(np, p, samples, source)) - p).sum()
        ratios.append(float(theirs / ours))
    return ratios


def _normalized(np: Any, estimate: Any) -> Any:
    kept = np.maximum(estimate, 0)
    return kept / kept.sum()


def _method(np: Any, p: Any, sparsity: int, samples: int, source: Any) -> Any:
    e = np.exp(_EPS)
    signs = source.integers(0, 2, (_M, _K), dtype=np.int8).astype(np.float32) * 2 - 1
    plus = (signs == 1).sum(axis=0)
    base = plus * e + _M - plus
    q = (((e - 1) / 2 * signs + (e + 1) / 2) @ (p / base)).astype(float)
    seen = source.multinomial(samples, q / q.sum()) / samples
    y = (e + 1) / (e - 1) * (np.sqrt(_M) * seen - 1 / np.sqrt(_M))
    return _pursuit(np, signs / np.sqrt(_M), y, sparsity) * base / (_M * (e + 1) / 2)


def _pursuit(np: Any, matrix: Any, y: Any, sparsity: int) -> Any:
    """Orthogonal matching pursuit: add the best column, fit again."""
    chosen: list[int] = []
    rest, solution = y, np.zeros(matrix.shape[1])
    for _ in range(sparsity):
        chosen.append(int(np.argmax(abs(matrix.T @ rest))))
        fit = np.linalg.lstsq(matrix[:, chosen], y, rcond=None)[0]
        rest = y - matrix[:, chosen] @ fit
    solution[chosen] = fit
    return solution


def _hadamard(np: Any, p: Any, samples: int, source: Any) -> Any:
    """(e+1)/(e-1) (2 q_hat(C_x) - 1), through the fast Walsh-Hadamard transform."""
    order = 1 << _K.bit_length()
    c = (np.exp(_EPS) + 1) / (np.exp(_EPS) - 1)
    padded = np.zeros(order)
    padded[1 : _K + 1] = p
    q = (1 + _walsh(np, padded) / c) / order
    seen = source.multinomial(samples, q / q.sum()) / samples
    return c * _walsh(np, seen)[1 : _K + 1]


def _walsh(np: Any, values: Any) -> Any:
    half = 1
    while half < len(values):
        pairs = values.reshape(-1, 2, half)
        first, second = pairs[:, :1], pairs[:, 1:]
        values = np.concatenate([first + second, first - second], axis=1).reshape(-1)
        half *= 2
    return values
