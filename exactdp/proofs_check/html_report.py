"""A self-contained HTML page of claims that were run: filters, statements, evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import date
from html import escape
from importlib.resources import files
from string import Template

from exactdp import __version__
from exactdp.proofs_check.claim import (
    METHODS,
    PAPERS,
    SEVERITIES,
    VERDICTS,
    Claim,
    Refuted,
)
from exactdp.proofs_check.registry import source_file
from exactdp.proofs_check.runner import Result

__all__ = ["html_report"]


def html_report(results: Sequence[Result]) -> str:
    """The page as text. Everything it needs is inside: no network, no other file."""
    page = Template(files(__package__).joinpath("report.html").read_text(encoding="utf-8"))
    verdicts = Counter(_state(result) for result in results)
    papers = Counter(result.claim.paper for result in results)
    return page.substitute(
        version=escape(__version__),
        date=date.today().isoformat(),
        total=len(results),
        seconds=f"{sum(result.seconds for result in results):.0f}",
        papers=_buttons("paper", papers, list(PAPERS), PAPERS),
        verdicts=_buttons("verdict", verdicts, [*VERDICTS, "not confirmed"], VERDICTS),
        entries="\n".join(_entry(result) for result in results),
    )


def _state(result: Result) -> str:
    return result.claim.verdict if result.confirmed else "not confirmed"


def _buttons(kind: str, counts: Counter[str], order: list[str], titles: dict[str, str]) -> str:
    return "\n".join(
        f'<button type="button" data-kind="{kind}" data-value="{escape(name)}" '
        f'aria-pressed="false" title="{escape(titles.get(name, name))}">{escape(name)} '
        f"<b>{counts[name]}</b></button>"
        for name in order
        if counts[name]
    )


def _entry(result: Result) -> str:
    claim, state = result.claim, _state(result)
    severity = claim.severity if isinstance(claim, Refuted) else ""
    label = f"{state}, {severity}" if severity and result.confirmed else state
    rows = [(name, text) for name, text in _rows(result) if text]
    details = "".join(f"<dt>{name}</dt><dd>{text}</dd>" for name, text in rows)
    return (
        f'<article id="{escape(claim.id)}" data-paper="{claim.paper}" data-verdict="{state}">'
        f'<h2><a href="#{escape(claim.id)}">{escape(claim.paper)} {escape(claim.item)}</a>'
        f'<span class="verdict {state.replace(" ", "-")} {severity}">{escape(label)}</span></h2>'
        f"<p>{escape(claim.statement)}</p><dl>{details}</dl></article>"
    )


def _rows(result: Result) -> list[tuple[str, str]]:
    claim = result.claim
    method = getattr(claim, "method", "")
    evidence = "counterexample" if isinstance(claim, Refuted) else "evidence"
    rows = [
        ("problem", escape(result.problem)),
        (evidence, escape(result.evidence)),
        ("checked by", escape(f"{method}: {METHODS[method]}" if method else "")),
        *_refutation(claim),
        ("note", escape(claim.note)),
    ]
    where = f"<code>{escape(source_file(claim))}</code>"
    return [*rows, ("source", f"{where}, {result.seconds:.2f} s")]


def _refutation(claim: Claim) -> list[tuple[str, str]]:
    if not isinstance(claim, Refuted):
        return []
    right = claim.corrected
    return [
        ("severity", escape(f"{claim.severity}: {SEVERITIES[claim.severity]}")),
        ("corrected", f'<a href="#{escape(right.id)}">{escape(right.statement)}</a>'),
        ("extraction error?", escape(claim.extraction)),
        ("see it yourself", f"<pre>{escape(claim.example.strip())}</pre>"),
    ]
