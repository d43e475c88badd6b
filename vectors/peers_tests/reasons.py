"""Why some tests of other libraries fail with exactdp's accountants."""

from __future__ import annotations

import re
from typing import NamedTuple, TypedDict

__all__ = ["REASONS", "Suite", "reason_of"]


class Suite(TypedDict):
    """The names of the tests that passed, and those that failed with the last line they print."""

    passed: list[str]
    failed: dict[str, str]


class Reason(NamedTuple):
    """Why tests fail, and what the message of such a failure matches."""

    text: str
    message: str


_NUMBER = r"AssertionError: [\d.e-]+ (!=|not less than) [\d.e-]+"
_TRUNCATED = Reason(
    "expects a looser bound of truncated samples, by replace-one pairs; certified ends are lower",
    _NUMBER,
)
_READ = Reason("expects a refusal, but the event is read", "UnsupportedEventError not raised")
_RENYI = Reason("expects what Renyi orders imply; certified ends are lower", _NUMBER)
_MARGIN = Reason(
    "expects PRV's answer, which adds its error of 0.01; certified ends are lower", _NUMBER
)
_CENTRAL = Reason(
    "expects the central limit's value, which is below the certified lower end", _NUMBER
)

#: Library -> names of tests that fail -> the reason.
REASONS = {
    "dp_accounting": {
        r"truncated_subsampled": _TRUNCATED,
        r"neighboring_relation\d \((Discrete)?LaplaceDpEvent": _READ,
    },
    "opacus": {
        r"test_rdp_accountant|noise_multiplier_rdp|load_state_dict": _RENYI,
        r"gdp": _CENTRAL,
        r"prv|PRVAccountantTest": _MARGIN,
    },
    "jax_privacy": {},
}


def reason_of(library: str, test: str, message: str | None = None) -> str | None:
    """The reason of a known failure with this message; without a message, why the test may fail."""
    for pattern, reason in REASONS[library].items():
        if re.search(pattern, test) and (message is None or re.search(reason.message, message)):
            return reason.text
    return None
