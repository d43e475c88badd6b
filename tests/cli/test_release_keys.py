"""exactdp release keys: the keys, their statement, and errors."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from exactdp.statement import Statement
from tests.cli.test_accounting import run


@pytest.mark.slow
def test_frequent_keys_are_released_without_counts(tmp_path: Path) -> None:
    data, out = tmp_path / "posts.csv", tmp_path / "words.csv"
    lines = [f'u{u},"the, {u % 2}",{u % 2}\n' for u in range(400)]
    data.write_text("uid,word,day\n" + "".join(lines) + "u1,secret,0\n", encoding="utf-8")
    arguments = ["release", "keys", str(data), "--user", "uid", "--by", "word,day", "--k", "1"]
    arguments += ["--epsilon", "1", "--delta", "1e-9", "--output", str(out)]
    code, text, err = run(*arguments)
    assert (code, err) == (0, "")
    assert "chosen                         geometric: 21 users of a key" in text
    assert "guarantee: (1, 1e-9)-DP" in text
    with out.open(newline="", encoding="utf-8") as file:
        assert list(csv.reader(file)) == [["word", "day"], ["the, 0", "0"], ["the, 1", "1"]]
    statement = Statement.read((tmp_path / "words.csv.statement.json").read_bytes())
    assert statement.check().verdict == "valid"
    assert dict(statement.fields["about"])["by"] == "word, day"
    assert run(*arguments)[0] == 2
    assert run(*arguments, "--overwrite", "--json")[0] == 0
    code, _, err = run(*[x.replace("1e-9", "0") for x in arguments], "--overwrite")
    assert code == 2
    assert "delta" in err
