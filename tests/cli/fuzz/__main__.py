"""python -m tests.cli.fuzz 100000 [--first N] [--seed S] [--keep-going]"""

from __future__ import annotations

import argparse
import faulthandler
import resource
import sys
from collections import Counter

from tests.cli.fuzz import Failure, fuzz

#: Limit of the address space, in bytes: a call that needs more gets a MemoryError.
_MEMORY = 12 << 30

#: Number of calls between two lines of progress.
_BATCH = 1000


def main() -> int:
    """Run numbered calls; exits 1 after a failure."""
    parser = argparse.ArgumentParser(prog="python -m tests.cli.fuzz")
    parser.add_argument("count", type=int)
    parser.add_argument("--first", type=int, default=0, help="go on from this call (default 0)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep-going", action="store_true", help="print failures and go on")
    options = parser.parse_args()
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    codes, failures, place, end = Counter[int](), 0, options.first, options.first + options.count

    def done(number: int, code: int) -> None:
        nonlocal place
        place = number + 1
        codes[code] += 1

    while place < end:
        try:
            fuzz(min(_BATCH, end - place), options.seed, place, done)
        except Failure as failure:
            print(failure, flush=True)
            failures, place = failures + 1, place + 1
            if not options.keep_going:
                break
        tally = ", ".join(f"code {code}: {n}" for code, n in sorted(codes.items()))
        print(f"next: {place}; failures: {failures}; {tally}", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
