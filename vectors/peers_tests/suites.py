"""Run one library's tests with exactdp's accountants in place of its own."""

from __future__ import annotations

import json
import re
import sys
import unittest
from collections.abc import Callable
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from vectors.peers_tests.reasons import Suite


def dp_accounting(folder: Path) -> unittest.TestSuite:
    """The tests of PLDAccountant."""
    _replace_pld_accountant(folder)
    return _tests("dp_accounting.pld.pld_privacy_accountant_test")


def jax_privacy(folder: Path) -> unittest.TestSuite:
    """The tests of its events that use PLDAccountant."""
    _replace_pld_accountant(folder)
    # its __init__ needs libraries that its accounting does not
    package = ModuleType("jax_privacy")
    package.__path__ = [str(folder / "jax_privacy" / "jax_privacy")]
    sys.modules["jax_privacy"] = package
    sys.path.insert(0, str(folder / "jax_privacy" / "tests"))
    named = [test for test in _each(_tests("accounting_test")) if "PLDAccountant" in test.id()]
    return unittest.TestSuite(named)


def opacus(folder: Path) -> unittest.TestSuite:
    """The tests of all its accountants; each has its name, and exactdp's answers."""
    from hypothesis import settings

    from exactdp.accounting.interop.opacus import CertifiedAccountant

    settings.register_profile("few", max_examples=5)
    settings.load_profile("few")
    sys.path.insert(0, str(folder / "opacus"))
    theirs = import_module("opacus.accountants")
    registry: Any = import_module("opacus.accountants.registry")
    for name, kind in (("RDP", "rdp"), ("Gaussian", "gdp"), ("PRV", "prv")):
        mechanism = classmethod(lambda _, kind=kind: kind)
        ours = type(f"{name}Accountant", (CertifiedAccountant,), {"mechanism": mechanism})
        setattr(theirs, f"{name}Accountant", ours)
        registry._ACCOUNTANTS[kind] = ours
    names = ("accountants_test", "prv_accountant", "accounting_noise_multiplier_test")
    return unittest.TestSuite(_tests(f"opacus.tests.{name}") for name in names)


def _replace_pld_accountant(folder: Path) -> None:
    from exactdp.accounting.interop import events

    sys.path.insert(0, str(folder / "dp_accounting" / "python" / "dp_accounting"))
    library: Any = import_module("dp_accounting")
    module: Any = import_module("dp_accounting.pld.pld_privacy_accountant")
    default = module.NeighborRel.ADD_OR_REMOVE_ONE

    def accountant(
        neighboring_relation: Any = default, value_discretization_interval: float = 1e-4
    ) -> Any:
        # losses are rounded up to the interval; what that adds to epsilon is far less
        width = Fraction(str(value_discretization_interval)) / 100
        return events.accountant(neighboring_relation, width=width)

    accountant.__qualname__ = "PLDAccountant"  # what its tests are named after
    module.PLDAccountant = accountant
    library.pld.PLDAccountant = accountant


def _tests(module: str) -> unittest.TestSuite:
    return unittest.defaultTestLoader.loadTestsFromModule(import_module(module))


def _each(suite: unittest.TestSuite) -> list[unittest.TestCase]:
    tests: list[unittest.TestCase] = []
    for test in suite:
        tests += _each(test) if isinstance(test, unittest.TestSuite) else [test]
    return tests


class _Result(unittest.TestResult):
    """Names of passed and failed tests."""

    def __init__(self) -> None:
        super().__init__()
        self.suite: Suite = {"passed": [], "failed": {}}

    def addSuccess(self, test: unittest.TestCase) -> None:  # noqa: N802
        self.suite["passed"].append(_name(test))

    def addFailure(self, test: unittest.TestCase, err: Any) -> None:  # noqa: N802
        self.suite["failed"][_name(test)] = f"{err[0].__name__}: {err[1]}".split("\n")[0][:300]

    addError = addFailure  # noqa: N815


def _name(test: unittest.TestCase) -> str:
    """The name of a test without addresses of functions, which differ from run to run."""
    return re.sub(r" at 0x[0-9a-f]+", "", test.id().split(".", 1)[1])


RUNS: dict[str, Callable[[Path], unittest.TestSuite]] = {
    "dp_accounting": dp_accounting,
    "jax_privacy": jax_privacy,
    "opacus": opacus,
}


def main() -> None:
    """Arguments: a library, the folder with its clone, the file for the results."""
    library, folder, output = sys.argv[1:]
    result = _Result()
    RUNS[library](Path(folder)).run(result)
    Path(output).write_text(json.dumps(result.suite), encoding="utf-8")


if __name__ == "__main__":
    main()
