"""SVA, Tables IV to VI: printed mean square errors of other methods, by what is shipped."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

from exactdp.accounting import gaussian
from exactdp.local.sparse import Harmony, KFold, Sampled
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.sva._model import events as changed
from exactdp.proofs_check.claims.sva._model import pairs, sparse
from exactdp.proofs_check.claims.sva._published import DATA, EVENT, USER, number
from exactdp.proofs_check.entries import SVA, varied

__all__ = ["MEASURED"]

_METHODS = {"k-fold": KFold, "sampling": Sampled, "Harmony": Harmony}

#: Where the standard deviation is below 2/5, so that clipping estimates at 1 does not matter.
_ROWS = (
    ("Clothing", "k-fold"),
    ("Clothing", "sampling"),
    ("Clothing", "Harmony"),
    ("Renting", "k-fold"),
    ("Renting", "sampling"),
    ("Movies", "k-fold"),
)


def _same(tolerance: Fraction) -> str:
    """The printed mean square error over the shipped variance at epsilon = 1."""
    shown = []
    for name, method in _ROWS:
        data = DATA[name]
        basic: dict[str, Any] = {"d": data.items, "k": data.sparsity, "epsilon": 1}
        row = (EVENT if method == "k-fold" else USER)[name][method]
        found, printed = _METHODS[method](**basic).mean_square(data.clients), number(row.square)
        case = f"{name}, {method}: {row.square} printed, {float(found):.4g} as shipped"
        require(abs(printed / found - 1) <= tolerance, case)
        shown.append(f"{float(printed / found):.3f}")
    return "printed over exact: " + ", ".join(shown)


def _naive(events: Fraction, tolerance: Fraction) -> str:
    """Gaussian noise for the squared L2 distance `events` of one entry; k times that for users."""
    for k in (1, 2, 3):  # half of that is what is needed
        squares = {
            pair: sum((x - y) ** 2 for x, y in zip(*pair, strict=True))
            for pair in pairs(sparse(3, k, (-1, 0, 1)))
        }
        event = max(square for pair, square in squares.items() if changed(*pair) == 1)
        case = f"k={k}: events {event}, users {max(squares.values())} need"
        require(2 * event == events and 2 * max(squares.values()) == events * k, case)
    sigma = Fraction(gaussian.calibrate(epsilon=1, delta="1e-5").sigma)
    shown = []
    for name, data in DATA.items():
        for level, entries in ((EVENT, 1), (USER, data.sparsity)):
            text = level[name]["naive"].square
            found = events * entries * sigma**2 / data.clients
            case = f"{name}, {entries} entries: {text} printed, {float(found):.4g}"
            require(abs(number(text) / found - 1) <= tolerance, case)
            shown.append(f"{float(number(text) / found):.3f}")
    return "printed over exact: " + ", ".join(shown)


MEASURED = (
    SVA.reproduced(
        "Tables IV to VI, MSE of naive perturbation",
        "The printed MSE of naive perturbation is the least variance of Gaussian noise at epsilon "
        "= 1 and delta = 1e-5 for the squared L2 distance 8 of an event and 8k of users, within "
        "5.5 %: twice what vectors in [-1, 1] need, 4 and 4k.",
        "certified numerics",
        **varied(partial(_naive, Fraction(8)), Fraction(55, 1000), Fraction(5, 100), "within 5 %"),
        note="so the tables have naive perturbation worse by a factor 2 in MSE than it has to be; "
        "it stays behind ours in every column, with 0.000083 in Table V",
        ours=True,
    ),
    SVA.reproduced(
        "Tables IV to VI, MSE of k-fold repetition, sampling and Harmony",
        "The printed MSE of k-fold repetition (three data sets), sampling (clothing and renting) "
        "and Harmony (clothing) is the variance of these methods as shipped, at epsilon = 1, "
        "within 3.5 %.",
        "exact law",
        **varied(_same, Fraction(35, 1000), Fraction(33, 1000), "within 3.3 %"),
        note="so epsilon = 1 in these tables; in the other rows the deviation is comparable to 1, "
        "where moving estimates into [-1, 1] makes the error smaller",
    ),
)
