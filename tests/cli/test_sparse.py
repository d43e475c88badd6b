from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.test_accounting import run

ESTIMATE = ["local", "sparse", "estimate"]
MODEL = ["--d", "50", "--k", "3", "--epsilon", "30", "--level", "event"]


@pytest.fixture
def ratings(tmp_path: Path) -> str:
    rows = [f"u{i},7,0.5\nu{i},{i % 3},-1" for i in range(400)]
    path = tmp_path / "ratings.csv"
    path.write_text("user,item,value\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return str(path)


@pytest.mark.slow
def test_from_ratings_to_means_with_error_bars(tmp_path: Path, ratings: str) -> None:
    reports, state, picture = (str(tmp_path / name) for name in ("a.edl", "s.edl", "p.svg"))
    code, text, err = run("local", "sparse", "report", ratings, *MODEL, "--output", reports)
    assert (code, err) == (0, "")
    assert "(30, 0)-DP for one entry of one user's vector" in text
    assert run("local", "aggregate", reports, "--output", state)[0] == 0
    code, text, err = run(*ESTIMATE, state, "--top", "1", "--picture", picture, "--json")
    assert (code, err) == (0, "")
    report = json.loads(text)
    assert report["reports"] == 400
    assert report["means"][0]["item"] == 7
    # alpha < 1e-8: six standard errors
    assert abs(report["means"][0]["mean"] - 0.5) < 6 * report["standard_error"]
    assert Path(picture).read_text(encoding="utf-8").startswith("<?xml")
    (tmp_path / "items.csv").write_text("0\n49\n", encoding="utf-8")
    code, text, _ = run(*ESTIMATE, reports, "--items", str(tmp_path / "items.csv"))
    assert code == 0
    assert [line.split()[0] for line in text.splitlines()[-3:-1]] == ["0", "49"]
    assert text.splitlines()[-1] == (
        f"the error of each mean is at most {report['within']:.6f}, except with probability 0.05"
    )
    assert 2 * report["standard_error"] < report["within"] < 4 * report["standard_error"]


def test_a_plan_compares_every_scheme() -> None:
    options = ["--d", "1000", "--k", "64", "--epsilon", "1"]
    code, text, err = run("local", "sparse", "plan", *options, "--level", "user", "--json")
    assert (code, err) == (0, "")
    plan = json.loads(text)
    assert set(plan["others"]) == {
        "one bit",
        "sampling",
        "dense Laplace",
        "Harmony",
        "PCKV",
        "PCKV, unary",
    }
    assert plan["error"] < min(plan["others"][x]["error"] for x in ("sampling", "Harmony"))
    code, text, err = run("local", "sparse", "plan", *options, "--L", "2", "--delta", "1e-5")
    assert code == 2
    assert "hashes must be 'keyed'" in err
    code, text, _ = run("local", "sparse", "plan", *options, "--level", "event")
    assert code == 0
    assert "k-fold repetition" in text
    stated = run(
        "local", "sparse", "plan", *options, "--level", "user", "--share", "0.01", "--json"
    )
    better = json.loads(stated[1])
    assert better["stated_error"] < plan["error"] / 2 < better["error"] / 4
    for d, others in ((2**26, 7), (2**60, 0)):
        huge = ["--d", str(d), "--k", "8", "--epsilon", "1", "--level", "event", "--json"]
        assert len(json.loads(run("local", "sparse", "plan", *huge)[1])["others"]) == others


def test_a_public_sample_states_how_vectors_are(tmp_path: Path) -> None:
    path = tmp_path / "sample.csv"
    path.write_text(
        "user,item,value\n" + "".join(f"{u},{x},1\n" for u in range(9) for x in (u, 50)),
        encoding="utf-8",
    )
    options = ["--d", "99", "--k", "20", "--epsilon", "1", "--level", "user", "--sample", str(path)]
    assert "nothing is stated" in run("local", "sparse", "plan", *options[:-2])[1]
    _, text, _ = run("local", "sparse", "plan", *options)
    assert "stated: 2 entries of +-1, no mean of an item above 1" in text


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("u,1,2\n", "value of user 0"),
        ("u,50,1\n", "item of user 0"),
        ("u,1,1\nu,1,1\n", "item of user 'u'"),
        ("u,1\n", "must be 3 cells"),
        ("u,1,1\nu,2,1\nu,3,1\nu,4,1\n", "entries of user 0"),
    ],
)
def test_bad_ratings_are_refused(tmp_path: Path, rows: str, words: str) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text("user,item,value\n" + rows, encoding="utf-8")
    target = tmp_path / "out.edl"
    code, _, err = run("local", "sparse", "report", str(path), *MODEL, "--output", str(target))
    assert code == 2
    assert words in err
    assert not target.exists()


def test_dense_reports_are_as_long_as_their_form_says() -> None:
    from exactdp.local.sparse import NaiveLaplace

    m = NaiveLaplace(d=3, k=2, epsilon=1)
    assert m.bits == m.form.bits
