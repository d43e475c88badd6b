"""Targets by name and by path."""

from __future__ import annotations

import numpy as np
import pytest

from exactdp import InvalidParameter
from exactdp.audit.targets import TARGETS, target


def double(dataset: int, n: int) -> list[int]:
    return [2 * dataset] * n


def test_own_noise() -> None:
    for name, parameter in (
        ("exactdp:discrete-laplace", "scale"),
        ("exactdp:discrete-gaussian", "sigma"),
    ):
        outputs = target(name, **{parameter: "2"})(100, 50)
        assert outputs.shape == (50,)
        assert 50 < float(np.mean(outputs)) < 150


def test_a_function_on_the_path() -> None:
    assert target("tests.audit.test_targets:double")(4, 3) == [8, 8, 8]


@pytest.mark.parametrize("name", [name for name in TARGETS if name.startswith("opendp")])
@pytest.mark.peers
def test_opendp(name: str) -> None:
    pytest.importorskip("opendp")
    assert np.shape(target(name, scale="3/2")(1, 5)) == (5,)


@pytest.mark.parametrize(
    ("name", "parameters", "named"),
    [
        ("exactdp:discrete-laplace", {}, "parameters must be scale"),
        ("exactdp:discrete-laplace", {"scale": "0"}, "scale must be"),
        ("exactdp:discrete-laplace", {"scale": "1", "sigma": "1"}, "parameters must be"),
        ("nothing", {}, "target must be"),
        ("tests.audit.test_targets:missing", {}, "missing"),
        ("tests.no_such_module:f", {}, "no_such_module"),
        ("tests.audit.test_targets:np", {}, "target must be"),
        ("tests.audit.test_targets:double", {"scale": "1"}, "parameters must be nothing"),
    ],
)
def test_bad_input(name: str, parameters: dict[str, str], named: str) -> None:
    with pytest.raises(InvalidParameter, match=named):
        target(name, **parameters)
