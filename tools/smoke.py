"""One command for every claim of ARTIFACT.md that takes less than a minute: ``make smoke``."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
_EXACTDP = [sys.executable, "-c", "from exactdp.cli.main import main; main()"]
_CHECKER = str(ROOT / "checker" / "dpcheck.py")
_TARGET = ["--sparsity", "51914", "--epsilon", "0.35"]
_ALL = ["calibrate", "sparse-histograms", *_TARGET, "--delta", "1e-5"]
_NOISE = ["--sigma", "1113.754274", "--tau", "6987.26", "--statement", "csh.json"]
_CSH = ["delta", "csh", *_TARGET, *_NOISE]
_SGD = "sgd --noise-multiplier=1 --rate=0.01 --steps=1000 --delta=1e-5".split()  # noqa: SIM905
_VECTORS = ["audit", "vectors", "run", "--adapter", "exactdp", "--group", "gshm"]
_AUDIT = """
from exactdp.audit import private
def respond(bit, rng):
    return 1 - bit if rng.getrandbits(8) % 3 == 2 else bit
print(private(respond, 0, 1, epsilon="0.693148"))
"""

#: Claim, program and arguments, and a pattern in what it prints.
CHECKS: list[tuple[str, list[str], str]] = [
    ("1. thresholds of GSHM and CSH", [*_EXACTDP, *_ALL], r"csh +exact .* 6987\.259641 .* 49\.8 %"),
    ("2. both ends of epsilon", [*_EXACTDP, *_SGD], r"epsilon +\[1\.82796\d*, 1\.82849\d*\]"),
    ("3. a statement is written", [*_EXACTDP, *_CSH], r"delta +\[9\.999999879e-6"),
    (
        "3. the stand-alone checker",
        [sys.executable, _CHECKER, "csh.json"],
        r"^valid: 1 claim follows",
    ),
    ("4. a wrong coin is refuted", [sys.executable, "-c", _AUDIT], r"^refuted: \(0\.693148, 0\)"),
    ("5. the statements of a paper", [*_EXACTDP, "proofs", "--paper", "CSH"], r"s of computing"),
    ("6. unsafe errata", [*_EXACTDP, "proofs", "--severity", "unsafe"], r"refuted, unsafe"),
    ("7. questions with exact answers", [*_EXACTDP, *_VECTORS], r"^gshm +51 +0 +0 +0 +0 +0"),
]


def main() -> int:
    """Run all checks; exit code 1 if one does not print what is expected."""
    right = 0
    with tempfile.TemporaryDirectory() as folder:
        for claim, command, expected in CHECKS:
            begun = time.monotonic()
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
            good = done.returncode == 0 and re.search(expected, done.stdout, re.MULTILINE)
            right += bool(good)
            seconds = time.monotonic() - begun
            print(f"{'ok' if good else 'NOT OK':7}{seconds:6.1f} s  {claim}", flush=True)
            if not good:
                print(done.stdout[-2000:], done.stderr[-2000:])
    print(f"smoke: {right} of {len(CHECKS)}")
    return 0 if right == len(CHECKS) else 1


if __name__ == "__main__":
    sys.exit(main())
