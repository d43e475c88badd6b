"""Why some tests of other libraries fail with exactdp's accountants."""

from __future__ import annotations

import re
from typing import TypedDict

__all__ = ["REASONS", "Suite", "reason_of"]


class Suite(TypedDict):
    """The names of the tests that passed, and those that failed with the last line they print."""

    passed: list[str]
    failed: dict[str, str]


_CHOICE = "a mechanism of private choice: refused by name"
_TRUNCATED = "a truncated sample: refused by name"
_READ = "expects a refusal, but the event is read"
_RENYI = "expects what Renyi orders imply; certified ends are lower"
_MARGIN = "expects PRV's answer, which adds its error of 0.01; certified ends are lower"
_CENTRAL = "expects the central limit's value, which is below the certified lower end"

REASONS = {
    library: {re.compile(pattern): reason for pattern, reason in reasons.items()}
    for library, reasons in {
        "dp_accounting": {
            r"exponential_mechanism|permute_and_flip|relation\d \(PermuteAndFlip": _CHOICE,
            r"truncated_subsampled": _TRUNCATED,
            r"neighboring_relation\d \((Discrete)?LaplaceDpEvent": _READ,
        },
        "opacus": {
            r"test_rdp_accountant|noise_multiplier_rdp|load_state_dict": _RENYI,
            r"gdp": _CENTRAL,
            r"prv|PRVAccountantTest": _MARGIN,
        },
        "jax_privacy": {r"truncated": _TRUNCATED},
    }.items()
}


def reason_of(library: str, test: str) -> str | None:
    """The reason of a known failure."""
    found = (reason for pattern, reason in REASONS[library].items() if pattern.search(test))
    return next(found, None)
