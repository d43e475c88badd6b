"""The primitives of other libraries declare their own sensitivity, and are held to it."""

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from exactdp.audit import glue


@pytest.mark.peers
def test_diffprivlib_is_held_to_its_sensitivity() -> None:
    library = pytest.importorskip("diffprivlib")

    def total(rows: Any) -> Any:
        return library.mechanisms.Laplace(epsilon=1, sensitivity=5).randomise(float(sum(rows)))

    assert not glue.sensitivity(total, [1], [1, 5]).violation
    assert "L1 distance 6 exceeds the declared 5" in str(glue.sensitivity(total, [1], [1, 6]))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.peers
def test_the_linear_regression_of_diffprivlib_uses_the_lower_bound_twice() -> None:
    """Issue 105 of diffprivlib, in the library as it is installed."""
    library = pytest.importorskip("diffprivlib")

    def fit(rows: Any) -> Any:
        model = library.models.LinearRegression(
            epsilon=1, bounds_X=(0, 100), bounds_y=(0, 10), fit_intercept=False
        )
        return model.fit(np.array([[x] for x, _ in rows]), np.array([y for _, y in rows])).coef_

    report = glue.sensitivity(fit, [(1.0, 1.0), (3.0, 2.0)], [(1.0, 1.0), (90.0, 2.0)])
    assert "L1 distance 8091 exceeds the declared 0" in str(report)


@pytest.mark.peers
def test_a_measurement_of_opendp_is_held_to_the_declared_distance() -> None:
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    space = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
    measurement = dp.m.make_laplace(*space, scale=1.0)

    def total(rows: Any) -> Any:
        return measurement(float(sum(rows)))

    assert not glue.sensitivity(total, [1], [1, 5], declared=5).violation
    assert "L1 distance 6" in str(glue.sensitivity(total, [1], [1, 6], declared=5))


class DPOptimizer:
    """The attributes of Opacus's optimizer that a step of noise reads and writes."""

    def __init__(self, params: list[Any], max_grad_norm: float) -> None:
        self.params, self.max_grad_norm = params, max_grad_norm

    def add_noise(self) -> None:
        for p in self.params:
            noise = np.frombuffer(np.random.bytes(8), dtype=np.uint32) % 7
            p.grad = p.summed_grad + noise


@pytest.mark.parametrize(("clip", "violation"), [(5.0, False), (4.9, True)])
def test_the_gradients_of_opacus_are_held_to_their_clip(
    clip: float, violation: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = ModuleType("opacus.optimizers.optimizer")
    module.DPOptimizer = DPOptimizer  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)

    def step(rows: Any) -> Any:
        weight = SimpleNamespace(summed_grad=np.sum(np.array(rows, dtype=float), axis=0))
        DPOptimizer([weight], clip).add_noise()
        return weight.grad

    report = glue.sensitivity(step, [[0, 1]], [[0, 1], [3, 4]])
    assert report.violation is violation
    assert report.calls[0].distance == "5"
