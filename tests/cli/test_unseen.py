"""Changes that must not show do not show in what commands print and write, with fixed noise."""

from __future__ import annotations

import csv
import random
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from exactdp.mechanisms.thresholded import mechanism
from exactdp.samplers.system import SystemSource
from tests.cli.test_accounting import run

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
duckdb = pytest.importorskip("duckdb")

Row = tuple[Any, ...]

_TARGET = ["--epsilon", "9", "--delta", "0.01"]
_BY = ["--user", "uid", "--by", "url"]
_COUNTS = [("counts", ["--k", "3"]), ("gshm", ["--k", "3"]), ("csh", ["--top", "3"])]

#: Commands on rows. Each user has three keys, so that no choice of keys depends on names.
ON_ROWS: dict[str, list[str]] = {
    **{name: ["release", name, *_BY, *flags, *_TARGET] for name, flags in _COUNTS},
    "sums": ["release", "counts", *_BY, "--k", "3", *_TARGET, "--sums", "amount:-5..5:sums"],
    "days": ["release", "counts", "--user", "uid", "--by", "day,url", "--k", "3", *_TARGET],
    "keys": ["release", "keys", *_BY, "--k", "3", *_TARGET],
    "weighted": ["release", "keys", *_BY, "--k", "3", *_TARGET, "--mechanism", "weighted"],
    "cut": ["release", "cut", *_BY, "--k", "1", "--epsilon", "1", "--most", "9"],
    "advise": ["release", "advise", *_BY, *_TARGET, "--spend", "1"],
}

_TEXT = ["--text", "6"]
#: Commands on counts.
ON_COUNTS: dict[str, list[str]] = {
    **{name: ["release", name, *flags, *_TARGET] for name, flags in _COUNTS[1:]},
    "stability": ["release", "stability", *_TEXT, *_TARGET],
    "sparse": ["release", "sparse", *_TEXT, "--epsilon", "9"],
    "padded": ["release", "padded", *_TEXT, "--epsilon", "9"],
}


def rows() -> list[Row]:
    rng = random.Random(2)
    urls = ["Ann", "ann", "é", "E", "a,b"]
    visits = [
        (f"u{user}", url, f"2013-01-0{rng.randint(1, 2)}", rng.randint(-9, 9))
        for user in range(200)
        for url in rng.sample(urls, 3)
    ]
    return visits + visits[::4]


def _csv(path: Path, header: list[str], visits: list[Row]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *visits])


_HEADER = ["uid", "url", "day", "amount"]


def _as_csv(folder: Path, visits: list[Row]) -> Path:
    _csv(folder / "d.csv", _HEADER, visits)
    return folder / "d.csv"


def _parquet(kind: Any, groups: int, day: Any = None) -> Callable[[Path, list[Row]], Path]:
    def make(folder: Path, visits: list[Row]) -> Path:
        path = folder / "d.parquet"
        columns = dict(zip(_HEADER, map(list, zip(*visits, strict=True)), strict=True))
        table = pa.table({n: pa.array(c) for n, c in columns.items()})
        schema = pa.schema(
            [("uid", kind), ("url", kind), ("day", pa.string()), ("amount", pa.int64())]
        )
        pq.write_table(table.cast(schema), path, row_group_size=groups)
        return path

    return make


def _shuffled(visits: list[Row]) -> list[Row]:
    return random.Random(3).sample(visits, len(visits))


#: Other files of the same rows, and of rows that mean the same.
FILES: dict[str, Callable[[Path, list[Row]], Path]] = {
    "permuted": lambda folder, visits: _as_csv(folder, _shuffled(visits)),
    "renamed": lambda folder, visits: _as_csv(
        folder, [(f"x{int(u[1:]) * 7919 % 10007}", *rest) for u, *rest in visits]
    ),
    "incomplete": lambda folder, visits: _as_csv(
        folder,
        _shuffled(
            [*visits, *[("", *r[1:]) for r in visits], *[(r[0], "", *r[2:]) for r in visits]]
        ),
    ),
    "no numbers": lambda folder, visits: _as_csv(
        folder, [*visits, *((*visits[i][:3], x) for i, x in enumerate(["x", "", "1e", "nan"]))]
    ),
    "parquet": _parquet(pa.string(), 10**6),
    "groups": _parquet(pa.string(), 7),
    "dictionary": _parquet(pa.dictionary(pa.int32(), pa.string()), 100),
}


@pytest.fixture(autouse=True)
def _fixed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same random bytes in every command."""
    monkeypatch.setattr(SystemSource, "_fetch", lambda _, count: random.Random(5).randbytes(count))


def seen(command: list[str], data: Path, *flags: str) -> list[str]:
    """What a command prints and writes, without the time and the names of files."""
    out = data.parent / "out.csv"
    group, name, *more = command
    writes = name not in ("cut", "advise")
    arguments = [group, name, str(data), *more, *flags, *(["--output", str(out)] if writes else [])]
    code, text, err = run(*arguments)
    assert code == 0, err
    files = [out, out.with_name("out.csv.statement.json")] if writes else []
    papers = [file.read_text(encoding="utf-8") for file in files]
    for file in files:
        file.unlink()
    time = re.compile(r"20\d\d-\d\d-\d\dT[\d:]+\+00:00")
    return [time.sub("TIME", part).replace(str(out), "OUT") for part in (text, err, *papers)]


@cache
def _plain(name: str, folder: Path) -> list[str]:
    return seen(ON_ROWS[name], _as_csv(folder, rows()))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("plain")


def _some(names: Any, quick: str) -> list[Any]:
    return [n if n in quick else pytest.param(n, marks=pytest.mark.slow) for n in names]


@pytest.mark.parametrize("change", FILES)
@pytest.mark.parametrize("name", _some(ON_ROWS, "sums"))
def test_files_of_rows_that_mean_the_same(
    tmp_path: Path, folder: Path, name: str, change: str
) -> None:
    assert seen(ON_ROWS[name], FILES[change](tmp_path, rows())) == _plain(name, folder)


@pytest.mark.parametrize("name", _some(ON_COUNTS, "gshm"))
def test_counts_in_another_order(tmp_path: Path, name: str) -> None:
    counts = [(key, 300 + 100 * i) for i, key in enumerate(["b", "B", "a", "é", "e"])]
    results = []
    for i, order in enumerate((counts, counts[::-1], _shuffled(counts))):
        (tmp_path / str(i)).mkdir()
        _csv(tmp_path / str(i) / "d.csv", ["element", "count"], order)
        results.append(seen(ON_COUNTS[name], tmp_path / str(i) / "d.csv"))
    assert results[0] == results[1] == results[2]
    assert len(results[0][2].splitlines()) > 2


def test_nothing_is_said_of_a_single_user(tmp_path: Path) -> None:
    """Printed words of a table without rows, and with the rows of one user."""
    said = []
    for i, visits in enumerate(([], rows()[:3])):
        (tmp_path / str(i)).mkdir()
        said.append(seen(ON_ROWS["sums"], _as_csv(tmp_path / str(i), visits)))
    assert said[0] == said[1]


def test_unsorted_output_is_noticed(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from exactdp.frames import counting

    plain = _plain("counts", folder)
    monkeypatch.setattr(counting, "sorted", list, raising=False)
    monkeypatch.setattr(mechanism, "in_order", list)
    monkeypatch.setattr("exactdp.frames.engines._in_order", lambda relation, *_: relation)
    monkeypatch.setattr("exactdp.frames.numbered.Column.in_order", lambda column: column)
    with pytest.raises(AssertionError):
        assert seen(ON_ROWS["counts"], FILES["permuted"](tmp_path, rows())) == plain
