"""Malformed calls and files, seeded: each ends in one line, with the right code, leaving nothing.

``python -m tests.cli.fuzz 100000`` runs so many; a failure prints the call, to be repeated.
"""

from __future__ import annotations

import contextlib
import io
import os
import random
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from exactdp.cli.main import main
from exactdp.mechanisms import CompactHistogram
from exactdp.samplers import SystemSource

__all__ = ["Failure", "fuzz"]

#: No call may take longer, in seconds of computing.
LONGEST = 5

CALLS = [
    "delta gaussian --sigma 3.8 --epsilon 1 --sensitivity 2",
    "delta gshm --k 5 --sigma 10 --tau 30 --epsilon 1",
    "delta discrete-gshm --k 5 --sigma 10 --tau 30 --epsilon 1 --analysis exact",
    "delta discrete-gaussian --sigma2 16 --epsilon 1 --sensitivity 1",
    "delta stability --n 9 --threshold 3 --epsilon 1",
    "delta sums --k 3 --columns 1 --sigma 20 --tau 90 --epsilon 1 --spread 1",
    "delta top-k-with-base --k 3 --sigma 20 --tau 90 --epsilon 1",
    "check gaussian --sigma 3.8 --epsilon 1 --delta 1e-5",
    "check discrete-gshm --k 5 --sigma 10 --tau 30 --epsilon 1 --delta 1e-5",
    "check stability --n 9 --threshold 3 --epsilon 1 --delta 0.01",
    "calibrate gaussian --epsilon 1 --delta 1e-5 --sensitivity 2 --resolution 1e-3",
    "calibrate discrete-gshm --k 3 --epsilon 1 --delta 1e-5 --sigma 20",
    "calibrate stability --n 9 --epsilon 1 --delta 1e-3",
    "sample gaussian --sigma2 4 --count 5 --seed 1",
    "sample laplace --scale 5/2 --count 5",
    "sample geometric --p 0.1 --count 5 --output {new}.csv",
    "release gshm {counts} --k 1 --epsilon 1 --delta 1e-6 --output {new}.csv",
    "release gshm {counts} --k 1 --epsilon 1 --delta 0.1 --sigma 9 --tau 99 --output {new}.csv",
    "release basic {counts} --epsilon 1 --universe 9 --output {new}.csv",
    "release stability {counts} --epsilon 1 --delta 1e-3 --text 3 --output {new}.csv",
    "release sparse {counts} --epsilon 1 --text 3 --public {public} --output {new}.csv",
    "release strict-sparse {counts} --epsilon 1 --text 1 --output {new}.csv",
    "release compact {counts} --epsilon 1 --text 3 --beta 0.1 --output {new}.edph",
    "release alp {counts} --k 9 --epsilon 1 --largest 99 --universe 9 --output {new}.sketch",
    "release threshold-alp {counts} --k 9 --epsilon 1 --largest 999 --text 3 --output {new}.sketch",
    "query {released} 7",
    "query {counts} 7",
]
ROWS = "release gshm {rows} --user u --by k --k 1 --epsilon 1 --delta 1e-6 --output {new}.csv"

VALUES = [
    *(
        "",
        " ",
        "nan",
        "-nan",
        "inf",
        "-inf",
        "-1",
        "-0",
        "0",
        "1",
        "2",
        "1e9999",
        "-1e9999",
        "1e400",
    ),
    *("1e-9999", "1e-400", "9" * 5000, "0." + "0" * 5000 + "1", "1/0", "1/3", "0/1", "1/-3", "//"),
    *(
        "0x10",
        "1_000",
        "1,5",
        "½",
        "٣",
        "１",
        "e",
        "1e",
        "e5",
        "--",
        "-",
        "true",
        "None",
        "[]",
        "{}",
    ),
    *("a" * 10_000, "\x1b[31m", "\n", "a\nb", "\udce9", "💥", "%s", "{0}", "'", '"', "../..", "/"),
    *(
        "/dev/null",
        "/proc/self/mem",
        "nowhere.csv",
        ".csv",
        ".edph",
        "x" * 300 + ".csv",
        "0.5",
        "1e-5",
    ),
]

BYTES = [
    b"",
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b'"',
    b",",
    b"\n",
    b"\r",
    b"-1",
    b"1e400",
    b"9" * 5000,
]


class Failure(BaseException):
    """A call that did not end as it should: not an Exception, which the program would catch."""


