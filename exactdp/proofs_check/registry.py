"""Finding claims: every module under claims/ with a tuple CLAIMS adds its entries to the ledger."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable
from functools import cache
from importlib import import_module

from exactdp.errors import InvalidParameter
from exactdp.proofs_check import claims as _claims
from exactdp.proofs_check.claim import PAPERS, VERDICTS, Claim, Refuted

__all__ = ["ledger", "select", "source_file"]


@cache
def _entries() -> dict[str, tuple[Claim, str]]:
    found: dict[str, tuple[Claim, str]] = {}
    for paper in PAPERS:
        package = f"{_claims.__name__}.{paper.lower()}"
        for name in _modules(package):
            for claim in _listed(name):
                if claim.paper != paper or claim.id in found:
                    raise InvalidParameter("id", claim.id, f"a new id of {paper} in {name}")
                found[claim.id] = (claim, name)
    return found


def ledger() -> list[Claim]:
    """Every entry, in the order of the papers and of the items in each."""
    return [claim for claim, _ in _entries().values()]


def source_file(claim: Claim) -> str:
    """The file that defines a claim, relative to the repository."""
    return _entries()[claim.id][1].replace(".", "/") + ".py"


def select(
    ids: Iterable[str] = (), paper: str | None = None, verdict: str | None = None
) -> list[Claim]:
    """The entries with these ids (all when none are given), of one paper, with one verdict.

    An id may also be the beginning of one: "BV-Lemma" selects every lemma of BV.
    """
    _known("paper", paper, PAPERS)
    _known("verdict", verdict, VERDICTS)
    chosen = _named(list(ids))
    return [
        claim for claim in chosen
        if paper in (None, claim.paper) and verdict in (None, claim.verdict)
    ]  # fmt: skip


def _named(ids: list[str]) -> list[Claim]:
    if not ids:
        return ledger()
    kept: dict[str, Claim] = {}
    for wanted in ids:
        exact = [c for c in ledger() if c.id.lower() == wanted.lower()]
        found = exact or [c for c in ledger() if c.id.lower().startswith(wanted.lower())]
        if not found:
            raise InvalidParameter("ID", wanted, "the id of a claim; 'exactdp proofs --list' lists")
        kept.update({claim.id: claim for claim in found})
    return list(kept.values())


def _modules(package: str) -> list[str]:
    paths = import_module(package).__path__
    names = [m.name for m in pkgutil.iter_modules(paths) if not m.name.startswith("_")]
    return [f"{package}.{name}" for name in sorted(names, key=_natural)]


def _listed(module: str) -> list[Claim]:
    entries: list[Claim] = []
    for claim in import_module(module).CLAIMS:
        entries.append(claim)
        if isinstance(claim, Refuted):
            entries.append(claim.corrected)
    return entries


def _natural(name: str) -> list[tuple[bool, int, str]]:
    return [(part.isdigit(), int(part) if part.isdigit() else 0, part) for part in name.split("_")]


def _known(name: str, value: str | None, allowed: Iterable[str]) -> None:
    if value is not None and value not in allowed:
        raise InvalidParameter(name, value, "one of " + ", ".join(allowed))
