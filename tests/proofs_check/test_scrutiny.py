"""The scrutiny finds planted faults of checks, and nothing in a sound one."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from types import ModuleType

import pytest

from exactdp.proofs_check.claim import PAPERS, Check, Holds, Mutant
from exactdp.proofs_check.instrument import RECORDER
from exactdp.proofs_check.scrutiny import doubts
from exactdp.proofs_check.watch import closeness, observe, watched

_CHECKS = """
from fractions import Fraction
from exactdp.proofs_check.boxes import always_positive
from exactdp.proofs_check.claim import Counterexample, require

def near(bound):
    for n in range(1, 5):
        require(n * n <= bound * n, f"n={n}")
    return "n < 5"

def far(bound):
    for n in range(1, 5):
        require(n <= bound * 100, f"n={n}")
    return "n < 5"

def two(first, second):
    for n in range(3):
        require(n < first, f"first, n={n}")
        require(n < second, f"second, n={n}")
    return "n < 3"

def both(bound):
    return two(bound, bound)

def wider(most):
    for n in range(1, most):
        require(n < 5, f"n={n}")
    return "seen"

def elsewhere(second):
    if second:
        require(1 + 1 == 3, "arithmetic")
    require(1 + 1 == 2, "arithmetic")
    return "seen"

def by_hand(wrong):
    require(2 == 2, "fine")
    if wrong:
        raise Counterexample("by hand")
    return "seen"

def helper(left, right):
    return bool(left <= right)

def through_helpers(bound):
    holds = helper(3, bound) and not helper(bound + 1, 3)
    require(holds, "bound")
    require(all(abs(n - (n + Fraction(1, 1000))) < 1 for n in range(9, 10)), "tolerance")
    require(helper(3, bound), "again")
    return "seen"

def in_a_box(constant):
    parts = always_positive(lambda x: x * x - x + constant, [(0, 1)])
    return f"{parts} parts"

def difference(bound):
    require(bound - 3 >= 0, "bound")
    return "seen"
"""


@pytest.fixture(scope="module")
def checks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    folder = tmp_path_factory.mktemp("planted")
    (folder / "planted_claims").mkdir()
    (folder / "planted_claims" / "__init__.py").write_text("")
    (folder / "planted_claims" / "some.py").write_text(_CHECKS)
    sys.path.insert(0, str(folder))
    with watched("planted_claims"):
        yield importlib.import_module("planted_claims.some")
    sys.path.remove(str(folder))


def found(check: Check, mutant: Check, *, elsewhere: str = "", slack: str = "") -> str:
    claim = Holds(
        paper="BV",
        item="Lemma 0",
        statement="It holds.",
        outcome="verified",
        method="enumeration",
        check=check,
        mutant=Mutant("It does not.", mutant, elsewhere),
        slack=slack,
    )
    return "; ".join(doubts(claim))


def test_a_sound_check_raises_no_doubt(checks: ModuleType) -> None:
    assert found(lambda: checks.near(4), lambda: checks.near(3)) == ""
    assert found(lambda: checks.both(3), lambda: checks.both(2)) == ""
    assert found(lambda: checks.in_a_box(0.2501), lambda: checks.in_a_box(0.2499)) == ""
    assert found(lambda: checks.difference(3), lambda: checks.difference(2)) == ""
    assert found(lambda: checks.through_helpers(3), lambda: checks.through_helpers(2)) == ""


def test_slack_is_found_and_can_be_explained(checks: ModuleType) -> None:
    assert "never nearer to the bound than 0.04" in found(
        lambda: checks.far(1), lambda: checks.far(0)
    )
    assert found(lambda: checks.far(1), lambda: checks.far(0), slack="an order") == ""
    assert "no comparison of numbers was seen" in found(
        lambda: checks.in_a_box(3), lambda: checks.in_a_box(0.2)
    )


def test_a_mutant_that_dies_elsewhere_is_found(checks: ModuleType) -> None:
    good, first = (lambda: checks.two(3, 3)), (lambda: checks.two(2, 3))
    assert "only, the statement ends at" in found(good, first)
    assert found(good, lambda: checks.two(3, 2)) == ""
    assert found(good, first, elsewhere="the first of two parts") == ""
    assert "which the statement never passes" in found(
        lambda: checks.elsewhere(False), lambda: checks.elsewhere(True)
    )
    assert "fails by no requirement: by hand" in found(
        lambda: checks.by_hand(False), lambda: checks.by_hand(True)
    )


def test_a_point_outside_the_domain_is_found(checks: ModuleType) -> None:
    text = found(lambda: checks.wider(5), lambda: checks.wider(6))
    assert "a point the statement does not visit: wider.n = 5" in text


def test_a_statement_that_fails_is_said_to(checks: ModuleType) -> None:
    assert "the statement fails: n=4" in found(lambda: checks.near(3), lambda: checks.near(2))


def test_a_mutant_that_passes_is_found_whatever_the_entry_says(checks: ModuleType) -> None:
    same = partial(checks.near, 4)
    assert found(same, same, elsewhere="nowhere", slack="none") == "the mutant passes"


def test_an_explanation_of_nothing_is_found(checks: ModuleType) -> None:
    good, near = partial(checks.near, 4), partial(checks.near, 3)
    assert "nothing to explain: far" in found(good, near, slack="far")
    assert "nothing to explain: there" in found(good, near, elsewhere="there")


def test_what_is_recorded(checks: ModuleType) -> None:
    run = observe(lambda: checks.near(5))
    ((site, passed),) = run.passed.items()
    assert site[0].startswith("some:")
    assert passed.times == 4
    assert passed.nearest == pytest.approx(4 / 5)
    assert passed.seen == {"near.n": {"1", "2", "3", "4"}}
    assert closeness(-3, 4) is None


@pytest.mark.slow
@pytest.mark.parametrize("paper", PAPERS)
def test_no_doubt_is_left(paper: str) -> None:
    command = [sys.executable, "-m", "exactdp.proofs_check.scrutiny", paper]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_unwatched_modules_are_untouched() -> None:
    from exactdp.proofs_check.claims.bv import lemma_2_9

    assert RECORDER not in vars(lemma_2_9)
