"""Finding claims: every module under claims/ with a tuple CLAIMS adds its entries to the ledger."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable
from functools import cache
from importlib import import_module

from exactdp.errors import InvalidParameter
from exactdp.proofs_check import claims as _claims
from exactdp.proofs_check.claim import PAPERS, SEVERITIES, VERDICTS, Claim, Fails, Refuted

__all__ = ["ledger", "select", "source_file"]


@cache
def _entries(paper: str) -> dict[str, tuple[Claim, str]]:
    found: dict[str, tuple[Claim, str]] = {}
    for name in _modules(f"{_claims.__name__}.{paper.lower()}"):
        for claim in _listed(name):
            if claim.paper != paper or claim.id in found:
                raise InvalidParameter("id", claim.id, f"a new id of {paper} in {name}")
            found[claim.id] = (claim, name)
    return found


def ledger(papers: Iterable[str] = tuple(PAPERS)) -> list[Claim]:
    """Every entry of these papers (default: all), paper by paper, item by item."""
    return [claim for paper in papers for claim, _ in _entries(paper).values()]


def source_file(claim: Claim) -> str:
    """The file that defines a claim, relative to the repository."""
    return _entries(claim.paper)[claim.id][1].replace(".", "/") + ".py"


def select(
    ids: Iterable[str] = (),
    paper: str | None = None,
    verdict: str | None = None,
    severity: str | None = None,
) -> list[Claim]:
    """The entries with these ids (all when none are given), of one paper, verdict and severity.

    An id may also be the beginning of one: "BV-Lemma" selects every lemma of BV.
    """
    _known("paper", paper, PAPERS)
    _known("verdict", verdict, VERDICTS)
    _known("severity", severity, SEVERITIES)
    chosen = _named(list(ids), [paper] if paper else list(PAPERS))
    fitting = [claim for claim in chosen if verdict in (None, claim.verdict)]
    return [claim for claim in fitting if severity in (None, _severity(claim))]


def _severity(claim: Claim) -> str:
    return claim.severity if isinstance(claim, Refuted) else ""


def _named(ids: list[str], papers: list[str]) -> list[Claim]:
    if not ids:
        return ledger(papers)
    kept: dict[str, Claim] = {}
    for wanted in ids:
        key = wanted.lower()
        among = ledger(p for p in papers if p.lower() == key.partition("-")[0])
        found = [c for c in among if c.id.lower() == key]
        found = found or [c for c in among if c.id.lower().startswith(key)]
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
        if isinstance(claim, Fails):
            entries.append(claim.corrected)
    return entries


def _natural(name: str) -> list[tuple[bool, int, str]]:
    return [(part.isdigit(), int(part) if part.isdigit() else 0, part) for part in name.split("_")]


def _known(name: str, value: str | None, allowed: Iterable[str]) -> None:
    if value is not None and value not in allowed:
        raise InvalidParameter(name, value, "one of " + ", ".join(allowed))
