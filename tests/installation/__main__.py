"""Install the wheel with each extra alone, and try what the extra promises.

``python -m tests.installation [EXTRA ...]`` makes a new environment for each extra and each Python,
once with the newest versions of all libraries and once with the lowest that pyproject.toml allows
(of those with a wheel for that Python). What an extra promises stands in promises.py. Prints a
table; exits 1 if a promise is broken. A Python that is not installed is skipped, and the table says
so.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

from tabulate import tabulate

from tests.installation import promises
from tests.installation.pythons import UV, interpreter

ROOT = Path(__file__).parents[2]
#: Libraries that have no wheels; all others are installed from wheels, never built.
SOURCES = ("autodp", "multi-freq-ldpy", "pyspark")
_PIP = (UV, "pip", "--quiet")
RESOLUTIONS = {"newest": "highest", "lowest": "lowest-direct"}


class Failed(Exception):
    """A step that went wrong, with what it printed."""


def extras() -> list[str]:
    """``base`` and the extras of pyproject.toml; each must have its promise."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = ["base", *project["optional-dependencies"]]
    if set(names) != set(promises.EXAMPLES):
        raise Failed(f"promises.py must have a function for each of {', '.join(names)}")
    return names


def try_extra(python: str, extra: str, versions: str, wheels: Path, place: Path) -> str:
    """``ok`` with the seconds it took, or why the example was skipped. Raises Failed."""
    start = time.monotonic()
    environment, own = place / "environment", place / "environment" / "bin" / "python"
    folder = place / "folder"
    folder.mkdir()
    _output_of([UV, "venv", "--quiet", "--python", python, str(environment)])
    option = [] if extra == "base" else ["--extra", extra]
    built = [f"--no-binary={name}" for name in SOURCES]
    pins = place / "pins.txt"
    own_wheels = ["--no-sources", "--find-links", str(wheels)]
    resolving = [*option, "--resolution", RESOLUTIONS[versions], "--only-binary=:all:", *built]
    project = str(ROOT / "pyproject.toml")
    aim = ["--python", str(own), *own_wheels]
    _output_of([*_PIP, "compile", *aim, *resolving, "-o", str(pins), project])
    (wheel,) = wheels.glob("exactdp-*.whl")
    what = f"exactdp[{extra}] @ {wheel.as_uri()}" if option else str(wheel)
    _output_of([*_PIP, "install", *aim, "--constraints", str(pins), what])
    script = Path(promises.__file__)
    settings = {**os.environ, "CLONE": str(ROOT), "PYSPARK_PYTHON": str(own)}
    settings.pop("PYTHONPATH", None)
    done = subprocess.run(
        [str(own), "-P", str(script), extra],
        cwd=folder, env=settings, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode == 77:
        return f"skipped: {done.stdout.strip()}"
    if done.returncode:
        raise Failed(done.stdout + done.stderr)
    return f"ok ({time.monotonic() - start:.0f} s)"


def _output_of(words: list[str]) -> str:
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=ROOT)
    if done.returncode:
        raise Failed(f"$ {' '.join(words)}\n{done.stdout}{done.stderr}")
    return done.stdout


def main(arguments: list[str]) -> int:
    """Try the extras; exit code 1 if a promise is broken."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("extras", nargs="*", help="default: base and every extra")
    parser.add_argument("--python", action="append", help="a version, such as 3.12 (default: this)")
    parser.add_argument("--versions", action="append", choices=RESOLUTIONS, help="default: both")
    options = parser.parse_args(arguments)
    chosen = options.extras or extras()
    rows, problems = [], []
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        for project in (ROOT, ROOT / "proofs_check"):
            _output_of([UV, "build", "--quiet", "--wheel", "--out-dir", name, str(project)])
        for version in options.python or [None]:
            python = interpreter(version)
            for versions in options.versions or RESOLUTIONS:
                row = [version or "this", versions]
                for extra in chosen:
                    if python is None:
                        row.append("SKIPPED: not installed")
                        continue
                    try:
                        with tempfile.TemporaryDirectory(dir=place) as own:
                            row.append(try_extra(python, extra, versions, place, Path(own)))
                    except Failed as failure:
                        row.append("BROKEN")
                        problems.append(f"{row[0]}, {versions}, {extra}:\n{failure}")
                    print(f"{row[0]}, {versions}, {extra}: {row[-1]}", file=sys.stderr)
                rows.append(row)
    print(tabulate(list(zip(["Python", "versions", *chosen], *rows, strict=True))))
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
