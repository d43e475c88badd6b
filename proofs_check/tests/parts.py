"""Parts of an imaginary paper, for the tests of the ledger."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from exactdp_proofs.statements import REGISTERED, Paper, Part

__all__ = ["failing", "part"]


def part(check: Callable[..., object], kind: str = "holds", **more: Any) -> Part:
    """The check as part of BV's Lemma 0; nothing is left in the registry."""
    arguments = {name: more.pop(name, {}) for name in ("fitted", "as_printed")}
    vars(check)["arguments"] = arguments | {"mutant": more.pop("mutant", {"bound": 0})}
    getattr(Paper("BV"), kind)("Lemma 0", **more)(check)
    return REGISTERED[check.__module__].pop()


def failing(check: Callable[..., object], kind: str = "refuted", **more: Any) -> Part:
    """The same for a statement that is false as printed."""
    return part(check, kind, **{"as_printed": {"bound": 1}, "severity": "unsafe"} | more)
