"""Build the source distribution, and run its tests where nothing else is.

``python -m tests.installation.sdist [PATH ...]`` unpacks it into an empty folder, says which files
of the repository it lacks, sets up its environment there and runs its tests (default: all). Exits 1
if a file is missing or a test fails.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from tests.installation.pythons import UV

ROOT = Path(__file__).parents[2]

#: What a source distribution does not need.
_LEFT_OUT = {".ci/run", ".dockerignore"}


def _unpacked(place: Path) -> Path:
    """The folder of the source distribution, built and unpacked."""
    build = [UV, "build", "--quiet", "--sdist", "--out-dir", str(place), str(ROOT)]
    subprocess.run(build, check=True)
    (archive,) = place.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(place, filter="data")
    return place / archive.name.removesuffix(".tar.gz")


def _missing(folder: Path) -> list[str]:
    """The files that git knows and the source distribution lacks."""
    listing = ["git", "-C", str(ROOT), "ls-files", "-z"]
    names = subprocess.run(listing, capture_output=True, text=True, check=True).stdout.split("\0")
    return [n for n in names if n and n not in _LEFT_OUT and not (folder / n).exists()]


def main(paths: list[str]) -> int:
    """Exit code 1 if a file is missing or a test fails."""
    with tempfile.TemporaryDirectory() as name:
        folder = _unpacked(Path(name))
        if missing := _missing(folder):
            print("the source distribution lacks", *missing, sep="\n  ")
            return 1
        if paths:
            python = str(folder / ".venv" / "bin" / "python")
            steps = [["make", "setup"], [python, "-m", "pytest", "-q", "-n", "auto", *paths]]
        else:
            steps = [["make", "test"]]
        return max(subprocess.run(step, cwd=folder, check=False).returncode for step in steps)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
