"""Good files of every kind that the command line reads; made when one is first asked for."""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

from exactdp.cli.main import main

__all__ = ["good", "named"]

_COUNTS = b"element,count\n7,3\n8,2\n"
_STEPS = {
    "response": [{"mechanism": "randomized-response", "epsilon": "0.25", "times": 3}],
    "steps": [
        {"mechanism": "gaussian", "sigma": 3, "sensitivity": 1},
        {"mechanism": "discrete-gaussian", "sigma2": 9},
    ],
    "mixed": [
        {"mechanism": "randomized-response", "epsilon": "0.25", "times": 3},
        {"mechanism": "discrete-laplace", "epsilon": 0.5, "sensitivity": 1},
        {"mechanism": "laplace", "scale": "4", "times": 2},
        {"mechanism": "gaussian", "sigma": 5, "rate": "0.5"},
        {"mechanism": "approximate", "epsilon": 0.1, "delta": "1e-9"},
    ],
}
_PLAIN = {
    "counts.csv": _COUNTS,
    "public.csv": b"7\n8\n9\n",
    "values.csv": b"7\n8\n8\n7\n9\n",
    "numbers.csv": b"0\n3\n8\n3\n",
    "ratings.csv": b"user,item,value\na,0,1\na,3,-0.5\nb,8,0.25\n",
    "queries.toml": b'user = "u"\n[[query]]\nname = "q"\nby = "k"\nk = 2\n',
    "pairs.jsonl": b"[0, 1]\n",
    "deployment.yaml": b"deployment:\n  privacy_loss:\n"
    b"    privacy_parameters: {rho: 2.56, epsilon: 17.92, delta: 1.0e-10}\n",
    "rows.csv": b"u,k,v\n1,a,1\n2,b,-2\n",
    **{
        f"{name}.jsonl": "".join(json.dumps(step) + "\n" for step in steps).encode()
        for name, steps in _STEPS.items()
    },
}
_ALP = "release {} counts.csv --k 9 --epsilon 1 --text 3 --largest {} --output"
_LOCAL = "local report numbers.csv --epsilon 1 --k 9 --mechanism {} --output"

#: name -> the call that writes it, without the name.
_WRITTEN = {
    "compact.edph": "release compact counts.csv --epsilon 1 --text 3 --beta 0.1 --output",
    "alp.sketch": _ALP.format("alp", 99),
    "signed.sketch": _ALP.format("signed-alp", 99),
    "histogram.sketch": _ALP.format("histogram-alp", 9),
    "log.sketch": _ALP.format("log-alp", "1e6"),
    "threshold.sketch": _ALP.format("threshold-alp", 999),
    "subset.edl": _LOCAL.format("subset"),
    "rappor.edl": _LOCAL.format("rappor"),
    "hashing.edl": _LOCAL.format("hashing"),
    "unary.edl": _LOCAL.format("unary"),
    "randomized.edl": _LOCAL.format("randomized-response"),
    "permanent.edl": _LOCAL.format("permanent-rappor --limit 3"),
    "compressive.edl": _LOCAL.format("compressive --m 4 --seed 1"),
    "hadamard.edl": "local report values.csv --epsilon 1 --mechanism hadamard --public public.csv "
    "--output",
    "subsetstate.edl": "local aggregate subset.edl --output",
    "hadamardstate.edl": "local aggregate hadamard.edl --output",
    "responses.json": "compose response.jsonl --epsilon 0.5 --statement",
    "means.edl": "local sparse report ratings.csv --d 9 --k 3 --epsilon 1 --level event --output",
}

#: name -> the call that prints it.
_PRINTED = {
    "report.json": "audit exactdp:discrete-laplace --set scale=1 --left 0 --right 1 --epsilon 0.5 "
    "--samples 2000 --json",
}


@cache
def good(name: str) -> bytes:
    """What a good file of this name holds."""
    if name in _PLAIN:
        return _PLAIN[name]
    return _MADE[name]() if name in _MADE else _by_itself(name)


def named() -> dict[str, str]:
    """Names without endings -> names."""
    names = [*_PLAIN, *_WRITTEN, *_PRINTED, *_MADE]
    return {name.partition(".")[0]: name for name in names}


def _by_itself(name: str) -> bytes:
    """What the command line writes or prints, in a folder of its own."""
    call = f"{_WRITTEN[name]} {name}" if name in _WRITTEN else _PRINTED[name]
    words = call.split()
    out = io.StringIO()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for word in words[:-1]:
            if "." in word and (word in _PLAIN or word in _WRITTEN):
                Path(word).write_bytes(good(word))
        with contextlib.redirect_stdout(out), contextlib.suppress(SystemExit):
            main(words)
        return Path(name).read_bytes() if name in _WRITTEN else out.getvalue().encode()


def _parquet() -> bytes:
    import duckdb

    with tempfile.TemporaryDirectory() as folder, duckdb.connect() as connection:
        path = Path(folder, "rows.parquet")
        values = "(VALUES (1, 'a', 1), (2, 'b', -2), (2, NULL, 3)) rows(u, k, v)"
        connection.execute(f"COPY (SELECT * FROM {values}) TO '{path}'")  # noqa: S608
        return path.read_bytes()


def _answers() -> bytes:
    """The true answers to some vectors."""
    from exactdp.oracle.vectors import load

    chosen = list(load("zcdp"))[:5]
    rows = [{"id": vector.id, "value": vector.upper} for vector in chosen]
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


_MADE: dict[str, Callable[[], bytes]] = {
    "parquet.parquet": _parquet,
    "answers.jsonl": _answers,
}
