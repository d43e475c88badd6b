"""What the wheel promises, alone and with each extra: ``python promises.py EXTRA``.

This program runs in an environment that has the wheel with one extra and nothing else. It imports
every module of exactdp that the extra promises, then calls the function below that is named after
the extra: one example of what the extra is for. ``base`` is the wheel without an extra; there,
whatever needs an extra must end in one line that names the extra. Exit code 77: the example needs
a program that this machine lacks.

The extra for comparisons (peers) promises something about a clone; the variable CLONE names its
folder.
"""

from __future__ import annotations

import csv
import os
import re
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import metadata
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

#: Modules that need an extra, by prefix. Every other module imports without any.
MODULES = {
    "exactdp.oracle.pytest_plugin": "testing",
    "exactdp.oracle.strategies": "testing",
}

#: Extra -> what must name the extra where it is missing: commands, or programs (with newlines).
MISSING = {
    "frames": (
        "exactdp release gshm rows.csv --user user --by key --k 1 --epsilon 1 --delta 1e-5"
        " --output released.csv",
        "from exactdp import frames\n"
        "frames.release({}, user='user', by='key', k=1, epsilon=1, delta='1e-5')\n",
    ),
    "local": (
        "from exactdp.local import CompressiveResponse\n"
        "from exactdp.local.sparse_recovery import Lasso\n"
        "m = CompressiveResponse(k=20, m=8, epsilon=1, seed=1)\n"
        "m.recover(m.aggregate().add([1, 2, 3]), Lasso())\n",
    ),
    "peers": (
        "exactdp audit opendp:laplace --set scale=1 --left 0 --right 1 --epsilon 0.5",
        "from exactdp.accounting.interop import events\nevents.accountant()\n",
    ),
    "plots": ("exactdp figure csh --sparsity 10 --epsilon 1 --delta 1e-5 --output picture.png",),
    "proofs": ("exactdp proofs BV-Lemma-2.9", "exactdp proofs --list"),
    "registry": ("exactdp statement lint record.yaml",),
    "testing": ("import exactdp.oracle.strategies\n",),
}


def base() -> None:
    """What README shows without an extra, and one line wherever an extra is missing."""
    from exactdp.accounting import gshm, pld
    from exactdp.audit import private
    from exactdp.local import CompressiveResponse, HadamardResponse, SparseVectorMean
    from exactdp.samplers import SystemSource

    calibration = gshm.calibrate(k=10, epsilon="0.35", delta="1e-5")
    assert calibration.delta.upper < 1e-5
    assert pld.gaussian(sigma=1).sampled(rate="0.01").composed(100).epsilon("1e-5").upper < 1
    m = HadamardResponse(k=10, epsilon=2)
    reports = m.report_many(list(range(10)) * 100, SystemSource())
    assert len(m.aggregate().add(reports).estimate("projected")) == 10
    few = CompressiveResponse(k=50, m=20, epsilon=2)
    assert few.aggregate().add(few.report_many([7] * 1000, SystemSource())).estimate().argmax() == 7
    assert SparseVectorMean(d=100, k=4, epsilon=1, L=4).guarantee.epsilon <= 1
    assert "proved" in str(private(lambda bit, rng: rng.getrandbits(1), 0, 1, epsilon=1))
    Path("counts.csv").write_text("element,count\na,900\nb,2\n", encoding="utf-8")
    Path("values.csv").write_text("1\n2\n3\n", encoding="utf-8")
    command("exactdp calibrate sparse-histograms --sparsity 10 --epsilon 1 --delta 1e-5")
    command("exactdp release gshm counts.csv --k 1 --epsilon 1 --delta 1e-5 --output counted.csv")
    command(
        "exactdp local report values.csv --mechanism hadamard --k 9 --epsilon 1"
        " --output reports.edl"
    )
    command("exactdp delta gaussian --sigma 4 --epsilon 1 --statement noise.json")
    command("exactdp statement check noise.json")
    command("exactdp statement check counted.csv.statement.json")
    Path("rows.csv").write_text("user,key\n1,a\n", encoding="utf-8")
    Path("record.yaml").write_text("deployment: {}\n", encoding="utf-8")
    for extra, programs in MISSING.items():
        for program in programs:
            refused(extra, program)
    description = metadata("exactdp")["Description"]  # by a package index, which lacks the files
    assert description.startswith("# exactdp\n")
    assert re.findall(r"\]\((?!https?:)", description) == []


