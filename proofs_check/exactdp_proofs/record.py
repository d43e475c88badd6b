"""Run parts of the ledger and record what they showed, in `evidence.json` of each paper.

python -m exactdp_proofs.record [ID ...]        runs these parts (default: all)
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict

from exactdp_proofs.evidence import path_of, record_of
from exactdp_proofs.registry import ledger, select
from exactdp_proofs.runner import run_one
from exactdp_proofs.vocabulary import PAPERS


def _main(names: list[str]) -> int:
    problems = 0
    chosen = {part.id for part in select(names)}
    for paper in PAPERS:
        parts = [part for part in ledger([paper]) if part.mutant]
        kept = dict(record_of(paper))
        for part in parts:
            if part.id in chosen:
                result = run_one(part)
                kept[part.id] = result.evidence
                for text in result.remarks():
                    print(f"{part.id}: {text}", flush=True)
                problems += bool(result.problem)
        evidence = [(part.id, asdict(kept[part.id])) for part in parts if part.id in kept]
        lines = (f"{json.dumps(name)}: {json.dumps(e, ensure_ascii=False)}" for name, e in evidence)
        if evidence:  # one line a part, so that two changes of different parts merge
            path_of(paper).write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
