"""What is paid is released, or the ledger says that nothing was; no file of the command is lost."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from exactdp.accounting import pld
from exactdp.cli import publishing
from exactdp.frames import EngineError
from tests.cli.test_accounting import run
from tests.cli.test_rows import visits

_TARGET = ["--user", "uid", "--by", "url", "--k", "2", "--epsilon", "1", "--delta", "1e-6"]


def _budget(tmp_path: Path) -> str:
    file = str(tmp_path / "budget.json")
    pld.Budget(epsilon=3, delta="1e-5", file=file)
    return file


def _outcomes(file: str) -> list[str]:
    return [entry.outcome for entry in pld.Budget.open(file).expenses]


def test_a_release_is_settled_with_its_file(tmp_path: Path) -> None:
    data, file = visits(tmp_path / "v.csv"), _budget(tmp_path)
    call = ["release", "counts", str(data), *_TARGET, "--budget", file]
    assert run(*call, "--output", str(tmp_path / "o.csv"))[0] == 0
    assert _outcomes(file) == ["written to o.csv"]
    code, text, _ = run("release", "budget", file)
    assert code == 0
    assert "outcome written to o.csv" in text


def test_a_statement_that_is_left_over_is_found_before_the_payment(tmp_path: Path) -> None:
    data, file = visits(tmp_path / "v.csv"), _budget(tmp_path)
    left_over = tmp_path / "o.csv.statement.json"
    left_over.write_text("{}", encoding="utf-8")
    call = ["release", "counts", str(data), *_TARGET, "--budget", file]
    code, _, err = run(*call, "--output", str(tmp_path / "o.csv"))
    assert code == 2
    assert "statement must be a file that does not exist yet" in err
    assert _outcomes(file) == []
    assert run(*call, "--output", str(tmp_path / "o.csv"), "--overwrite")[0] == 0


@pytest.mark.parametrize("name", ["budget", "data", "public", "statement"])
def test_no_other_file_of_the_command_is_replaced(tmp_path: Path, name: str) -> None:
    data, file = visits(tmp_path / "v.csv"), _budget(tmp_path)
    public = tmp_path / "p.csv"
    public.write_text("007\n", encoding="utf-8")
    output = {"data": data, "public": public, "budget": tmp_path / "." / "budget.json"}
    if name == "statement":
        file = str(tmp_path / "o.csv.statement.json")
        pld.Budget(epsilon=3, delta="1e-5", file=file)
    target = output.get(name, tmp_path / "o.csv")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    call = ["release", "counts", str(data), *_TARGET, "--budget", file, "--public", str(public)]
    code, _, err = run(*call, "--output", str(target), "--overwrite")
    assert code == 2
    assert f"another file than --{name if name != 'statement' else 'budget'}" in err
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_file_that_cannot_be_written_is_told_in_the_ledger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the noise: a full disk, or Ctrl-C."""
    data, file = visits(tmp_path / "v.csv"), _budget(tmp_path)
    call = ["release", "counts", str(data), *_TARGET, "--budget", file]
    for error in (OSError(28, "No space left on device"), KeyboardInterrupt()):

        def fail(*_: Any, error: BaseException = error) -> None:
            raise error

        with monkeypatch.context() as patched:
            patched.setattr(publishing, "write_csv", fail)
            assert run(*call, "--output", str(tmp_path / "o.csv"))[0] != 0
    assert _outcomes(file) == ["nothing was released"] * 2
    assert float(pld.Budget.open(file).spent["epsilon"]) == 2  # what was drawn may be known
    assert not (tmp_path / "o.csv").exists()