def fuzz(count: int, seed: int = 1) -> Counter[int]:
    """Run so many calls; returns how many ended with which code. Raises Failure."""
    rng, codes = random.Random(seed), Counter[int]()
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name), warnings.catch_warnings():
        warnings.simplefilter("error")
        folder = Path(name)
        files = _files(folder)
        for number in range(count):
            arguments = list(_call(rng, files, rows=number % 50 == 0))
            codes[_one(arguments, folder)] += 1
    return codes


def _files(folder: Path) -> dict[str, bytes]:
    """What the good files hold."""
    compact = CompactHistogram.of(n=3, epsilon=1, universe=256**3, beta="0.1")
    released = compact.release({7: 3}, SystemSource()).to_bytes()
    counts = b"element,count\n7,3\n8,2\n"
    return {
        "counts.csv": counts,
        "public.csv": b"7\n",
        "rows.csv": b"u,k\n1,a\n2,b\n",
        "released.edph": released,
    }


def _call(rng: random.Random, files: dict[str, bytes], *, rows: bool) -> Iterator[str]:
    """A good call with something wrong: in its options, or in one of its files."""
    for name, content in files.items():
        Path(name).write_bytes(content)
    call = ROWS if rows else rng.choice(CALLS)
    names = {name.split(".")[0]: name for name in files}
    words = call.format(new="new", **names).split(" ")
    kind = rng.random()
    used = [word for word in words if word in files]
    if used and kind < 0.6:
        name = rng.choice(used)
        Path(name).write_bytes(_damaged(rng, files[name]))
    elif kind < 0.9:
        place = rng.randrange(1, len(words))
        words[place] = rng.choice(VALUES)
    elif kind < 0.95:
        del words[rng.randrange(1, len(words))]
    else:
        place = rng.randrange(1, len(words))
        words[place:place] = words[place : place + 2]
    yield from words


def _damaged(rng: random.Random, content: bytes) -> bytes:
    raw = bytearray(content)
    for _ in range(rng.randrange(1, 4)):
        place = rng.randrange(len(raw) + 1)
        kind = rng.randrange(4)
        if kind == 0:
            raw[place : place + rng.randrange(1, 9)] = b""
        elif kind == 1:
            raw[place:place] = rng.choice(BYTES)
        elif kind == 2 and place < len(raw):
            raw[place] ^= 1 << rng.randrange(8)
        else:
            raw = raw[:place]
    return bytes(raw)


def _one(arguments: list[str], folder: Path) -> int:
    """The exit code of one call, after everything about it has been looked at."""
    given = {path.name for path in folder.iterdir()}
    out, err, start = io.StringIO(), io.StringIO(), time.process_time()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), _alarm():
        try:
            main(arguments)
        except SystemExit as stop:
            code = int(stop.code or 0)
        except Failure as failure:
            raise Failure(f"{failure}: main({[a[:80] for a in arguments]!r})") from None
    taken, line = time.process_time() - start, err.getvalue()
    left = {path.name for path in folder.iterdir()} - given
    for name in left:
        (folder / name).unlink()
    problem = ""
    if code not in (0, 1, 2, 3) and not (code == 4 and "operating system" in line):
        problem = f"exit code {code}"
    elif line.count("\n") != (code in (2, 3, 4)) and "Usage" not in out.getvalue():
        problem = f"{line.count(chr(10))} lines on standard error with code {code}"
    elif code == 1 and arguments[:1] != ["check"]:
        problem = "a verdict of something that is no check"
    elif code and left:
        problem = f"left {sorted(left)}"
    elif taken > LONGEST:
        problem = f"took {taken:.1f} s"
    if problem:
        raise Failure(f"{problem}: main({[a[:80] for a in arguments]!r}): {line[:300]!r}")
    return code


@contextlib.contextmanager
def _alarm() -> Iterator[None]:
    """An end to what would never end: half a minute of computing, or ten of waiting."""

    def stop(number: int, _: object) -> None:
        what = "computing" if number == signal.SIGPROF else "waiting"
        raise Failure(f"still {what}")

    clocks = {signal.SIGPROF: (signal.ITIMER_PROF, 30), signal.SIGALRM: (signal.ITIMER_REAL, 600)}
    before = {number: signal.signal(number, stop) for number in clocks}
    for clock, seconds in clocks.values():
        signal.setitimer(clock, seconds)
    try:
        yield
    finally:
        for number, (clock, _) in clocks.items():
            signal.setitimer(clock, 0)
            signal.signal(number, before[number])


if __name__ == "__main__":
    seed = int(os.environ.get("SEED", "1"))
    print(dict(fuzz(int(sys.argv[1]), seed)))
