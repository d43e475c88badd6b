from __future__ import annotations

import json
from pathlib import Path

import pytest

from exactdp.local.report_files import mechanism_of
from tests.cli.test_accounting import run

MECHANISMS = {
    "randomized-response": [],
    "rappor": [],
    "permanent-rappor": ["--limit", "6"],
    "unary": [],
    "hashing": [],
    "subset": [],
    "hadamard": [],
    "compressive": ["--m", "8", "--seed", "4"],
}


@pytest.fixture
def values(tmp_path: Path) -> str:
    path = tmp_path / "values.csv"
    path.write_text("red\n" * 600 + "blue\n" * 300 + "green\n" * 100, encoding="utf-8")
    (tmp_path / "public.csv").write_text("green\nblue\nred\ngrey\n", encoding="utf-8")
    return str(path)


@pytest.mark.few(4)
@pytest.mark.parametrize("name", list(MECHANISMS))
def test_from_values_to_shares(tmp_path: Path, values: str, name: str) -> None:
    files = [str(tmp_path / f"{part}.edl") for part in ("a", "b", "state")]
    public = ["--public", str(tmp_path / "public.csv")]
    options = ["--mechanism", name, "--epsilon", "5", *MECHANISMS[name], *public]
    for file in files[:2]:
        code, text, err = run("local", "report", values, *options, "--output", file)
        assert (code, err) == (0, "")
        assert "guarantee of each: (5, 0)-DP for any two values of one user" in text
    code, text, err = run("local", "aggregate", *files[:2], "--output", files[2], "--json")
    assert (code, err) == (0, "")
    assert json.loads(text)["reports"] == 2000
    code, text, err = run("local", "aggregate", files[2], files[0], "--output", files[1], "--json")
    assert code == 2
    code, text, err = run("local", "estimate", files[2], *public, "--json")
    assert (code, err) == (0, "")
    shares = {row["value"]: row["share"] for row in json.loads(text)}
    assert shares == pytest.approx({"red": 0.6, "blue": 0.3, "green": 0.1, "grey": 0}, abs=0.12)
    code, text, _ = run("local", "estimate", files[0], "--top", "2", "--method", "normalized")
    assert code == 0
    assert len(text.splitlines()) == 5


def test_foreign_files_are_refused(tmp_path: Path, values: str) -> None:
    public = ["--public", str(tmp_path / "public.csv")]
    files = []
    for epsilon in ("1", "2"):
        files.append(str(tmp_path / f"{epsilon}.edl"))
        options = ["--mechanism", "hadamard", "--epsilon", epsilon, *public]
        assert run("local", "report", values, *options, "--output", files[-1])[0] == 0
    code, _, err = run("local", "aggregate", *files, "--output", str(tmp_path / "s.edl"))
    assert code == 2
    assert "local reports must be" in err
    assert not (tmp_path / "s.edl").exists()
    data = bytearray(Path(files[0]).read_bytes())
    data[-40] ^= 1
    Path(files[0]).write_bytes(data)
    assert run("local", "estimate", files[0])[0] == 2


@pytest.mark.parametrize(
    "flags",
    [
        ["--mechanism", "hadamard"],
        ["--mechanism", "magic", "--k", "4"],
        ["--mechanism", "hadamard", "--k", "2"],
        ["--mechanism", "hadamard", "--k", "4", "--m", "3"],
        ["--mechanism", "compressive", "--k", "4"],
    ],
)
def test_bad_requests(tmp_path: Path, flags: list[str]) -> None:
    values = tmp_path / "v.csv"
    values.write_text("0\n3\n", encoding="utf-8")
    out = tmp_path / "o.edl"
    code, _, err = run(
        "local", "report", str(values), *flags, "--epsilon", "1", "--output", str(out)
    )
    assert code == 2
    assert err.startswith("exactdp: ")
    assert not out.exists()


def test_compare() -> None:
    code, text, err = run("local", "compare", "--k", "10000", "--epsilon", "0.5", "--n", "100000")
    assert (code, err) == (0, "")
    first = text.splitlines()[3]
    assert first.startswith("subset")
    assert "any two values of one user" in first
    assert first.split()[-4:] == ["0.01252", "1.5668", "1.0000", "10000"]
    code, text, err = run("local", "compare", "--k", "9", "--epsilon", "3", "--n", "9" * 5000)
    assert (code, err) == (0, "")
    assert "from an integer of 16610 bits reports" in text
    code, text, _ = run("local", "compare", "--k", "9", "--epsilon", "3", "--n", "100", "--json")
    rows = json.loads(text)
    assert rows[0]["of_the_best"] == 1
    assert {row["mechanism"] for row in rows} >= {"hadamard", "hashing", "rappor"}


def test_a_file_that_contradicts_itself_is_refused() -> None:
    from exactdp import InvalidParameter
    from exactdp.local.mechanism import STATE

    for text in (
        '{"mechanism":"HadamardResponse","k":4,"epsilon":"1","e_epsilon":"3","blocks":1}',
        '{"mechanism":"os.system","k":4}',
        "[]",
        "nonsense",
        None,
    ):
        with pytest.raises(InvalidParameter):
            mechanism_of(STATE.pack({"configuration": text, "n": 0}, b""))


def test_a_plan_of_frequent_values() -> None:
    options = ["--k", "200", "--epsilon", "1", "--sparsity", "2"]
    code, text, _ = run("local", "plan", *options, "--error", "0.3", "--json")
    report = json.loads(text)
    assert code == 0
    assert report["l1_error"] <= 0.3
    code, text, _ = run("local", "plan", *options, "--users", str(report["users"]))
    assert code == 0
    assert f"<= {report['l1_error']:.4g}" in text
    code, _, err = run("local", "plan", *options)
    assert (code, "two of the three" in err) == (2, True)
