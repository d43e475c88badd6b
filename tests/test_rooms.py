"""What a room lists is what it offers, loaded when used."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

from exactdp.accounting.calculator import CALCULATORS, calculator

FACES = ["accounting", "audit", "frames", "local", "mechanisms", "oracle", "samplers"]
ROOMS = [*FACES, "accounting.pld", "local.sparse", "statement"]


@pytest.mark.parametrize("room", ROOMS)
def test_every_listed_name_is_offered(room: str) -> None:
    package = import_module(f"exactdp.{room}")
    for name in package.__all__:
        offered = getattr(package, name)  # a constant has no name of its own
        assert getattr(offered, "__name__", name).rpartition(".")[2] == name
    assert set(package.__all__) <= set(dir(package))


@pytest.mark.parametrize("room", ROOMS)
def test_no_other_name_is_offered(room: str) -> None:
    package = import_module(f"exactdp.{room}")
    with pytest.raises(AttributeError, match=f"exactdp.{room}.*nothing_here"):
        package.nothing_here  # noqa: B018


@pytest.mark.few(4)
@pytest.mark.parametrize("room", FACES)
def test_a_room_alone_loads_no_mathematics(room: str) -> None:
    code = f"import exactdp.{room}, sys; print(int('numpy' in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "0\n"


def test_a_calculator_shows_its_interface_alone() -> None:
    gaussian = import_module("exactdp.accounting.gaussian")
    interface = ["Gaussian", "calibrate", "check", "delta", "guarantee"]
    assert dir(gaussian) == interface
    for name in CALCULATORS:
        module = import_module(calculator(name).__module__)
        assert set(dir(module)) >= {"check", "delta", "guarantee"}