def local() -> None:
    """The lasso finds the one value that everybody has."""
    from exactdp.local import CompressiveResponse
    from exactdp.local.sparse_recovery import Lasso
    from exactdp.samplers import SeededSource

    m = CompressiveResponse(k=50, m=20, epsilon=2, seed=1)
    state = m.aggregate().add(m.draw_many([7] * 20_000, SeededSource(1)))
    assert m.recover(state, Lasso()).argmax() == 7


def registry() -> None:
    """A record of the deployments registry."""
    parameters = "privacy_parameters: {rho: 0.5, epsilon: 5.3, delta: 1e-5}"
    Path("record.yaml").write_text(
        f"deployment:\n  privacy_loss:\n    {parameters}\n", encoding="utf-8"
    )
    command("exactdp statement lint record.yaml")


def proofs() -> None:
    """Claims that use sympy and mpmath, each in a process with a time limit."""
    command("exactdp proofs BV-Lemma-2.9 ALP-Lemma-4.1")


def scale() -> None:
    """States that workers of a cluster add up."""
    import distributed

    from exactdp.local import HadamardResponse
    from exactdp.samplers import SystemSource

    m = HadamardResponse(k=10, epsilon=1)

    def tallied(values: list[int]) -> bytes:
        return m.aggregate().add(m.report_many(values, SystemSource())).to_bytes()

    with distributed.Client(processes=False, n_workers=2, dashboard_address=None) as client:
        sent = client.gather([client.submit(tallied, [i] * 100) for i in range(4)])
    total = sum((m.state_from_bytes(data) for data in sent), m.aggregate())
    assert total.n == 400


#: 6 000 users, of whom half have each key.
ROWS = {"user": list(range(6000)), "key": ["a", "b"] * 3000}
TARGET: dict[str, Any] = {"user": "user", "by": "key", "k": 1, "epsilon": 1, "delta": "1e-6"}


