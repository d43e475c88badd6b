"""exactdp advise, and release counts, budget and other formats: as a user types them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from exactdp.mechanisms import GSHM
from tests.cli.test_accounting import run
from tests.cli.test_rows import TARGET, visits

pq = pytest.importorskip("pyarrow.parquet")


@pytest.mark.slow
def test_advice_from_public_data_a_prior_and_a_look(tmp_path: Path) -> None:
    data, picture = visits(tmp_path / "v.csv"), tmp_path / "a.png"
    command = ["advise", str(data), *TARGET]
    code, text, err = run(*command, "--public-data", "--count", "100", "--picture", str(picture))
    assert (code, err) == (0, "")
    assert "gshm with k = 2: a count of 100 " in text  # one user has 52 keys, the others two
    assert picture.stat().st_size > 1000
    code, text, _ = run(*command, "--spend", "1", "--most", "10", "--json")
    report = json.loads(text)
    assert report["guarantee"]["epsilon"] == "1"
    assert [row["k"] for row in report["by_k"]] == ["1", "2", "3", "5", "7", "10"]
    code, text, _ = run("advise", "--epsilon", "2", "--delta", "1e-6", "--prior", "1:1,2:3")
    assert code == 0
    assert "keys per user as stated" in text
    for flags in (["--prior", "1"], ["--prior", "x:1"], ["--public-data"], ["--spend", "2"]):
        code, text, err = run("advise", "--epsilon", "2", "--delta", "1e-6", *flags)
        assert (code, text) == (2, "")
        assert err.count("\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["csv", "parquet", "json"])
def test_the_ending_is_the_format(tmp_path: Path, ending: str) -> None:
    data, out = visits(tmp_path / "v.parquet"), tmp_path / f"o.{ending}"
    code, text, err = run("release", "counts", str(data), "--k", "2", *TARGET, "--output", str(out))
    assert (code, err) == (0, "")
    noise = GSHM.for_target(k=2, epsilon=2, delta="1e-6").accuracy("0.05").per_query
    assert f"gshm: {noise} users: error of one count (95 %)" in text
    if ending == "csv":
        rows = list(csv.DictReader(out.read_text(encoding="utf-8").splitlines()))
    elif ending == "json":
        rows = json.loads(out.read_text(encoding="utf-8"))
    else:
        rows = pq.read_table(out).to_pylist()
    assert [row["url"] for row in rows] == ["007", "a, b"]
    assert all(abs(int(row["count"]) - 900) < 60 for row in rows)
    assert ending == "csv" or all(type(row["count"]) is int for row in rows)


@pytest.mark.slow
def test_known_keys_largest_counts_and_keys_in_rounds(tmp_path: Path) -> None:
    data, public = visits(tmp_path / "v.csv"), tmp_path / "p.csv"
    public.write_text("007\nnowhere\n", encoding="utf-8")
    call = ["release", "counts", str(data), *TARGET, "--json"]
    known = [*call, "--k", "2", "--public", str(public), "--output", str(tmp_path / "a.csv")]
    code, text, _ = run(*known)
    assert (code, json.loads(text)["released"]) == (0, 2)
    columns = ["url,amount" if word == "url" else word for word in [*known, "--overwrite"]]
    public.write_text('007,3\n"a, b",9\n', encoding="utf-8")
    assert run(*columns)[0] == 0
    rows = list(csv.reader((tmp_path / "a.csv").read_text(encoding="utf-8").splitlines()))
    assert [row[:2] for row in rows] == [["url", "amount"], ["007", "3"], ["a, b", "9"]]
    assert abs(int(rows[1][2]) - 900) < 60 > abs(int(rows[2][2]))
    public.write_text("007,3\n008\n", encoding="utf-8")
    assert "line 2 of p.csv must be 2 cells" in run(*columns)[2]
    code, text, _ = run(*call, "--top", "2", "--output", str(tmp_path / "b.csv"))
    assert (code, json.loads(text)["released"]) == (0, 2)
    assert abs(float(json.loads(text)["next largest count"]) - 1) < 60
    more = ["--k", "2", "--selection", "mad2r", "--share", "0.4"]
    picture = tmp_path / "c.svg"
    code, text, _ = run(
        *call, *more, "--output", str(tmp_path / "c.csv"), "--picture", str(picture)
    )
    assert (code, json.loads(text)["released"]) == (0, 2)
    assert "keys" in picture.read_text(encoding="utf-8")
    keys = ["release", "keys", str(data), *TARGET, "--k", "2", "--mechanism", "sips"]
    code, text, _ = run(*keys, "--output", str(tmp_path / "d.json"))
    assert code == 0
    assert json.loads((tmp_path / "d.json").read_text(encoding="utf-8")) == [
        {"url": "007"},
        {"url": "a, b"},
    ]


@pytest.mark.slow
def test_a_month_from_one_budget(tmp_path: Path) -> None:
    data, budget = visits(tmp_path / "v.csv"), str(tmp_path / "month.json")
    assert run("release", "budget", budget, "--epsilon", "2", "--delta", "1e-6")[0] == 0
    series = ["--k", "2", *TARGET, "--times", "2", "--budget", budget, "--note", "daily"]
    for day in range(3):
        out = tmp_path / f"{day}.csv"
        code, text, err = run("release", "counts", str(data), *series, "--output", str(out))
        assert code == (2 if day == 2 else 0)
        assert ("all 2 expenses of the series 'daily" in err) == (day == 2)
        assert out.exists() == (day < 2)
        assert ("keys beyond 2 of a user" in text) == (day < 2)
    code, text, _ = run("release", "budget", budget)
    assert code == 0
    assert text.count("note daily, one of 2 by GSHM") == 2
    assert ["epsilon", "2", "0", "2"] in [line.split() for line in text.splitlines()]
    assert run("release", "budget", budget, "--epsilon", "2", "--delta", "1e-6")[0] == 2


def test_pictures_and_budgets_are_looked_at_before_the_data(tmp_path: Path) -> None:
    data, out = visits(tmp_path / "v.csv"), tmp_path / "o.csv"
    call = ["release", "counts", str(data), "--k", "2", *TARGET, "--output", str(out)]
    for flags in (["--picture", "x.doc"], ["--budget", str(tmp_path / "none.json")]):
        code, _, err = run(*call, *flags)
        assert code == 2
        assert err.count("\n") == 1
        assert not out.exists()


@pytest.mark.slow
def test_means_and_sums_of_ranges(tmp_path: Path) -> None:
    """Two rows of 3 at "007", one at "a, b"."""
    data, out = visits(tmp_path / "v.csv"), tmp_path / "o.json"
    call = ["release", "counts", str(data), "--k", "2", *TARGET, "--output", str(out)]
    code, _, err = run(*call, "--means", "amount:0..8:sums")
    assert (code, err) == (0, "")
    rows = {row["url"]: row for row in json.loads(out.read_text(encoding="utf-8"))}
    assert abs(rows["007"]["amount"] - 6) < 0.3
    assert abs(rows["a, b"]["amount"] - 3) < 0.3
    code, text, _ = run(*call, "--means", "amount:0..8:sums:variance", "--overwrite")
    assert code == 0
    assert "noise of one variance of amount (95 %)" in text
    assert all(row["amount_variance"] < 1 for row in json.loads(out.read_text(encoding="utf-8")))
    code, _, _ = run(*call, "--sums", "amount:0..8:sums", "--overwrite")
    assert code == 0
    totals = {row["url"]: row["amount"] for row in json.loads(out.read_text(encoding="utf-8"))}
    assert abs(totals["007"] - 5400) < 600
    wrong = [
        "amount:8..0:sums",
        "amount",
        "amount:1..2..3:rows",
        "amount:..3:rows",
        "amount:0..3:rows",
        "amount:0..8",
    ]
    for text in wrong:
        code, _, err = run(*call, "--means", text, "--overwrite")
        assert (code, err.count("\n")) == (2, 1)


def test_quantiles_with_bounds(tmp_path: Path) -> None:
    """The amounts of all rows are 3: the median is 3, and bounds are on its sides."""
    data, out = visits(tmp_path / "v.csv"), tmp_path / "o.json"
    call = ["release", "counts", str(data), "--k", "2", *TARGET, "--output", str(out)]
    code, text, err = run(*call, "--quantiles", "amount:0..8:rows=2:q=0.5+0.9:interval")
    assert (code, err) == (0, "")
    assert "error of amount_q90 in ranks (95 %)" in text
    (row,) = [row for row in json.loads(out.read_text(encoding="utf-8")) if row["url"] == "007"]
    assert row["amount_q50"] == row["amount_q90"] == 3
    assert row["amount_q50_low"] <= 3 <= row["amount_q50_high"]
    checked = run("statement", "check", f"{out}.statement.json")
    assert checked[0] == 0
    assert "trust" not in checked[1]
    for wrong in ("amount", "amount:0..8", "amount:0..8:users:q=2", "amount:0..8:users:q="):
        code, _, err = run(*call, "--quantiles", wrong, "--overwrite")
        assert (code, err.count("\n")) == (2, 1)


def test_advice_states_the_error_of_quantiles_in_ranks(tmp_path: Path) -> None:
    """As the release does, whose counts keep the same part of the target."""
    call = ["release", "advise", *TARGET[TARGET.index("--epsilon") :], "--prior", "2:1"]
    flags = ["--quantiles", "amount:0..8:rows=2", "--share", "0.25"]
    code, text, _ = run(*call, *flags)
    assert code == 0
    (line,) = [line for line in text.splitlines() if line.startswith("amount_q50")]
    assert "in ranks" in line
    data, out = visits(tmp_path / "v.csv"), tmp_path / "o.csv"
    release = ["release", "counts", str(data), "--k", "2", *TARGET, "--output", str(out)]
    code, report, _ = run(*release, *flags)
    assert code == 0
    stated = report.split("error of amount_q50 in ranks (95 %)  <= ")[1].split()[0]
    assert abs(float(stated) - float(line.split()[-1])) < 0.1
