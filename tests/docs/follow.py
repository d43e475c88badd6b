"""Follow README and the tutorials literally, in an empty environment.

``python -m tests.docs.follow`` builds the wheel; then every page is done as its reader would: files
are saved, commands typed into a shell, Python into one session, and what is printed is compared
with the page. One environment serves all pages, or with ``--fresh`` each has its own. Prints how
long a first result took; exits 1 if a page does not do what it says.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from itertools import product
from pathlib import Path

from sybil import Document
from tabulate import tabulate

from tests.docs.steps import Command, File, Python, blocks, downloads, matches
from tests.installation.pythons import interpreter

ROOT = Path(__file__).parents[2]
TUTORIALS = ("first", "calibrate", "release", "means", "local", "audit", "test")
PAGES = [
    ROOT / "README.md",
    *(ROOT / "docs" / "tutorials" / f"{name}.md" for name in TUTORIALS),
    ROOT / "docs" / "howto" / "tasks.md",
]

#: What runs in the empty environment: each line is a block of Python, typed into one session.
_SESSION = """
import doctest, json, os, sys
scope = {"__name__": "__main__"}
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # what libraries print on file descriptor 1, as a progress bar, is no answer
sys.path.insert(0, "")
for line in sys.stdin:
    source = json.loads(line)
    said = []
    if ">>>" in source:
        test = doctest.DocTestParser().get_doctest(source, scope, "page", "page", 0)
        test.globs = scope
        flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        doctest.DocTestRunner(optionflags=flags).run(test, out=said.append, clear_globs=False)
    else:
        exec(compile(source, "page", "exec"), scope)
    print(json.dumps("".join(said)), file=answers, flush=True)
"""


class Reader:
    """Somebody in front of an empty folder."""

    def __init__(self, environment: Path, wheels: Path, folder: Path) -> None:
        path = f"{environment / 'bin'}{os.pathsep}{os.environ['PATH']}"
        self._settings = {**os.environ, "PATH": path, "PIP_FIND_LINKS": str(wheels)}
        self._folder = folder
        self._session: subprocess.Popen[str] | None = None

    def do(self, step: File | Python | Command) -> str:
        """What went wrong, or nothing."""
        if isinstance(step, File):
            (self._folder / step.name).write_text(step.text, encoding="utf-8")
            return ""
        if isinstance(step, Python):
            return self._typed(step.source)
        line = step.line.replace("pip install", "python -m pip install --quiet", 1)
        done = subprocess.run(
            ["bash", "-c", line],
            cwd=self._folder,
            env=self._settings,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=600,
            check=False,
        )
        if line != step.line:
            return done.stdout if done.returncode else ""
        return "" if matches(step.printed, done.stdout) else f"$ {line}\n{done.stdout}"

    def _typed(self, source: str) -> str:
        if self._session is None:
            self._session = subprocess.Popen(
                ["python", "-c", _SESSION],
                cwd=self._folder,
                env=self._settings,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        stdin, stdout = self._session.stdin, self._session.stdout
        if stdin is None or stdout is None:
            raise RuntimeError("a session without pipes")
        stdin.write(json.dumps(source) + "\n")
        stdin.flush()
        answer = stdout.readline()
        return str(json.loads(answer)) if answer else "the session ended"

    def leave(self) -> None:
        """End the session."""
        if self._session is not None:
            self._session.communicate()


def follow(page: Path, environment: Path, wheels: Path) -> tuple[list[str], float, float]:
    """What went wrong, the seconds to a first result, and in all."""
    problems: list[str] = []
    first = 0.0
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file in downloads(page):
            shutil.copy(file, folder)
        if (examples := page.parent / "examples").exists():
            shutil.copytree(examples, folder / "examples")
        reader = Reader(environment, wheels, folder)
        for region in Document.parse(str(page), blocks):
            for step in region.parsed:
                wrong = reader.do(step)
                if wrong:
                    problems.append(f"{page.name}, line {region.line}: {wrong}")
                result = isinstance(step, Python) or (
                    isinstance(step, Command) and not step.line.startswith("pip")
                )
                if result and not first:
                    first = time.monotonic() - start
        reader.leave()
    return problems, first, time.monotonic() - start


def main(arguments: list[str]) -> int:
    """Follow the pages; exit code 1 if one does not do what it says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fresh", action="store_true", help="an environment for each page")
    parser.add_argument("--python", action="append", help="a version, such as 3.12 (default: this)")
    options = parser.parse_args(arguments)
    rows, problems = [], []
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir"]
        subprocess.run([*build, str(place / "wheels"), str(ROOT)], check=True)
        for version, page in product(options.python or [None], PAGES):
            python = interpreter(version)
            if python is None:
                rows.append([version, page.stem, "SKIPPED: not installed"])
                continue
            environment = place / f"{version}-{page.stem if options.fresh else 'all'}"
            if not environment.exists():
                subprocess.run([python, "-m", "venv", str(environment)], check=True)
            wrong, first, total = follow(page, environment, place / "wheels")
            problems += wrong
            times = [f"{first:.0f} s", f"{total:.0f} s"]
            rows.append([version or "this", page.stem, *times, len(wrong) or "none"])
    header = ["Python", "page", "first result, installation included", "whole page", "problems"]
    print(tabulate(rows, headers=header))
    print("\n".join(problems), end="")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
