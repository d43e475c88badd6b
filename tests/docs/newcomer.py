"""Six tasks of a newcomer, in an empty environment: ``python -m tests.docs.newcomer``.

Each task starts from the command that the guide names for it (docs/guide/which.md), with the
installation included in the first; prints the seconds until its result stands.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
_CODE = """
import random
def run(bit, n):
    return [bit ^ (random.random() < 0.3) for _ in range(n)]
"""

#: Task and the lines that somebody types for it; the first installs.
TASKS = {
    "install and see the map": ["python -m pip install --quiet exactdp.whl", "exactdp --help"],
    "noise for a target": ["exactdp calibrate gaussian --epsilon 1 --delta 1e-6"],
    "publish counts from a file": [
        "python -m pip install --quiet duckdb narwhals pyarrow",
        "exactdp release gshm flights.csv --user tailnum --by dest --k 10 --epsilon 1 --delta 1e-6 "
        "--output counts.csv",
        "exactdp statement check counts.csv.statement.json",
    ],
    "epsilon of a training": [
        "exactdp sgd --noise-multiplier 1 --rate 0.01 --steps 1000 --delta 1e-5"
    ],
    "test a program": ["exactdp audit mine:run --left 0 --right 1 --epsilon 0.5 || test $? = 1"],
    "check somebody's statement": [
        "exactdp delta gaussian --sigma 4 --epsilon 1 --statement s.json",
        "exactdp statement check s.json",
    ],
}


def main() -> int:
    """Do all tasks; exit code 1 if one fails."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", name]
        subprocess.run([*build, str(ROOT)], check=True)
        (wheel,) = folder.glob("exactdp-*.whl")
        subprocess.run([sys.executable, "-m", "venv", str(folder / "env")], check=True)
        shutil.copy(ROOT / "examples" / "flights_2013_01.csv", folder / "flights.csv")
        (folder / "mine.py").write_text(_CODE)
        for task, lines in TASKS.items():
            begun = time.monotonic()
            for line in lines:
                typed = line.replace("exactdp.whl", wheel.name)
                shell = f'export PATH="{folder}/env/bin:$PATH"; {typed}'
                done = subprocess.run(
                    ["bash", "-c", shell], cwd=folder, capture_output=True, text=True, check=False
                )
                if done.returncode:
                    print(f"{task}: {line}\n{done.stdout}{done.stderr}")
                    return 1
            print(f"{time.monotonic() - begun:6.1f} s  {task}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
