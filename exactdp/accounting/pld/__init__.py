"""Certified privacy loss distributions: bounds of delta and epsilon from both sides."""

from typing import TYPE_CHECKING

from exactdp.accounting.neighbours import ADD_REMOVE, REPLACE_ONE, REPLACE_SPECIAL
from exactdp.accounting.pld.budget import Budget, Exhausted, Odometer
from exactdp.accounting.pld.loss import Pld
from exactdp.accounting.pld.mechanisms import (
    approximate,
    discrete_gaussian,
    discrete_laplace,
    gaussian,
    gaussian_mixture,
    laplace,
    laws,
    randomized_response,
    together,
)
from exactdp.accounting.pld.sgd import calibrate_sgd, most_steps, sgd
from exactdp.lazy import lazily

if TYPE_CHECKING:
    from exactdp.accounting.pld.correlated import matrix, matrix_sensitivity, square_root_strategy
    from exactdp.accounting.pld.histograms import csh, gshm
    from exactdp.accounting.pld.selection import (
        above_threshold,
        exponential,
        gaussian_noisy_max,
        noisy_max,
    )

__all__ = [
    "ADD_REMOVE",
    "REPLACE_ONE",
    "REPLACE_SPECIAL",
    "Budget",
    "Exhausted",
    "Odometer",
    "Pld",
    "above_threshold",
    "approximate",
    "calibrate_sgd",
    "csh",
    "discrete_gaussian",
    "discrete_laplace",
    "exponential",
    "gaussian",
    "gaussian_mixture",
    "gaussian_noisy_max",
    "gshm",
    "laplace",
    "laws",
    "matrix",
    "matrix_sensitivity",
    "most_steps",
    "noisy_max",
    "randomized_response",
    "sgd",
    "square_root_strategy",
    "together",
]

#: Imported on first use: most programs do not need the exact curves of histograms.
__getattr__, _ = lazily(
    __name__,
    {
        "correlated": "matrix matrix_sensitivity square_root_strategy",
        "histograms": "csh gshm",
        "selection": "above_threshold exponential gaussian_noisy_max noisy_max",
    },
)


def __dir__() -> list[str]:
    return __all__
