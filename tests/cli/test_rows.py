"""exactdp release on rows: CSV and Parquet to a release with its guarantee, both or none."""

from __future__ import annotations

import csv
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.test_accounting import run

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
pytest.importorskip("duckdb")

TARGET = ["--user", "uid", "--by", "url", "--epsilon", "2", "--delta", "1e-6"]


def visits(path: Path, users: int = 900) -> Path:
    """Every user twice at 007, once at "a, b"; user 0 at 50 other keys. In Parquet with times,
    which DuckDB does not fetch without pytz."""
    rows = [(f"u{u}", key, 3) for u in range(users) for key in ("007", "007", "a, b")]
    rows += [("u0", f"rare{i}", 3) for i in range(50)]
    if path.suffix == ".parquet":
        names = ["uid", "url", "amount"]
        columns = {n: [r[i] for r in rows] for i, n in enumerate(names)}
        columns["at"] = pa.array([0] * len(rows), pa.timestamp("us", "UTC"))
        pq.write_table(pa.table(columns), path)
        return path
    with path.open("w", newline="", encoding="utf-8-sig") as file:
        writer = csv.writer(file)
        writer.writerow(["uid", "url", "amount"])
        writer.writerows(rows)
    return path


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("mechanism", "ending"),
    [
        ("csh", "csv"),
        ("top-k", "parquet"),
        ("gshm", "csv"),
        ("gshm", "parquet"),
        ("csh", "parquet"),
        ("top-k", "csv"),
    ],
)
def test_rows_are_released(tmp_path: Path, ending: str, mechanism: str) -> None:
    data, out = visits(tmp_path / f"visits[1].{ending}"), tmp_path / "out.csv"
    bound = "--k" if mechanism == "gshm" else "--top"
    arguments = ["release", mechanism, str(data), bound, "2", *TARGET, "--output", str(out)]
    code, text, err = run(*arguments)
    assert (code, err) == (0, "")
    assert "guarantee: (2, " in text
    with out.open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["url", "count"]
    assert [row[0] for row in rows[1:]] == ["007", "a, b"]
    assert all(abs(float(row[1]) - 900) < 150 for row in rows[1:])
    promise = json.loads((tmp_path / "out.csv.statement.json").read_text(encoding="utf-8"))
    assert float(promise["claims"][0]["at_most"]) <= 1e-6
    code, _, err = run(*arguments)
    assert code == 2
    assert "does not exist yet" in err
    assert run(*arguments, "--overwrite")[0] == 0


def test_sums_and_public_keys(tmp_path: Path) -> None:
    data, out, public = visits(tmp_path / "v.csv"), tmp_path / "o.csv", tmp_path / "p.csv"
    public.write_text("007\nnowhere\n", encoding="utf-8")
    arguments = ["release", "gshm", str(data), "--k", "2", *TARGET, "--sums", "amount:-5..5:sums"]
    code, _, err = run(*arguments, "--public", str(public), "--output", str(out))
    assert (code, err) == (0, "")
    with out.open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["url", "count", "amount"]
    assert len(rows) == 2
    assert rows[1][0] == "007"
    assert abs(float(rows[1][2]) - 5 * 900) < 1000


@pytest.mark.parametrize(
    ("content", "flags", "message"),
    [
        (b"uid,url\n1,a\n", ["--sums", "amount:0..3:users"], "a column of numbers"),
        (b"uid,url\n1,a\n", ["--sums", "amount:3"], "rows=M (over rows, at most M of a user"),
        (b"uid,key\n1,a\n", [], "by must be a column"),
        (b"", [], "a file with a first line"),
        (b"uid,url\n1,a\n2,b,secret\n", [], "v.csv, row 3"),
        (b'uid,url\n1,"a\n', [], "readable rows"),
        (b"uid,uid\n1,a\n", [], "different names in the header"),
        (b"uid;url\n1;a\n", [], "user must be a column: one of uid;url"),
        (b"uid,url\n1,a\n", ["--quote", ","], "a character other than the delimiter"),
        (b"uid,url\n1,a\n", ["--delimiter", "::"], "one ASCII character"),
        (b"uid,url\n\xff\xfe,a\n", [], "readable rows"),
        (b"uid,url\n1,a\n", ["--sigma", "3"], "together"),
        (b"uid,url\n1,a\n", ["--sigma", "1", "--tau", "1"], "delta must be >="),
    ],
)
def test_bad_rows(tmp_path: Path, content: bytes, flags: list[str], message: str) -> None:
    data, out = tmp_path / "v.csv", tmp_path / "o.csv"
    data.write_bytes(content)
    code, text, err = run(
        "release", "gshm", str(data), "--k", "2", *TARGET, *flags, "--output", str(out)
    )
    assert (code, text) == (2, "")
    assert message in err
    assert "secret" not in err
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == [data]