def frames() -> None:
    """Releases of a pyarrow table, of a DuckDB relation, and of rows in a CSV file."""
    import duckdb
    import pyarrow as pa

    from exactdp import frames

    table = pa.table(ROWS)
    assert frames.release(table, **TARGET).frame["key"].to_pylist() == ["a", "b"]
    with duckdb.connect() as connection:
        released = frames.release(connection.from_arrow(table), **TARGET).frame
        assert released.columns == ["key", "count"]
    with open("rows.csv", "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("user", "key"), *zip(*ROWS.values(), strict=True)])
    command(MISSING["frames"][0])
    assert len(Path("released.csv").read_text(encoding="utf-8").splitlines()) == 3


def engines() -> None:
    """Releases of frames of pandas, polars (eager and lazy) and Dask."""
    import dask.dataframe as dd
    import pandas as pd
    import polars as pl

    from exactdp import frames

    pandas = pd.DataFrame(ROWS)
    for frame in (pandas, pl.DataFrame(ROWS), pl.LazyFrame(ROWS), dd.from_pandas(pandas, 2)):
        released = frames.release(frame, **TARGET).frame
        assert isinstance(released, type(frame)), type(frame)
        eager = released.compute() if hasattr(released, "compute") else released
        eager = eager.collect() if isinstance(eager, pl.LazyFrame) else eager
        assert list(eager["key"]) == ["a", "b"], type(frame)


def spark() -> None:
    """A release of a Spark frame, on a Java virtual machine."""
    needs("java")
    from pyspark.sql import SparkSession

    from exactdp import frames

    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    session = builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()
    try:
        rows = session.createDataFrame(list(zip(*ROWS.values(), strict=True)), list(ROWS))
        released = frames.release(rows, **TARGET).frame
        assert sorted(row["key"] for row in released.collect()) == ["a", "b"]
    finally:
        session.stop()


def peers() -> None:
    """Each library of the extra has its adapter; dp_accounting has a certified accountant."""
    from exactdp.accounting.interop import events

    sys.path.append(str(clone()))
    names = {*import_module("vectors.adapters").ADAPTERS} - {"exactdp", "ldp_toolbox"}  # no extra's
    if sys.version_info >= (3, 14):
        names.discard("diffprivlib")  # not installed there: see pyproject.toml
    for name in sorted(names):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert import_module(f"vectors.adapters.{name}").make().version, name
    accountant = events.accountant()
    accountant.compose(import_module("dp_accounting.dp_event").GaussianDpEvent(2.0))
    assert 0 < accountant.get_epsilon(1e-5) < 3
    command(
        "exactdp audit opendp:laplace --set scale=1 --left 0 --right 1 --epsilon 2 --samples 2000",
        0,
        1,
    )


def plots() -> None:
    """A picture of what the exact analysis saves."""
    command(MISSING["plots"][0])
    assert Path("picture.png").read_bytes().startswith(b"\x89PNG")


def testing() -> None:
    """Hypothesis draws neighbours, and the pytest plugin reports what was exact."""
    Path("test_mine.py").write_text(
        "from hypothesis import given, settings\n"
        "from exactdp.oracle import assert_private\n"
        "from exactdp.oracle.strategies import neighbouring_histograms\n"
        "@settings(max_examples=3, deadline=None)\n"
        "@given(neighbouring_histograms(k=1, max_size=2))\n"
        "def test_a_coin_is_private(pair):\n"
        "    assert_private(lambda counts, rng: rng.getrandbits(1), *pair, epsilon=1)\n",
        encoding="utf-8",
    )
    said = command(f"{sys.executable} -m pytest -q test_mine.py")
    assert "assertions of laws and privacy: 3 exact" in said, said


EXAMPLES: dict[str, Callable[[], None]] = {
    example.__name__: example
    for example in (
        base, local, registry, proofs, scale, frames, engines, spark, peers, plots, testing,
    )
}  # fmt: skip


def imports(extra: str) -> None:
    """Import every module of exactdp but those that need another extra."""
    import exactdp

    for module in walk_packages(exactdp.__path__, "exactdp."):
        name = module.name
        needed = {MODULES[prefix] for prefix in MODULES if name.startswith(prefix)}
        if needed <= {extra} and not name.endswith("__main__"):
            import_module(name)


def command(line: str, *codes: int, folder: Path | None = None) -> str:
    """What a command prints; it must exit with one of the codes (default: 0)."""
    done = run(line, folder)
    if done.returncode not in (codes or (0,)):
        raise SystemExit(f"$ {line}\nexit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def refused(extra: str, program: str) -> None:
    """Without the extra, the program must fail with one line that names the extra."""
    done = run(program)
    lines = done.stderr.splitlines()
    last = lines[-1] if lines else ""
    if "\n" in program:
        lines = [last]  # a traceback leads to it
    if not done.returncode or len(lines) != 1 or f"pip install 'exactdp[{extra}]'" not in last:
        raise SystemExit(f"without the extra {extra}:\n{program}\nprints\n{done.stderr}")


def run(program: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command, or a program of several lines."""
    if "\n" in program:
        words = [sys.executable, "-P", "-c", program]
    else:
        words = program.split()
        if words[0] == "exactdp":
            words[0] = str(Path(sys.executable).parent / words[0])
    return subprocess.run(words, capture_output=True, text=True, check=False, cwd=folder)


def needs(program: str) -> None:
    """Exit with code 77 if the machine lacks a program."""
    if shutil.which(program) is None:
        print(f"needs {program}")
        sys.exit(77)


def clone() -> Path:
    """The folder of the clone."""
    return Path(os.environ["CLONE"])


if __name__ == "__main__":
    imports(sys.argv[1])
    EXAMPLES[sys.argv[1]]()
