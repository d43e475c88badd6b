from __future__ import annotations

import json
from pathlib import Path

from exactdp.accounting import csh, gshm
from exactdp.accounting.sparse_histograms.threshold_curves import threshold_curve
from tests.cli.test_accounting import run


def test_figure_is_written_once(tmp_path: Path) -> None:
    out = tmp_path / "csh.svg"
    arguments = ["figure", "csh", "--k", "10", "--epsilon", "0.35", "--delta", "1e-5"]
    code, _text, err = run(*arguments, "--points", "3", "--output", str(out))
    assert (code, err) == (0, "")
    assert "<svg" in out.read_text()[:2000]
    assert run(*arguments, "--output", str(out))[0] == 2
    assert run(*arguments, "--output", str(tmp_path / "x.gif"))[0] == 2
    assert "Example: exactdp figure csh" in run("figure", "csh", "--help")[1]


def test_error_of_a_sketch(tmp_path: Path) -> None:
    out = tmp_path / "alp.svg"
    code, _text, err = run("figure", "alp", "--epsilon", "5", "--price", "8", "--output", str(out))
    assert (code, err) == (0, "")
    assert "<svg" in out.read_text()[:2000]
    assert run("figure", "alp", "--epsilon", "0", "--output", str(tmp_path / "x.svg"))[0] == 2
    assert "Example: exactdp figure alp" in run("figure", "alp", "--help")[1]


def test_curve_points_are_certified() -> None:
    for mechanism, module in (("gshm", gshm), ("csh", csh)):
        points = list(
            threshold_curve(mechanism, "exact", k=10, epsilon="0.35", delta="1e-5", points=3)
        )
        noise = [point.noise.lower for point in points]
        assert noise == sorted(noise)
        for point in points:
            found = point.calibration
            again = module.delta(k=10, sigma=found.sigma, tau=found.tau, epsilon="0.35")
            assert again.upper <= found.target


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
    assert [row["k"] for row in rows] == ["1", "10"]
    assert float(rows[0]["saved"]) == 0
    assert 0.34 < float(rows[1]["saved"]) < 0.35


def test_figure_of_what_is_seen(tmp_path: Path) -> None:
    out = tmp_path / "seen.svg"
    arguments = ["figure", "seen", "--k", "3", "--epsilon", "1", "--delta", "1e-5"]
    code, _text, err = run(*arguments, "--points", "4", "--output", str(out))
    assert (code, err) == (0, "")
    assert "<svg" in out.read_text()[:2000]
    assert "Example: exactdp figure seen" in run("figure", "seen", "--help")[1]
