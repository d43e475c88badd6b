"""Calls by number, and what is looked at after each."""

from __future__ import annotations

import contextlib
import io
import json
import random
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from exactdp.cli.main import main
from tests.cli.fuzz.calls import CALLS, COSTLY, malformed
from tests.cli.fuzz.damage import damaged
from tests.cli.fuzz.files import good, named

__all__ = ["Failure", "fuzz", "unharmed"]

#: No call may take longer, in seconds of computing.
LONGEST = 5

#: One call in so many starts an engine.
SELDOM = 50

#: Commands whose answer may be "no".
_VERDICTS = ("check", "audit")


class Failure(BaseException):
    """A call that did not end as it should: not an Exception, which the program would catch."""


def fuzz(
    count: int, seed: int = 1, first: int = 0, done: Callable[[int, int], object] | None = None
) -> Counter[int]:
    """Run the calls first, ..., first + count - 1; returns how many ended with which code.

    done: told number and code of every call that ended well. Raises Failure at the first other.
    """
    codes = Counter[int]()
    with _folder() as folder:
        for number in range(first, first + count):
            try:
                code = _call(random.Random(f"{seed}/{number}"), number, folder)
            except Failure as failure:
                raise Failure(f"call {number} of seed {seed}: {failure}") from None
            codes[code] += 1
            if done:
                done(number, code)
    return codes


def unharmed(costly: bool) -> Iterator[int]:
    """The exit codes of the calls with nothing wrong about them."""
    with _folder() as folder:
        for call in COSTLY if costly else CALLS:
            words, _, stdin = _prepared(call, folder)
            yield _one(words, stdin, folder)


@contextlib.contextmanager
def _folder() -> Iterator[Path]:
    """A folder of our own to be in, where warnings are errors."""
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name), warnings.catch_warnings():
        warnings.simplefilter("error")
        yield Path(name)


def _call(rng: random.Random, number: int, folder: Path) -> int:
    """Make a good call with something wrong in its words or in a file, and run it."""
    call = rng.choice(COSTLY if number % SELDOM == SELDOM - 1 else CALLS)
    words, used, stdin = _prepared(call, folder)
    if used and rng.random() < 0.6:
        name = rng.choice(used)
        Path(name).write_bytes(damaged(rng, good(name)))
    else:
        words = malformed(rng, words)
    return _one(words, stdin, folder)


def _prepared(call: str, folder: Path) -> tuple[list[str], list[str], str]:
    """The words of a call, the files they name, now there and alone, and its standard input."""
    for path in folder.iterdir():
        path.unlink()
    files = named()
    words = call.format(new="new", **files).split()
    used = [word for word in words if word in files.values()]
    for name in used:
        Path(name).write_bytes(good(name))
    if "<" in words:
        return words[:-2], used, words[-1]
    return words, used, ""


def _one(arguments: list[str], stdin: str, folder: Path) -> int:
    """The exit code of one call, after everything about it has been looked at."""
    before = {path.name for path in folder.iterdir()}
    out, err, start = io.StringIO(), io.StringIO(), time.process_time()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), _stdin(stdin), _alarm():
        try:
            main(arguments)
        except SystemExit as stop:
            code = int(stop.code or 0)
        except Failure as failure:
            raise Failure(f"{failure}: {_call_text(arguments, stdin)}") from None
    taken, line = time.process_time() - start, err.getvalue()
    left = {path.name for path in folder.iterdir()} - before
    problem = ""
    if code not in (0, 1, 2, 3) and not (code == 4 and "operating system" in line):
        problem = f"exit code {code}"
    elif line.count("\n") != (code in (2, 3, 4)) and "Usage" not in out.getvalue():
        problem = f"{line.count(chr(10))} lines on standard error with code {code}"
    elif code == 1 and arguments[0] not in _VERDICTS:
        problem = "a verdict of something that is no check"
    elif code > 1 and left:
        problem = f"left {sorted(left)}"
    elif not code and arguments[0] == "release" and not _released(arguments[1], left):
        problem = f"wrote {sorted(left)}"
    elif taken > LONGEST:
        problem = f"took {taken:.1f} s"
    if problem:
        raise Failure(f"{problem}: {_call_text(arguments, stdin)}: {line[:300]!r}")
    return code


def _released(command: str, left: set[str]) -> bool:
    """Whether a release and its guarantee are there, and nothing else."""
    if command in ("query", "advise", "budget"):
        return True
    ending = ".statement.json"
    promises = {name for name in left if name.endswith(ending)}
    for name in promises:
        json.loads(Path(name).read_text(encoding="utf-8"))
    return {name.removesuffix(ending) for name in promises} == left - promises


def _call_text(arguments: list[str], stdin: str) -> str:
    return f"main({[a[:80] for a in arguments]!r})" + (f" < {stdin}" if stdin else "")


@contextlib.contextmanager
def _stdin(name: str) -> Iterator[None]:
    """Standard input from a file, or without anything in it."""
    before = sys.stdin
    content = Path(name).read_bytes() if name else b""
    with io.TextIOWrapper(io.BytesIO(content), encoding="utf-8") as text:
        sys.stdin = text
        try:
            yield
        finally:
            sys.stdin = before


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
