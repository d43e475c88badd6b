from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from exactdp.accounting import csh, gshm
from exactdp.accounting.sparse_histograms.threshold_curves import CURVES, threshold_curve
from tests.cli.test_accounting import run

#: Mechanism -> the name of its bound on counters.
BOUND = {"gshm": "k", "csh": "sparsity"}
TARGET = ["--epsilon", "0.35", "--delta", "1e-5"]
TRAINING = ["--noise-multiplier", "2", "--rate", "0.1", "--steps", "20", "--delta", "1e-5"]


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "words",
    [
        ["alp", "--epsilon", "5", "--price", "8"],
        ["csh", "--sparsity", "10", *TARGET, "--points", "3"],
        ["seen", "--sparsity", "3", *TARGET, "--points", "4"],
        ["savings", *TARGET, "--sparsities", "1,4"],
        ["epsilon-over-steps", *TRAINING, "--points", "3"],
    ],
    ids=lambda words: words[0],
)
def test_a_figure_is_written_once(tmp_path: Path, words: list[str]) -> None:
    out = tmp_path / "picture.svg"
    code, _, err = run("figure", *words, "--output", str(out))
    assert (code, err) == (0, "")
    assert "<svg" in out.read_text(encoding="utf-8")[:2000]
    for more in (["--output", str(out)], ["--output", str(tmp_path / "x.gif")]):
        assert run("figure", *words, *more)[0] == 2
    code, _, err = run("figure", *words, "--theme", "blue", "--output", str(tmp_path / "x.svg"))
    assert (code, err.startswith("exactdp: theme must be")) == (2, True)


def test_curve_points_are_certified() -> None:
    for mechanism, module in (("gshm", gshm), ("csh", csh)):
        points = list(
            threshold_curve(mechanism, "exact", sparsity=10, epsilon="0.35", delta="1e-5", points=3)
        )
        noise = sorted(point.noise.lower for point in points)
        assert len(set(noise)) == 3
        assert 1.39 < noise[-1] / noise[0] < 1.41
        for point in points:
            calibration = point.calibration
            bound = {BOUND[mechanism]: 10}
            again = module.delta(
                **bound, sigma=calibration.sigma, tau=calibration.tau, epsilon="0.35"
            )
            assert again.upper <= calibration.target


@pytest.mark.slow
def test_savings_table() -> None:
    arguments = [
        "figure",
        "savings",
        "--epsilon",
        "0.35",
        "--delta",
        "1e-5",
        "--sparsities",
        "1,10",
    ]
    _, out, _ = run(*arguments)
    assert "96.3" in out
    rows = json.loads(run(*arguments, "--json")[1])
    assert [row["sparsity"] for row in rows] == ["1", "10"]
    assert float(rows[0]["saved"]["exact"]) == 0
    assert 0.34 < float(rows[1]["saved"]["exact"]) < 0.35
    assert float(rows[0]["saved"]["published"]) < 0  # at sparsity 1 its threshold is 46 % larger


@pytest.mark.few(1)
@pytest.mark.parametrize(("mechanism", "analysis"), CURVES)
def test_no_corner_is_seen(mechanism: str, analysis: str) -> None:
    """Calibrations between the points are near the lines, and a straight curve has few points."""
    target: dict[str, Any] = {"epsilon": "0.35", "delta": "1e-5"}
    curve = threshold_curve(mechanism, analysis, sparsity=10, **target)
    calibrations = [p.calibration for p in curve]
    target[BOUND[mechanism]] = 10
    calibrate = {"gshm": gshm.calibrate, "csh": csh.calibrate}[mechanism]
    points = sorted((float(p.sigma), float(p.tau or 0)) for p in calibrations)
    sigmas, taus = zip(*points, strict=True)
    height = max(taus) - min(taus)
    for i in range(1, 8):
        sigma = round(sigmas[0] + (sigmas[-1] - sigmas[0]) * (i / 8) ** 2, 6)
        tau = calibrate(sigma=str(sigma), analysis=analysis, resolution="1e-6", **target).tau
        assert abs(np.interp(sigma, sigmas, taus) - float(tau or 0)) < height / 500
    best = calibrate(analysis=analysis, resolution="1e-6", **target)
    assert min(taus) == float(best.tau or 0)
    assert 5 <= len(points) <= (24 if analysis == "add-the-deltas" else 9)


def test_a_curve_keeps_to_the_points_it_is_given() -> None:
    curve = threshold_curve(
        "gshm", "add-the-deltas", sparsity=10, epsilon="1", delta="1e-5", points=7
    )
    assert len(list(curve)) == 7


@pytest.mark.parametrize("name", ["--epsilon", "--price"])
@pytest.mark.parametrize("value", ["1e-400", "1e400", "0"])
def test_numbers_that_cannot_be_drawn(tmp_path: Path, name: str, value: str) -> None:
    out = tmp_path / "alp.svg"
    options = {"--epsilon": "1", "--output": str(out), name: value}
    code, _, err = run("figure", "alp", *(word for pair in options.items() for word in pair))
    assert (code, out.exists()) == (2, False)
    assert err.startswith(f"exactdp: {name.strip('-')} must be")
