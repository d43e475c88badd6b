"""Finding entries: modules under papers/ and ours/ add their parts when they are imported."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable
from functools import cache
from importlib import import_module

from exactdp.errors import InvalidParameter
from exactdp_proofs.statements import REGISTERED, Part
from exactdp_proofs.vocabulary import PAPERS, SEVERITIES, VERDICTS, package_of


@cache
def _parts(paper: str) -> dict[str, Part]:
    parts: dict[str, Part] = {}
    for name in _modules(f"exactdp_proofs.{package_of(paper)}"):
        import_module(name)
        for part in REGISTERED.get(name, ()):
            if part.paper != paper or part.id in parts:
                raise InvalidParameter("id", part.id, f"a new id of {paper} in {name}")
            parts[part.id] = part
    return parts


def ledger(papers: Iterable[str] = tuple(PAPERS)) -> list[Part]:
    """Every part of every entry of these papers (default: all), in the papers' order."""
    return [part for paper in papers for part in _parts(paper).values()]


def entries(parts: Iterable[Part]) -> dict[str, list[Part]]:
    """The parts by entry; the item's own statement comes first."""
    by_entry: dict[str, list[Part]] = {}
    for part in parts:
        by_entry.setdefault(part.entry, []).append(part)
    return {name: sorted(group, key=lambda p: bool(p.name)) for name, group in by_entry.items()}


def select(
    ids: Iterable[str] = (),
    paper: str | None = None,
    verdict: str | None = None,
    severity: str | None = None,
) -> list[Part]:
    """The parts with these ids (all when none are given), of one paper, verdict and severity.

    The id of an entry selects all of its parts; the beginning of ids selects all that begin so.
    """
    _known("paper", paper, PAPERS)
    _known("verdict", verdict, VERDICTS)
    _known("severity", severity, SEVERITIES)
    chosen = _named(list(ids), [paper] if paper else list(PAPERS))
    fitting = [part for part in chosen if verdict in (None, part.verdict)]
    return [part for part in fitting if severity in (None, part.severity)]


def _named(ids: list[str], papers: list[str]) -> list[Part]:
    if not ids:
        return ledger(papers)
    kept: dict[str, Part] = {}
    for wanted in ids:
        key = wanted.lower()
        among = ledger(p for p in papers if p.lower() == key.partition("-")[0])
        matches = [p for p in among if p.entry.lower() == key]
        matches = matches or [p for p in among if p.id.lower() == key]
        matches = matches or [p for p in among if p.id.lower().startswith(key)]
        if not matches:
            raise InvalidParameter(
                "ID", wanted, "the id of an entry; 'exactdp proofs --list' lists"
            )
        kept.update({part.id: part for part in matches})
    return list(kept.values())


def _modules(package: str) -> list[str]:
    paths = import_module(package).__path__
    names = [m.name for m in pkgutil.iter_modules(paths) if not m.name.startswith("_")]
    return [f"{package}.{name}" for name in sorted(names, key=_natural)]


def _natural(name: str) -> list[str]:
    return ["~" + part.zfill(6) if part.isdigit() else part for part in name.split("_")]


def _known(name: str, value: str | None, allowed: Iterable[str]) -> None:
    if value is not None and value not in allowed:
        raise InvalidParameter(name, value, "one of " + ", ".join(allowed))
