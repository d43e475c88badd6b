"""python -m vectors.generate [group ...]: write exactdp/oracle/vectors/<group>.json."""

from __future__ import annotations

import importlib
import json
import sys
import time
from pathlib import Path

from vectors.generate.common import Group, document

GROUPS = (
    "analytic_gaussian",
    "gshm",
    "csh",
    "thresholds",
    "discrete_gaussian",
    "discrete_laplace",
    "zcdp",
    "composition",
    "sampling",
    "sampled_gaussian",
    "events",
    "allocation",
    "noisy_max",
    "matrix",
    "sampled_matrix",
    "local_responses",
    "shuffled",
    "power",
    "repeated",
)

_TARGET = Path(__file__).resolve().parents[2] / "exactdp" / "oracle" / "vectors"


def group(name: str) -> Group:
    """The recipes of a group, from the module of its name."""
    recipes: Group = importlib.import_module(f"vectors.generate.{name}").GROUP
    return recipes


def main(names: list[str]) -> None:
    """Compute and write the files."""
    for name in names or GROUPS:
        start = time.perf_counter()
        content = document(group(name))
        text = json.dumps(content, indent=1, ensure_ascii=True) + "\n"
        (_TARGET / f"{name}.json").write_text(text, encoding="utf-8")
        spent = time.perf_counter() - start
        sys.stdout.write(f"{name}: {content['numberOfTests']} vectors in {spent:.1f} s\n")


if __name__ == "__main__":
    main(sys.argv[1:])
