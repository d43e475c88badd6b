"""The theorems of checker/rocq, compiled once for all tests."""

from __future__ import annotations

import fcntl
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parents[3] / "checker" / "rocq"


@cache
def missing() -> str | None:
    """Why nothing can be compiled here, or None."""
    if shutil.which("coqc") is None or shutil.which("ocamlfind") is None:
        return "Rocq (coqc) or OCaml is not installed"
    done = subprocess.run(["make", "-C", FOLDER, "missing"], capture_output=True, text=True)
    return None if done.returncode == 0 else done.stdout.strip()


@cache
def program() -> Path:
    """The program that is extracted from the verified checker."""
    lock = Path(tempfile.gettempdir()) / "checker-rocq.lock"
    with lock.open("w") as file:  # several workers of the tests compile one after the other
        fcntl.flock(file, fcntl.LOCK_EX)
        subprocess.run(["make", "-C", FOLDER], check=True, capture_output=True)
    return FOLDER / "dpcheck-rocq"


def assumptions() -> str:
    """What Rocq prints of the assumptions of the last theorems."""
    program()
    return (FOLDER / "assumptions.txt").read_text(encoding="utf-8")


def verdict(text: str) -> str:
    """What the program says of a statement."""
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        done = subprocess.run([program(), file.name], capture_output=True, text=True)
    word = done.stdout.split(":")[0]
    assert ["valid", "not proved", "malformed", "no rule yet"].index(word) == done.returncode
    return word


def accepts(theorem: str) -> bool:
    """Whether Rocq accepts a file."""
    program()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "claim.v"
        path.write_text(theorem, encoding="utf-8")
        done = subprocess.run(["coqc", "-Q", FOLDER, "DP", path], capture_output=True, text=True)
    return done.returncode == 0
