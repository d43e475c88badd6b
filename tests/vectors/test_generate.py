"""The committed vectors are what the committed scripts make, without this library."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

from exactdp.oracle import vectors

pytest.importorskip("mpmath")

#: Positions whose vectors are made again, cheap ones.
SAMPLES = {
    "analytic_gaussian": (14, 27, 42, 57, 89),
    "gshm": (7, 22, 36, 43),
    "csh": (10, 23, 38),
    "thresholds": (3, 8, 21, 25, 44, 50, 58, 66, 76),
    "discrete_gaussian": (1, 16, 21, 35, 41, 49, 63, 70),
    "discrete_laplace": (2, 13, 27, 35, 39, 45),
    "zcdp": (4, 24, 33),
    "allocation": (6, 9, 10),
    "noisy_max": (1, 4, 7),
    "matrix": (1, 4, 9),
    "sampled_matrix": (1,),
    "shuffled": (1, 2, 5),
    "repeated": (3, 8),
    "power": (1, 4, 7, 9, 21),
    "local_responses": (1, 8, 14, 27, 31, 37, 41, 44),
    "sampling": (3, 4, 9),
    "sampled_gaussian": (1, 23, 27),
    "events": (3, 5, 7),
    "composition": (11, 22, 26, 34, 45, 50, 57, 61),
}


@pytest.mark.few(2)
@pytest.mark.parametrize("name", vectors.GROUPS[::-1])
def test_generating_a_sample_gives_the_file(name: str) -> None:
    from vectors.generate.common import document

    group = import_module(f"vectors.generate.{name}").GROUP
    fresh = document(group, lambda place: place in SAMPLES[name])
    kept = vectors.document(name)
    chosen = [vectors.all_tests(kept)[place - 1] for place in SAMPLES[name]]
    assert vectors.all_tests(fresh) == chosen
    assert fresh["numberOfTests"] == len(chosen)
    for key in ("group", "schema", "format", "description", "questions", "source", "generator"):
        assert fresh[key] == kept[key]
    assert fresh["notes"].items() <= kept["notes"].items()


@pytest.mark.slow
@pytest.mark.parametrize("name", vectors.GROUPS)
def test_generating_everything_gives_the_file(name: str) -> None:
    from vectors.generate.common import document

    group = import_module(f"vectors.generate.{name}").GROUP
    assert document(group) == vectors.document(name)


def test_generators_do_not_import_the_calculators() -> None:
    code = (
        "import sys, importlib\n"
        f"for name in {vectors.GROUPS!r}:\n"
        "    importlib.import_module('vectors.generate.' + name)\n"
        "print([name for name in sys.modules if name.startswith(('exactdp', 'flint'))])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
