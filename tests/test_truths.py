"""Where True or False is asked for, a text is refused: "no" would count as true."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from exactdp import statement
from exactdp.accounting import pld
from exactdp.errors import InvalidParameter
from exactdp.frames import Quantile, advise, cut
from exactdp.mechanisms import ExponentialMechanism, PermuteAndFlip
from exactdp.parameters import truth
from exactdp.plans import Query, plan

_LOSS = pld.gaussian(sigma=2)
_FRAME: dict[str, list[int]] = {"u": [1], "v": [2]}

#: What takes a truth under a name, as parameter or attribute.
CALLS: dict[str, Callable[[Any], object]] = {
    "monotone": lambda x: ExponentialMechanism(epsilon=1, monotone=x),
    "monotone ": lambda x: PermuteAndFlip(epsilon=1, monotone=x),
    "monotone  ": lambda x: pld.above_threshold(sigma=8, threshold_sigma=4, queries=3, monotone=x),
    "finite": lambda x: _LOSS.renyi(2, finite=x),
    "rho": lambda x: statement.of(_LOSS, rho=x),
    "mu": lambda x: statement.of(_LOSS, mu=x),
    "one_pair": lambda x: statement.of(_LOSS, epsilon=1, one_pair=x),
    "one_pair ": lambda x: statement.of(_LOSS, epsilon=1).together([], epsilon=1, one_pair=x),
    "interval": lambda x: Quantile("0.5", 0, 10, of="users", interval=x),
    "public": lambda x: cut(_FRAME, user="u", by="v", k=1, public=x),
    "public ": lambda x: advise(_FRAME, user="u", by="v", epsilon=1, delta="1e-6", public=x),
    "discrete": lambda x: plan(
        "u", [Query("q", ("v",), 1, None)], epsilon=1, delta="1e-6", discrete=x
    ),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("value", ["no", "False", 1, None])
def test_other_values_are_refused(name: str, value: object) -> None:
    with pytest.raises(InvalidParameter, match=rf"^{name.strip()} must be True or False, got"):
        CALLS[name](value)


def test_numpy_has_truths_too() -> None:
    false: Any = np.bool_(False)
    assert truth("x", np.bool_(True)) is True
    assert ExponentialMechanism(epsilon=1, monotone=false).monotone is False
