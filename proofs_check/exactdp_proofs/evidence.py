"""What running a part showed, and the record of it that the pages print.

Each paper's folder holds `evidence.json`, written by `python -m exactdp_proofs.record`: the
outcome and evidence of every part when it was last run. A test compares the record with new runs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from exactdp_proofs.comparisons import Record
from exactdp_proofs.vocabulary import package_of


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
def record_of(paper: str) -> Mapping[str, Evidence]:
    """The recorded evidence of a paper's parts, by identifier."""
    path = path_of(paper)
    record = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return {name: Evidence(**entry) for name, entry in record.items()}


def path_of(paper: str) -> Path:
    """The file that holds the recorded evidence of a paper."""
    return Path(__file__).parent.joinpath(*package_of(paper).split("."), "evidence.json")


def recorded(paper: str, name: str) -> Evidence:
    """What the last recorded run of a part showed; empty where none is recorded."""
    return record_of(paper).get(name, Evidence())