def released(data: Path, *flags: str) -> list[list[str]]:
    """The rows of a release of rows of 900 users."""
    out = data.parent / "o.csv"
    arguments = ["--k", "2", "--epsilon", "2", "--delta", "1e-6", "--output", str(out)]
    code, _, err = run("release", "gshm", str(data), *arguments, *flags)
    assert (code, err) == (0, "")
    with out.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def test_options_and_not_the_data_say_how_rows_are_read(tmp_path: Path) -> None:
    """A file of semicolons, apostrophes and no header; 007 stays text, a comma is no delimiter."""
    data = tmp_path / "v.csv"
    lines = [f"u{u};'a;b,c'\nu{u};007\n" for u in range(900)]
    data.write_text("".join(lines), encoding="utf-8")
    flags = ["--delimiter", ";", "--quote", "'", "--no-header"]
    rows = released(data, "--user", "1", "--by", "2", *flags)
    assert rows[0] == ["2", "count"]
    assert [row[0] for row in rows[1:]] == ["007", "a;b,c"]


@pytest.mark.parametrize("end", ["\n", "\r\n", pytest.param("\r", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "row",
    [
        "x,b\n",
        "x,b\r\n",
        "x,b\r",
        "\r\n",
        "x,b\ry,b\n",
        'x,"a\r\nb"\n',
        'x,"a\rb"\r',
        'x,"{wide}"\n',
        "x,{wide}\r\n",
    ],
)
def test_a_row_does_not_decide_how_others_are_read(tmp_path: Path, row: str, end: str) -> None:
    """Neither by the end of its line nor by its length."""
    data = tmp_path / "v.csv"
    lines = [f"{u},a{end}" for u in range(900)]
    rare = row.replace("{wide}", "w" * (15 << 20))
    data.write_text("".join(["uid,url", end, *lines, rare, *lines]), newline="", encoding="utf-8")
    rows = released(data, "--user", "uid", "--by", "url")
    assert [row[0] for row in rows[1:]] == ["a"]
    assert abs(float(rows[1][1]) - 900) < 100


def test_ends_of_lines_in_cells_are_line_feeds(tmp_path: Path) -> None:
    data = tmp_path / "v.csv"
    ends = ["\n", "\r\n", "\r"]
    lines = [f'{u},"a{ends[u % 3]}b"{ends[u % 2]}' for u in range(900)]
    data.write_text("".join(["uid,url\r\n", *lines]), newline="", encoding="utf-8")
    rows = released(data, "--user", "uid", "--by", "url")
    assert [row[0] for row in rows[1:]] == ["a\nb"]


@pytest.mark.parametrize(
    ("row", "number"),
    [("x,a\rb\n", 4), ("x\n", 3), ('x,"a\n', 3), ("x,{wide}\n", 3), ('x,"{wide}"\r\n', 3)],
)
def test_a_refusal_names_the_row(tmp_path: Path, row: str, number: int) -> None:
    data = tmp_path / "v.csv"
    rare = row.replace("{wide}", "w" * (16 << 20))
    data.write_text(f"uid,url\n1,a\n{rare}2,a\n", newline="", encoding="utf-8")
    arguments = ["--k", "2", *TARGET, "--output", str(tmp_path / "o.csv")]
    code, _, err = run("release", "gshm", str(data), *arguments)
    assert (code, err.count("\n")) == (2, 1)
    assert f"v.csv, row {number}" in err


def test_the_first_row_without_a_header_is_a_row(tmp_path: Path) -> None:
    data = tmp_path / "v.csv"
    lines = "".join(f"{u},a\n" for u in range(900))
    for first in ("", "\r\n", "x," + "w" * (1 << 20) + "\n"):
        data.write_text(first + lines, newline="", encoding="utf-8")
        rows = released(data, "--user", "1", "--by", "2", "--no-header", "--overwrite")
        assert [row[0] for row in rows[1:]] == ["a"]


def test_keys_of_several_columns(tmp_path: Path) -> None:
    data = tmp_path / "v.csv"
    lines = [f"u{u},a,2013-01-0{day}\n" for u in range(900) for day in (1, 2)]
    data.write_text("uid,url,day\n" + "".join(lines), encoding="utf-8")
    rows = released(data, "--user", "uid", "--by", "url,day")
    assert rows[0] == ["url", "day", "count"]
    assert [row[:2] for row in rows[1:]] == [["a", "2013-01-01"], ["a", "2013-01-02"]]
    promise = json.loads((tmp_path / "o.csv.statement.json").read_text(encoding="utf-8"))
    about = dict(promise["about"])
    assert (about["mechanism"], about["by"], about["k"]) == ("GSHM", "url, day", "2")
    bound = {"what": "keys of one user", "at_most": "2", "checked": True}
    assert promise["unit"]["bounds"] == [bound]
    assert sum("Checked on the data" in text for text in promise["premises"]) == 2
    assert promise["made_by"]["name"] == "exactdp"


@pytest.mark.parametrize("flags", [["--user", "uid", "--by", "url"], []])
def test_nothing_is_said_of_an_empty_file(tmp_path: Path, flags: list[str]) -> None:
    data = tmp_path / "v.csv"
    data.write_text("uid,url\n" if flags else "element,count\n", encoding="utf-8")
    arguments = [
        "--k",
        "2",
        "--epsilon",
        "2",
        "--delta",
        "1e-6",
        "--output",
        str(tmp_path / "o.csv"),
    ]
    code, _, err = run("release", "gshm", str(data), *arguments, *flags)
    assert (code, err) == (0, "")


def test_what_is_no_number_is_missing(tmp_path: Path) -> None:
    """Texts, empty cells and numbers beyond 64 bits of users on their own, and fractions."""
    data = tmp_path / "v.csv"
    lines = [f"u{u},a,2\n" for u in range(900)]
    odd = ["x", "", "99999999999999999999", "nan", "inf", "-1e400", "1.6", "2.4", " 2 "]
    data.write_text(
        "uid,url,amount\n" + "".join(lines) + "".join(f"v{o},a,{o}\n" for o in odd),
        encoding="utf-8",
    )
    for flags, expected in (("amount:-5..5:sums", 1811), ("amount:0..5/0.5:sums", 1811)):
        rows = released(data, "--user", "uid", "--by", "url", "--sums", flags, "--overwrite")
        assert [row[0] for row in rows[1:]] == ["a"]
        assert abs(float(rows[1][2]) - expected) < 300


def test_what_a_bound_leaves_out(tmp_path: Path) -> None:
    """One user of 900 has 52 keys, the others have two."""
    data = visits(tmp_path / "v.csv")
    command = ["release", "cut", str(data), "--user", "uid", "--by", "url", "--k", "2", "--json"]
    code, text, err = run(*command, "--public-data")
    assert (code, err) == (0, "")
    exact = {"k": 2, "users_with_more": 1, "pairs": 1850, "pairs_left_out": 50}
    assert json.loads(text) == exact
    code, text, _ = run(*command, "--epsilon", "20", "--most", "10")
    noisy = json.loads(text)
    assert abs(noisy["pairs"] - 1808) < 60  # scale 0.95; 42 of the 52 pairs are not counted
    assert noisy["guarantee"]["epsilon"] == "20"
    for flags in ([], ["--public-data", "--epsilon", "1"], ["--epsilon", "1"]):
        code, _, err = run(*command, *flags)
        assert code == 2
        assert "either --public-data, or --epsilon and --most" in err


def started(*arguments: str, **more: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", "from exactdp.cli.main import main; main()", *arguments]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True, **more)  # type: ignore[call-overload, no-any-return]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device")
def test_a_full_disk_is_no_verdict() -> None:
    claim = ["check", "gaussian", "--sigma", "4", "--epsilon", "1", "--delta", "1e-5"]
    with open("/dev/full", "w", encoding="utf-8") as full:
        process = started(*claim, stdout=full)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 4
    assert err.startswith("exactdp: the operating system says")
    assert err.count("\n") == 1


def test_a_reader_that_stops_is_no_verdict() -> None:
    draws = ["sample", "discrete-gaussian", "--sigma2", "100", "--count", "100000"]
    process = started(*draws, stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.close()
    process.stdout = None  # communicate reads what is left
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (141, "")


@pytest.mark.few(1)
@pytest.mark.parametrize("line", ["audit vectors questions", "--help"])
def test_a_reader_that_has_enough_is_no_error(line: str) -> None:
    """Like 'exactdp ... | head -1'."""
    process = started(*line.split(), stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.read(1)
    process.stdout.close()
    process.stdout = None
    _, err = process.communicate(timeout=60)
    assert err == ""
    assert process.returncode in (0, 141)  # 0: all was in the pipe before it was closed


@pytest.fixture
def releasing(tmp_path: Path) -> list[str]:
    """A release of counts, without the name of its output."""
    counts = tmp_path / "in.csv"
    counts.write_text(
        "element,count\n" + "".join(f"page{i},900\n" for i in range(9000)), encoding="utf-8"
    )
    return ["release", "gshm", str(counts), "--k", "1", "--epsilon", "1", "--delta", "1e-6"]


@pytest.mark.slow
def test_a_disk_that_fills_up_leaves_nothing(tmp_path: Path, releasing: list[str]) -> None:
    resource = pytest.importorskip("resource")

    def small() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    before = sorted(tmp_path.iterdir())
    process = started(*releasing, "--output", str(tmp_path / "out.csv"), preexec_fn=small)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 4
    assert err.startswith("exactdp: the operating system says")
    assert err.count("\n") == 1
    assert sorted(tmp_path.iterdir()) == before


def test_a_folder_that_cannot_be_written_to(tmp_path: Path, releasing: list[str]) -> None:
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o500)
    if os.geteuid() == 0:  # root may write anywhere but there
        folder = Path("/proc")
    code, _, err = run(*releasing, "--output", str(folder / "o.csv"))
    assert code == 4
    assert err.startswith("exactdp: the operating system says")
    assert err.count("\n") == 1


def test_a_crash_is_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    from exactdp.accounting import gaussian

    def broken(*_: object) -> None:
        raise TypeError("broken")

    monkeypatch.setattr(gaussian, "hockey_stick", broken)
    code, _, err = run("check", "gaussian", "--sigma", "4", "--epsilon", "1", "--delta", "1e-5")
    assert code == 4
    assert "internal error" in err
    assert err.count("\n") == 1


def test_texts_of_digits_are_texts(tmp_path: Path) -> None:
    """90210 as a text is not element 90210."""
    counts, out = tmp_path / "in.csv", tmp_path / "out.edph"
    counts.write_text("element,count\n90210,500\n", encoding="utf-8")
    flags = ["--epsilon", "1", "--text", "5", "--output", str(out)]
    assert run("release", "compact", str(counts), *flags)[0] == 0
    code, answer, _ = run("release", "query", str(out), "90210")
    assert code == 0
    assert abs(int(answer) - 500) < 100


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xef\xbb\xbfelement,count\na,900\n", ""),
        (b"element,count\n\xff,3\n", "UTF-8"),
        (b'element,count\n"a,3\n', "CSV text"),
    ],
)
def test_odd_counts_files(tmp_path: Path, content: bytes, message: str) -> None:
    counts, out = tmp_path / "in.csv", tmp_path / "out.csv"
    counts.write_bytes(content)
    flags = ["--k", "1", "--epsilon", "1", "--delta", "1e-6", "--output", str(out)]
    code, _, err = run("release", "gshm", str(counts), *flags)
    assert code == (2 if message else 0)
    assert message in err


def test_sparse_texts_can_be_cut_to_a_public_list(tmp_path: Path) -> None:
    counts, out, public = tmp_path / "in.csv", tmp_path / "out.csv", tmp_path / "p.csv"
    counts.write_text("element,count\na,400\nb,300\n", encoding="utf-8")
    public.write_text("a\nc\n", encoding="utf-8")
    flags = ["--epsilon", "1", "--text", "2", "--public", str(public), "--output", str(out)]
    assert run("release", "sparse", str(counts), *flags)[0] == 0
    assert [line.split(",")[0] for line in out.read_text(encoding="utf-8").splitlines()] == [
        "element",
        "a",
    ]


def test_a_closed_output_is_an_error() -> None:
    command = shlex.join(
        [sys.executable, "-c", "from exactdp.cli.main import main; main()", "explain"]
    )
    done = subprocess.run(
        ["bash", "-c", f"{command} exact-csh >&-"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (4, "exactdp: standard output is closed\n")


def test_an_engine_that_breaks_the_bound_is_no_bad_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from exactdp.frames import counting

    first_keys = counting.first_keys
    monkeypatch.setattr(counting, "first_keys", lambda pairs, order, k: first_keys(pairs, order, 9))
    data = visits(tmp_path / "v.csv")
    arguments = ["--k", "2", *TARGET, "--output", str(tmp_path / "o.csv")]
    code, text, err = run("release", "gshm", str(data), *arguments)
    assert (code, text) == (4, "")
    assert "nothing was released" in err
    assert list(tmp_path.iterdir()) == [data]


def test_months_of_a_column_of_dates(tmp_path: Path) -> None:
    """A cell that is no date is missing; a column that is called month:date is a column."""
    data, public = tmp_path / "v.csv", tmp_path / "p.csv"
    days = "".join(f"{u},2013-0{1 + u % 2}-1{u % 10},x\n" for u in range(1800))
    data.write_text(f"uid,date,week:date\n{days}zz,no date,x\n", encoding="utf-8")
    rows = released(data, "--user", "uid", "--by", "month:date")
    assert rows[0] == ["month:date", "count"]
    assert [row[0] for row in rows[1:]] == ["2013-01-01", "2013-02-01"]
    public.write_text("2013-01-01\n2013-03-01\n", encoding="utf-8")
    call = ["--user", "uid", "--by", "month:date", "--public", str(public), "--overwrite"]
    assert [row[0] for row in released(data, *call)[1:]] == ["2013-01-01"]
    rows = released(data, "--user", "uid", "--by", "week:date", "--overwrite")
    assert [row[0] for row in rows[1:]] == ["x"]


def test_a_row_is_named_by_its_number_where_cells_have_several_lines(tmp_path: Path) -> None:
    data = tmp_path / "v.csv"
    data.write_text('uid,url\n1,"a\nb"\n2,b\n3,c,d\n', encoding="utf-8")
    arguments = ["--k", "2", *TARGET, "--output", str(tmp_path / "o.csv")]
    code, _, err = run("release", "gshm", str(data), *arguments)
    assert code == 2
    assert "v.csv, row 4" in err


def test_an_empty_release_says_what_to_do(tmp_path: Path) -> None:
    """By the released rows alone: with a row, nothing is said."""
    data = tmp_path / "v.csv"
    data.write_text("uid,url\n" + "".join(f"{u},a\n" for u in range(3)), encoding="utf-8")
    call = ["release", "counts", str(data), "--user", "uid", "--by", "url", "--k", "2"]
    call += ["--epsilon", "1", "--delta", "1e-6"]
    code, text, _ = run(*call, "--output", str(tmp_path / "o.csv"))
    assert code == 0
    assert "released                   0 counters" in text
    assert "no key has enough users for this noise" in text
    assert "exactdp release advise" in text
    call[2] = str(visits(tmp_path / "w.csv"))
    code, text, _ = run(*call, "--output", str(tmp_path / "p.csv"))
    assert (code, "why none" in text) == (0, False)


def test_halves_are_explained(tmp_path: Path) -> None:
    data = visits(tmp_path / "v.csv")
    call = ["release", "counts", str(data), "--user", "uid", "--by", "url", "--top", "2"]
    call += ["--epsilon", "1", "--delta", "1e-6", "--output", str(tmp_path / "o.csv")]
    code, text, _ = run(*call)
    assert code == 0
    assert "multiples of 1/2" in text


def test_intervals_of_a_column_of_numbers(tmp_path: Path) -> None:
    """Cells that are no numbers have no interval; all intervals are released."""
    data, out = tmp_path / "v.csv", tmp_path / "o.csv"
    lines = [f"{i},{('30', '70', 'x', '')[i % 4]}" for i in range(4000)]
    data.write_text("\n".join(["uid,age", *lines]) + "\n", encoding="utf-8")
    call = ["release", "counts", str(data), "--user", "uid", "--by", "age:0..18..65..120"]
    target = ["--k", "1", "--epsilon", "1", "--delta", "1e-6", "--output", str(out)]
    code, _, err = run(*call, *target)
    assert (code, err) == (0, "")
    header, *rows = list(csv.reader(out.read_text(encoding="utf-8").splitlines()))
    assert header == ["age", "count"]
    assert [row[0] for row in rows] == ["0", "18", "65"]
    assert all(abs(int(n) - true) < 60 for (_, n), true in zip(rows, (0, 1000, 1000), strict=True))
