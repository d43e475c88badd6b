from __future__ import annotations

from pathlib import Path

from exactdp.accounting import csh
from tests.cli.test_accounting import run


def test_the_page_that_a_guarantee_cites_is_there() -> None:
    promise = csh.guarantee(sparsity=2, sigma=9, tau=50, epsilon=1)
    words = promise.source.partition(",")[0].split()
    assert words[:3] == ["exactdp", "statement", "explain"]
    code, out, err = run(*words[1:])
    assert (code, err) == (0, "")
    assert out.startswith("# The exact δ of the correlated sparse histogram\n")


def test_pages_are_listed_and_others_refused() -> None:
    code, out, _ = run("statement", "explain")
    assert code == 0
    assert "exact-csh" in out
    code, _, err = run("statement", "explain", "../errors")
    assert code == 2
    assert err.startswith("exactdp: page must be")


def test_a_statement_in_place_of_a_page_leads_to_show(tmp_path: Path) -> None:
    file = tmp_path / "out.csv.statement.json"
    file.write_text("{}", encoding="utf-8")
    code, _, err = run("statement", "explain", str(file))
    assert code == 2
    assert "exactdp statement show FILE" in err
