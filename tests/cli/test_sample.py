from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.cli.test_accounting import run


def test_npy_and_csv_hold_the_same_draws(tmp_path: Path) -> None:
    arguments = [
        "sample",
        "discrete-gaussian",
        "--sigma2",
        "100",
        "--count",
        "70000",
        "--seed",
        "3",
    ]
    for name in ("a.npy", "a.csv"):
        code, out, err = run(*arguments, "--output", str(tmp_path / name))
        assert (code, err) == (0, "")
        assert "70000 draws" in out
    values = np.load(tmp_path / "a.npy", allow_pickle=False)
    assert values.dtype == np.int64
    assert values.shape == (70000,)
    assert (np.loadtxt(tmp_path / "a.csv", skiprows=1, dtype=np.int64) == values).all()
    assert 9.5 < values.std() < 10.5


@pytest.mark.parametrize(
    "arguments",
    [
        ["discrete-laplace", "--scale", "5/2"],
        ["geometric", "--p", "0.1"],
        ["discrete-gaussian", "--sigma2", "1"],
    ],
)
def test_json_summary(arguments: list[str]) -> None:
    code, out, _ = run("sample", *arguments, "--count", "500", "--seed", "1", "--json")
    summary = json.loads(out)
    assert code == 0
    assert summary["draws"] == "500"
    assert int(summary["least"]) <= float(summary["mean"]) <= int(summary["most"])
    assert run("sample", *arguments, "--count", "500", "--seed", "1", "--json")[1] == out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["discrete-gaussian", "--sigma2", "-1"], "sigma2 must be > 0"),
        (["discrete-gaussian"], "sigma2 must be a number > 0, got nothing"),
        (["discrete-gaussian", "--sigma2", "1", "--count", "0"], "count must be an integer >= 1"),
        (["discrete-gaussian", "--sigma2", "1", "--seed", "-2"], "seed must be an integer >= 0"),
        (["discrete-gaussian", "--sigma2", "1", "--output", "x.txt"], "output must be"),
        (["discrete-gaussian", "--sigma2", "1", "--output", "no/such/x.csv"], "output must be"),
        (["discrete-gaussian", "--sigma2", "1e60"], "sigma2 must be < 2^112"),
        (["geometric", "--p", "2"], "p must be"),
    ],
)
def test_bad_input(arguments: list[str], message: str) -> None:
    code, out, err = run("sample", *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_existing_files_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "kept.csv"
    path.write_text("mine", encoding="utf-8")
    code, _, err = run("sample", "geometric", "--p", "0.5", "--output", str(path))
    assert code == 2
    assert "does not exist yet" in err
    assert path.read_text(encoding="utf-8") == "mine"
    assert list(tmp_path.iterdir()) == [path]
