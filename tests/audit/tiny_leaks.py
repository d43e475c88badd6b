"""Programs that show a bit by the outcome of a few of the 2^53 doubles, or of one."""

import bisect
import math
from typing import Any

import numpy as np

PYTHON: list[Any] = [
    lambda b, r: b if math.log(r.random() + 1e-300) < -36.5 else 0,
    lambda b, r: b if np.isnan(np.log(r.random() - 1.0)) else 0,
    lambda b, r: int(np.float64(r.random()) * 2 + b * 2**-51),
    lambda b, r: int(math.exp(r.random()) * (1 + b * 1e-15)),
    lambda b, r: round(r.random() + b * 2**-52),
    lambda b, r: int(np.floor(np.log(r.random() + 2.0**-60) / -0.5 + b * 1e-13)),
    lambda b, r: min(int(r.expovariate(1.0 + b * 1e-13)), 3),
    lambda b, r: sorted([r.random(), 0.5 + b * 2**-53]).index(0.5 + b * 2**-53),
    lambda b, r: bisect.bisect([0.25, 0.5 + b * 2**-53], r.random()),
    lambda b, r: max(int(r.random() * 3), 0) + (b if r.random() < 2**-53 else 0),
    lambda b, r: r.triangular(0, 1, 0.5 + b * 2**-50) < 0.5,
    lambda b, r: r.uniform(0, 1 + b * 2**-52) < 0.5,
    lambda b, r: str(round(r.random() * (-1) ** b)),
    lambda b, r: round(math.sqrt(r.random() + b * 2**-50), 1) > 0.5,
    lambda b, r: int(math.log2(r.random() + 2.0**-54) + b * 1e-14),
    lambda b, r: math.floor(math.log1p(r.random()) * 8 + b * 1e-15),
    lambda b, r: math.floor(math.expm1(r.random()) * 8 + b * 1e-15),
]
NUMPY: list[Any] = [
    lambda b, r: int(np.searchsorted([0.25, 0.5 + b * 2**-53], r.random())),
    lambda b, r: int((r.random() > np.array([0.25, 0.5 + b * 2**-53])).sum()),
    lambda b, r: int(np.digitize(r.random(), [0.25, 0.5 + b * 2**-53])),
    lambda b, r: [int(x) for x in np.floor(np.log(r.random(2) + 0.1) * (1 + b * 1e-14))],
    lambda b, r: bool(r.laplace(b * 1e-14) > 0.25),
    lambda b, r: bool(r.gumbel(0, 1 + b * 1e-14) > 0.25),
    lambda b, r: bool(r.logistic(b * 1e-14) > 0.25),
    lambda b, r: min(int(r.geometric(0.5 + b * 2**-53)), 3),
    lambda b, r: int(np.argmax(r.multinomial(1, [0.5 - b * 2**-52, 0.5 + b * 2**-52]))),
    lambda b, r: bool(r.uniform(b * 2**-52, 1) > 0.5),
    lambda b, r: [bool(x) for x in r.uniform(size=2) > 0.5 + b * 2**-53],
    lambda b, r: int(np.round(r.random() * 3 + b * 2**-51)),
    lambda b, r: int(np.rint(r.random(2) * 3 + b * 2**-51)[1]),
    lambda b, r: [
        int(x) for x in np.where(r.random(2) < 0.5, 0.0, np.floor(r.random(2) * 2 + b * 2**-52))
    ],
    lambda b, r: bool(np.minimum(r.random(), 0.7) > 0.5 + b * 2**-53),
    lambda b, r: bool(np.float64(0.5) + b * 2**-53 < r.random()),
    lambda b, r: bool(np.int64(3) * r.random() < 1.5 + b * 2**-51),
    lambda b, r: bool(np.less(r.random(), 0.5 + b * 2**-53)),
    lambda b, r: bool(np.copysign(1.0, r.random() - 0.5 - b * 2**-53) > 0),
]
TINY = [*((each, "random") for each in PYTHON), *((each, "numpy") for each in NUMPY)]
