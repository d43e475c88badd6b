"""Strategy matrices from files: what is read, and one error for everything else."""

from __future__ import annotations

from pathlib import Path

import pytest

from exactdp.accounting import pld
from exactdp.errors import InvalidParameter


def _file(folder: Path, text: str | bytes) -> Path:
    path = folder / "strategy.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_coefficients_and_rows(tmp_path: Path) -> None:
    assert pld.read_strategy(_file(tmp_path, "1, 1/2,0.375,1e-3\n")) == [
        "1",
        "1/2",
        "0.375",
        "1e-3",
    ]
    assert pld.read_strategy(_file(tmp_path, b"\xef\xbb\xbf1,0\r\n\r\n-1/2,1\r\n")) == [
        ["1", "0"],
        ["-1/2", "1"],
    ]
    assert pld.read_strategy(str(_file(tmp_path, "2"))) == ["2"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "strategy must be a CSV file without a header.*got strategy.csv: 0 lines"),
        ("1\n2\n", "a line of n numbers for each of n steps, got strategy.csv: 2 lines of 1 cells"),
        ("1,0\n1\n", "2 lines of 1 or 2 cells"),
        ("1,,3", "number 2 of line 1 of strategy.csv must be a number, got ''"),
        ("c0,c1\n1,1/2", "number 1 of line 1 of strategy.csv must be a number, got 'c0'"),
        ("1,nan", "number 2 of line 1 of strategy.csv must be a"),
        ("1,1/0", "number 2 of line 1 of strategy.csv must be a"),
        ("1;2", "number 1 of line 1 of strategy.csv must be a number, got '1;2'"),
        (b"\xff\xfe1,2", "got strategy.csv, not UTF-8"),
        ('1,"2\n', "strategy must be|number 2 of line 1"),
    ],
)
def test_everything_else_is_one_error(tmp_path: Path, text: str | bytes, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message) as caught:
        pld.read_strategy(_file(tmp_path, text))
    assert "\n" not in str(caught.value)


def test_missing_files_and_folders(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none.csv"):
        with pytest.raises(InvalidParameter, match="strategy must be a file that can be read"):
            pld.read_strategy(path)


def test_training_with_a_strategy_is_the_sampled_matrix() -> None:
    strategy = ["1", "1/2", "0.375"]
    loss = pld.sgd(noise_multiplier=2, rate="0.1", steps=20, strategy=strategy)
    for bands in (3, None):
        same = pld.sampled_matrix(sigma=2, strategy=strategy, steps=20, rate="0.1", bands=bands)
        assert loss.orders() == same.orders()
    more = pld.sgd(noise_multiplier=2, rate="0.1", steps=20, strategy=strategy, bands=5)
    assert more.epsilon("1e-6").upper < loss.epsilon("1e-6").lower


def test_the_noise_of_a_strategy() -> None:
    wish = {"rate": "0.1", "steps": 20, "epsilon": 2, "delta": "1e-5", "resolution": "1e-2"}
    plain = pld.calibrate_sgd(**wish)
    calibration = pld.calibrate_sgd(**wish, strategy=["1", "1/2"])
    loss = pld.sgd(
        noise_multiplier=calibration.noise_multiplier, rate="0.1", steps=20, strategy=["1", "1/2"]
    )
    assert loss.delta(2).upper <= calibration.target
    # ten samples of columns of norm 5/4 instead of twenty of norm 1
    assert calibration.noise_multiplier != plain.noise_multiplier


def test_what_does_not_go_with_a_strategy() -> None:
    training = {"noise_multiplier": 2, "rate": "0.1", "steps": 20, "strategy": ["1", "1/2"]}
    for more, message in (
        ({"sampling": "batches"}, "sampling must be 'poisson' for correlated noise"),
        ({"neighbours": "replace-one"}, "neighbours must be 'add-remove' for correlated noise"),
        ({"bands": 1}, "bands must be the number of bands of the strategy, 2, or more"),
        ({"strategy": None, "bands": 3}, "strategy must be given where bands are"),
    ):
        with pytest.raises(InvalidParameter, match=message):
            pld.sgd(**{**training, **more})  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="steps must be given for correlated noise"):
        pld.most_steps(noise_multiplier=2, rate="0.1", epsilon=1, delta="1e-5", strategy=["1"])
