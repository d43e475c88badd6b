"""Type checkers accept what users write, and report every mistake."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def _reported(command: list[str], line: str) -> dict[str, set[int]]:
    """The numbers of the lines that a type checker complains about, by file."""
    files = [str(HERE / name) for name in ("right.py", "wrong.py")]
    run = subprocess.run([*command, *files], capture_output=True, text=True, cwd=HERE, check=False)
    reported: dict[str, set[int]] = {"right.py": set(), "wrong.py": set()}
    for file, number in re.findall(line, run.stdout, re.M):
        reported[Path(file).name].add(int(number))
    return reported


def _wrong_lines() -> set[int]:
    lines = (HERE / "wrong.py").read_text(encoding="utf-8").splitlines()
    return {number for number, line in enumerate(lines, 1) if line.endswith("# wrong")}


def test_a_name_is_misspelled_of_every_package_with_a_stub() -> None:
    wrong = (HERE / "wrong.py").read_text(encoding="utf-8")
    stubs = (HERE.parents[1] / "exactdp").rglob("__init__.pyi")
    packages = {".".join(stub.parent.relative_to(HERE.parents[1]).parts) for stub in stubs}
    assert packages - set(re.findall(r"^from (\S+) import \w+  # wrong$", wrong, re.M)) == set()


@pytest.mark.slow
def test_mypy_reports_the_wrong_lines_alone(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    config = tmp_path / "mypy.ini"  # as a user has it, who knows nothing of this project's settings
    config.write_text(
        "[mypy]\nstrict = True\n[mypy-numpy.*]\nignore_missing_imports = True\n", encoding="utf-8"
    )
    cache = ["--cache-dir", str(HERE.parents[1] / ".mypy_cache" / "users")]
    command = [sys.executable, "-m", "mypy", "--config-file", str(config), *cache]
    reported = _reported(command, r"^(.*?):(\d+): error")
    assert reported == {"right.py": set(), "wrong.py": _wrong_lines()}


@pytest.mark.slow
def test_pyright_reports_the_wrong_lines_alone() -> None:
    if shutil.which("npx") is None:
        pytest.skip("npx is not installed")
    command = ["npx", "--yes", "pyright", "--pythonpath", sys.executable]
    reported = _reported(command, r"^\s*(.*?):(\d+):\d+ - error")
    assert reported == {"right.py": set(), "wrong.py": _wrong_lines()}
