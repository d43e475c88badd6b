"""What a room lists is what it offers, loaded when used."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest

from exactdp.accounting.calculator import CALCULATORS, calculator

ROOT = Path(__file__).parents[1]
FACES = [
    "accounting",
    "audit",
    "frames",
    "local",
    "mechanisms",
    "oracle",
    "plans",
    "registry",
    "samplers",
    "statement",
]
PACKAGES = [
    ".".join(file.parent.relative_to(ROOT).parts)
    for file in sorted((ROOT / "exactdp").rglob("__init__.py"))
]
ROOMS = [*FACES, "accounting.pld", "accounting.risk", "audit.glue", "local.sparse"]


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


@pytest.mark.parametrize("package", PACKAGES)
def test_a_module_has_the_name_under_which_it_is_offered(package: str) -> None:
    """``import exactdp.accounting.gshm`` works as ``from exactdp.accounting import gshm`` does."""
    room = import_module(package)
    for name in getattr(room, "__all__", []):
        offered = getattr(room, name)
        if isinstance(offered, ModuleType) and offered.__name__.startswith("exactdp"):
            assert import_module(f"{package}.{name}") is offered
        else:  # a module of this name would take its place when it is imported
            assert isinstance(offered, ModuleType) or not find_spec(f"{package}.{name}")


def test_calculators_are_imported_by_dotted_names() -> None:
    modules = sorted({f"exactdp.accounting.{x.split('.')[0]}" for x in CALCULATORS.values()})
    code = "".join(f"import {name}\nfrom {name} import delta, check\n" for name in modules)
    subprocess.run([sys.executable, "-c", code], check=True)
