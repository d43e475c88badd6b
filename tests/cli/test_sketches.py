"""exactdp release alp and its relatives, and queries of what they wrote."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.test_accounting import run


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("name", "flags"),
    [
        ("alp", ["--largest", "40", "--price", "6", "--rows", "900"]),
        ("signed-alp", ["--largest", "40"]),
        ("histogram-alp", ["--largest", "40", "--width", "2"]),
        ("log-alp", ["--largest", "1e9"]),
        ("threshold-alp", ["--largest", "1e6"]),
        ("threshold-alp", ["--largest", "1e6", "--delta", "1e-6", "--share", "1/2"]),
        ("max-projection", ["--largest", "40", "--rows", "50"]),
    ],
)
@pytest.mark.parametrize("texts", [False, True])
def test_release_and_query(tmp_path: Path, name: str, flags: list[str], texts: bool) -> None:
    values, out = tmp_path / "in.csv", tmp_path / "out.sketch"
    values.write_text("element,count\n3,9\n7,30\n", encoding="utf-8")
    elements = ["--text", "4"] if texts else ["--universe", "18446744073709551616"]
    arguments = ["release", name, str(values), "--k", "9", "--epsilon", "5", *elements, *flags]
    code, text, err = run(*arguments, "--output", str(out))
    assert (code, err) == (0, "")
    assert "guarantee: (5, " in text
    promise = json.loads((tmp_path / "out.sketch.statement.json").read_text(encoding="utf-8"))
    assert promise["claims"][0]["epsilon"] == "5"
    code, answer, err = run("release", "query", str(out), "7")
    assert (code, err) == (0, "")
    least = -40 if name == "signed-alp" else 0
    assert least <= float(answer) <= float(flags[1])
    assert run(*arguments, "--output", str(out))[0] == 2
    code, text, _ = run(*arguments, "--output", str(out), "--overwrite", "--json")
    assert code == 0
    assert json.loads(text)["mechanism"] == name


@pytest.mark.parametrize(
    ("name", "flags", "said"),
    [
        ("dense-laplace", [], "rows"),
        ("threshold", ["--stored-from", "12"], "in the mean"),
        ("threshold", ["--delta", "1e-6"], "stored from"),
        ("threshold-alp", ["--stored-from", "30", "--grid", "1"], ""),
    ],
)
def test_small_universes(tmp_path: Path, name: str, flags: list[str], said: str) -> None:
    values, out = tmp_path / "in.csv", tmp_path / "out"
    values.write_text("element,count\n3,9\n7,3000\n", encoding="utf-8")
    target = str(out.with_suffix(".csv" if name == "threshold" else ".sketch"))
    code, text, err = run(
        *("release", name, str(values), "--k", "9", "--epsilon", "5", "--universe", "100"),
        *("--largest", "4000", *flags, "--output", target),
    )
    if name == "threshold-alp":
        assert (code, text) == (2, "")
        assert "grid" in err
        return
    assert (code, err) == (0, "")
    assert said in text
    code, answer, err = run("release", "query", target, "7")
    assert (code, err) == (0, "")
    assert 2900 < float(answer) < 3100


def test_a_lower_threshold_makes_a_smaller_sketch(tmp_path: Path) -> None:
    values = tmp_path / "in.csv"
    values.write_text("element,count\n3,9\n7,3000\n", encoding="utf-8")
    sizes = []
    for flags in ([], ["--stored-from", "30"]):
        code, text, _ = run(
            *("release", "threshold-alp", str(values), "--k", "9", "--epsilon", "1", "--json"),
            *("--universe", "1000000", "--largest", "4000", *flags),
            *("--output", str(tmp_path / f"{len(flags)}.sketch")),
        )
        assert code == 0
        said = json.loads(text)
        sizes.append(int(said["array"].split()[0]))
        formula = (72 + 20) * int(said["levels"])
        assert said["paper's (s + log2 d) m"] == f"{formula} bits"
    assert sizes[1] < sizes[0] / 2


@pytest.mark.parametrize(
    ("rows", "flags", "message"),
    [
        ("1,-1", [], "vector[1]"),
        ("1,41", [], "<= 40"),
        ("1,nan", [], "a finite number"),
        ("x,1", [], "element"),
        ("100,1", [], "< d = 100"),
        ("1,1\n2,1", [], "at most k = 1"),
        ("1,1", ["--rows", "2"], "> 2 k"),
        ("1,1", ["--price", "0"], "alpha"),
        ("1,1", ["--text", "4"], "not both"),
    ],
)
def test_bad_input_writes_nothing(
    tmp_path: Path, rows: str, flags: list[str], message: str
) -> None:
    values, out = tmp_path / "in.csv", tmp_path / "out.sketch"
    values.write_text(f"element,count\n{rows}\n", encoding="utf-8")
    code, text, err = run(
        *("release", "alp", str(values), "--k", "1", "--epsilon", "1", "--largest", "40"),
        *("--universe", "100", *flags, "--output", str(out)),
    )
    assert (code, text) == (2, "")
    assert message in err
    assert list(tmp_path.iterdir()) == [values]


def test_a_largest_value_beyond_floats(tmp_path: Path) -> None:
    values = tmp_path / "in.csv"
    values.write_text("element,count\n3,9\n", encoding="utf-8")
    options = ["--k", "1", "--epsilon", "1", "--universe", "100", "--largest", "9" * 5000]
    out = ["--output", str(tmp_path / "out.sketch")]
    code, text, err = run("release", "log-alp", str(values), *options, *out)
    assert (code, text) == (2, "")
    assert "largest must be <= 1e300" in err