def test_a_frame_that_cannot_be_made_is_told_in_the_ledger(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An error before the payment changes nothing of what was said before."""
    import polars as pl

    from exactdp.frames import assembling, counting, release

    frame = pl.DataFrame({"uid": [*range(900)] * 2, "url": ["a"] * 900 + ["b"] * 900})
    call: dict[str, Any] = {"user": "uid", "by": "url", "k": 1, "epsilon": 1, "delta": "1e-6"}
    budget = pld.Budget(epsilon=3, delta="1e-5")
    release(frame, **call, budget=budget)

    def fail(*_: Any) -> None:
        raise MemoryError

    with monkeypatch.context() as patched:
        patched.setattr(counting, "first_keys", lambda pairs, _order, _k: pairs.users >= 0)
        with pytest.raises(EngineError, match=r"do not keep min\(k = 1"):
            release(frame, **call, budget=budget)
    assert [entry.outcome for entry in budget.expenses] == ["returned"]
    monkeypatch.setattr(assembling, "same_kind", fail)
    with pytest.raises(MemoryError):
        release(frame, **call, budget=budget)
    assert [entry.outcome for entry in budget.expenses] == ["returned", "nothing was released"]


def test_a_budget_is_shown_where_nothing_can_be_written(tmp_path: Path) -> None:
    file = _budget(tmp_path)
    budget = pld.Budget.open(file)
    budget.spend(epsilon=1, note="a report")
    for each in tmp_path.glob("*.lock"):
        each.unlink()
    tmp_path.chmod(0o500)
    try:
        before = sorted(os.listdir(tmp_path))
        code, text, _ = run("release", "budget", file)
        assert (code, sorted(os.listdir(tmp_path))) == (0, before)  # root may write anywhere
        assert "a report" in text
    finally:
        tmp_path.chmod(0o700)


def test_files_of_version_2_without_outcomes_are_read(tmp_path: Path) -> None:
    file = Path(_budget(tmp_path))
    pld.Budget.open(file).spend(epsilon=1, note="before")
    from exactdp.accounting.pld import expenses

    state = json.loads(file.read_text(encoding="utf-8"))
    del state["spent"][0]["outcome"], state["checksum"]
    file.write_text(json.dumps({**state, "checksum": expenses._checksum(state)}), encoding="utf-8")
    assert _outcomes(str(file)) == [""]


def test_unfinished_files_of_a_killed_process_are_removed(tmp_path: Path) -> None:
    """Not those that another process still writes, nor those of another path."""
    import fcntl

    from exactdp.cli.output import write_file

    names = [".o.csv.killed.part", ".o.csv.alive.part", ".o.csv.young.part", ".p.csv.killed.part"]
    for name in names:
        (tmp_path / name).write_text("", encoding="utf-8")
        if "young" not in name:
            os.utime(tmp_path / name, (time.time() - 120,) * 2)
    with (tmp_path / names[1]).open(encoding="utf-8") as alive:
        fcntl.flock(alive, fcntl.LOCK_EX)
        write_file(tmp_path / "o.csv", "a")
    assert sorted(os.listdir(tmp_path)) == sorted([*names[1:], "o.csv"])


def test_a_text_that_no_statement_holds_is_refused_before_the_payment(tmp_path: Path) -> None:
    data, file = tmp_path / "v.csv", _budget(tmp_path)
    data.write_text(
        "uid,age\n" + "".join(f"{u},{u % 100}\n" for u in range(3000)), encoding="utf-8"
    )
    edges = "..".join(f"{i / 3:.6f}" for i in range(250))
    call = ["release", "counts", str(data), "--user", "uid", "--by", f"age:{edges}", "--k", "1"]
    call += ["--epsilon", "1", "--delta", "1e-6", "--budget", file]
    code, _, err = run(*call, "--output", str(tmp_path / "o.csv"))
    assert code == 2
    assert "by must be at most 1000 characters" in err
    assert _outcomes(file) == []


def test_parquet_holds_all_numbers_in_the_types_that_are_declared(tmp_path: Path) -> None:
    """A variance of large values is above 2^63; whole ones are no integers of the file."""
    parquet = pytest.importorskip("pyarrow.parquet")
    data, file = tmp_path / "v.csv", _budget(tmp_path)
    amounts = [9 * 10**13, 9 * 10**13, 10**9, 10**9]
    rows = (f"{u},{'ab'[u % 2]},{amounts[u % 4]}\n" for u in range(8000))
    data.write_text("uid,url,money\n" + "".join(rows), encoding="utf-8")
    call = ["release", "counts", str(data), "--user", "uid", "--by", "url", "--k", "1"]
    call += ["--epsilon", "1", "--delta", "1e-6", "--budget", file]
    means = ["--means", "money:0..1e14/1e10:users:variance"]
    assert run(*call, *means, "--output", str(tmp_path / "o.parquet"))[0] == 0
    schema = parquet.read_schema(tmp_path / "o.parquet")
    assert [str(field.type) for field in schema] == ["string", "int64", "double", "int64", "double"]
    assert _outcomes(file) == ["written to o.parquet"]
