"""What running a part showed, and the record of it that the pages print.

Each paper's folder holds `evidence.json`, written by `python -m exactdp.proofs_check.record`: the
outcome and evidence of every part when it was last run. A test compares the record with new runs.

    python -m exactdp.proofs_check.record [ID ...]        runs these parts (default: all)
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from exactdp.proofs_check.comparisons import Record
from exactdp.proofs_check.vocabulary import PAPERS


@dataclass(frozen=True)
class Evidence:
    """What a run showed of one part of an entry.

    outcome: a key of OUTCOMES, of the statement or (refuted, note) of the corrected statement.
    comparisons: what was compared, counted, and how near the decisive comparison came.
    rejected: where the mutant fails. counterexample: where the printed statement fails.
    """

    outcome: str = ""
    comparisons: str = ""
    rejected: str = ""
    counterexample: str = ""

    def __str__(self) -> str:
        counterexample = f"counterexample: {self.counterexample}; corrected form "
        return (counterexample if self.counterexample else "") + (
            f"{self.outcome}: {self.comparisons}" if self.outcome else ""
        )


def summary_of(statement: Record, mutant: Record) -> Evidence:
    """Outcome and evidence, from what a check compared for its statement and for its mutant."""
    texts = [f"{statement.kinds[kind]} {words}" for kind, words in _KINDS.items()
             if statement.kinds[kind]]  # fmt: skip
    texts += [f"over {text}" for text in statement.proofs]
    nearest = statement.passed.get(mutant.failed)
    if nearest is not None and not statement.kinds.keys() & _NO_DISTANCE:
        texts.append("attained" if nearest == 1 else f"{100 * (1 - nearest):.2g} % from its bound")
    return Evidence(_outcome(statement), "; ".join(texts), mutant.raised)


#: Kinds of comparison, in words; interval searches speak for themselves.
_KINDS = {
    "exact": "exact comparisons",
    "balls": "comparisons in ball arithmetic",
    "whole domain": "comparisons, all cases",
    "symbolic": "symbolic identities",
    "printed numbers": "printed numbers",
    "statistics": "statistical tests",
}


_NO_DISTANCE = {"interval search", "printed numbers", "symbolic"}


def _outcome(record: Record) -> str:
    """What a check has shown; proved only if every comparison decides a whole domain."""
    if record.kinds["statistics"]:
        return "supported"
    if record.kinds["printed numbers"]:
        return "reproduced"
    instances = record.kinds["exact"] + record.kinds["balls"]
    return "verified" if instances or record.abandoned else "proved"


@cache
def _record_of(paper: str) -> Mapping[str, Evidence]:
    path = _path(paper)
    found = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return {name: Evidence(**entry) for name, entry in found.items()}


def _path(paper: str) -> Path:
    return Path(__file__).parent / "claims" / paper.lower() / "evidence.json"


def recorded(paper: str, name: str) -> Evidence:
    """What the last recorded run of a part showed; empty where none is recorded."""
    return _record_of(paper).get(name, Evidence())


def _main(names: list[str]) -> int:
    from exactdp.proofs_check.registry import ledger, select
    from exactdp.proofs_check.runner import run_one

    problems = 0
    chosen = {part.id for part in select(names)}
    for paper in PAPERS:
        parts = [part for part in ledger([paper]) if part.mutant]
        kept = dict(_record_of(paper))
        for part in parts:
            if part.id in chosen:
                result = run_one(part)
                kept[part.id] = result.evidence
                for text in result.remarks():
                    print(f"{part.id}: {text}", flush=True)
                problems += bool(result.problem)
        found = [(part.id, asdict(kept[part.id])) for part in parts if part.id in kept]
        lines = (f"{json.dumps(name)}: {json.dumps(e, ensure_ascii=False)}" for name, e in found)
        if found:  # one line a part, so that two changes of different parts merge
            _path(paper).write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
