"""The pytest plugin, run on a small project of its own."""

from __future__ import annotations

from importlib import import_module

import pytest

pytest_plugins = ["pytester"]

# numpy's C modules load once in a process, but pytester forgets what an inner run imports first
import_module("numpy.fft")

OWN = """
import random
import pytest
from exactdp.oracle import assert_law, assert_private

def respond(bit, rng):
    return bit if rng.randrange(4) else 1 - bit

def test_exact():
    assert_private(respond, 0, 1, epsilon="1.0987")

def test_drawn():
    assert_private(lambda x, rng: round(8 * (x + rng.gauss(0, 1))), 0, 1,
                   epsilon=1, delta="0.2", samples=5000)

def test_wrong():
    assert_private(respond, 0, 1, epsilon=1)

@pytest.mark.exactdp_vectors("zcdp", question="delta")
def test_each(vector):
    assert vector.question == "delta"
    assert vector.least <= vector.most
"""


@pytest.mark.slow
def test_summary_and_vectors(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(OWN)
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    outcomes = result.parseoutcomes()
    assert outcomes["failed"] == 1
    assert outcomes["passed"] > 12
    result.stdout.fnmatch_lines(
        [
            "*refuted: (1, 0)-DP on this pair*",
            "*assertions of laws and privacy: 1 exact, 1 statistical*",
            "*test_drawn: statistical:*alpha = 1e-6*gauss*",
        ]
    )


@pytest.mark.slow
def test_summary_with_workers(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(OWN)
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-k", "exact", "-n", "1")
    result.stdout.fnmatch_lines(["*assertions of laws and privacy: 1 exact*"])


def test_silent_where_not_used(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_other():\n    assert True\n")
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*assertions of laws*")
