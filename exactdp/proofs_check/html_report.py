"""A self-contained HTML page of claims that were run: filters, statements, evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Set
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
    Conditional,
    Fails,
    Holds,
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
    severities = Counter(_severity(result) for result in results)
    shown = {result.claim.id for result in results}
    return page.substitute(
        version=escape(__version__),
        date=date.today().isoformat(),
        total=len(results),
        seconds=f"{sum(result.seconds for result in results):.0f}",
        papers=_buttons("paper", papers, list(PAPERS), PAPERS),
        verdicts=_buttons("verdict", verdicts, [*VERDICTS, "not confirmed"], VERDICTS),
        severities=_buttons("severity", severities, list(SEVERITIES), SEVERITIES),
        entries="\n".join(_entry(result, shown) for result in results),
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


def _severity(result: Result) -> str:
    return result.claim.severity if isinstance(result.claim, Refuted) else ""


def _entry(result: Result, shown: Set[str]) -> str:
    claim, state, severity = result.claim, _state(result), _severity(result)
    label = f"{state}, {severity}" if severity and result.confirmed else state
    label += ", ours" if claim.ours else ""
    rows = [(name, text) for name, text in _rows(result, shown) if text]
    details = "".join(f"<dt>{name}</dt><dd>{text}</dd>" for name, text in rows)
    return (
        f'<article id="{escape(claim.id)}" data-paper="{claim.paper}" data-verdict="{state}" '
        f'data-severity="{severity}">'
        f'<h2><a href="#{escape(claim.id)}">{escape(claim.paper)} {escape(claim.item)}</a>'
        f'<span class="verdict {state.replace(" ", "-")} {severity}">{escape(label)}</span></h2>'
        f"<p>{escape(claim.statement)}</p><dl>{details}</dl></article>"
    )


def _rows(result: Result, shown: Set[str]) -> list[tuple[str, str]]:
    claim = result.claim
    method = getattr(claim, "method", "")
    evidence = "counterexample" if isinstance(claim, Fails) else "evidence"
    rows = [
        ("problem", escape(result.problem)),
        *_quotation(claim),
        (evidence, escape(result.evidence)),
        ("checked by", escape(f"{method}: {METHODS[method]}" if method else "")),
        ("must reject", escape(claim.mutant.statement if isinstance(claim, Holds) else "")),
        *_condition(claim, shown),
        *_correction(claim, shown),
        ("note", escape(claim.note)),
    ]
    where = f"<code>{escape(source_file(claim))}</code>"
    return [*rows, ("source", f"{where}, {result.seconds:.2f} s")]


def _link(target: str, text: str, shown: Set[str]) -> str:
    """A link within the page, or plain text where the target was not run."""
    return f'<a href="#{escape(target)}">{escape(text)}</a>' if target in shown else escape(text)


def _quotation(claim: Claim) -> list[tuple[str, str]]:
    if not isinstance(claim, Fails):
        return []
    said = claim.printed
    return [("printed", escape(f"“{said.words}” ({said.where}, line {said.line})"))]


def _condition(claim: Claim, shown: Set[str]) -> list[tuple[str, str]]:
    if not isinstance(claim, Conditional):
        return []
    rest = _link(claim.rests_on, claim.rests_on, shown) if claim.rests_on else ""
    return [("condition", escape(claim.condition)), ("rests on", rest)]


def _correction(claim: Claim, shown: Set[str]) -> list[tuple[str, str]]:
    if not isinstance(claim, Fails):
        return []
    rows = []
    if isinstance(claim, Refuted):
        rows.append(("severity", escape(f"{claim.severity}: {SEVERITIES[claim.severity]}")))
        cause = _link(claim.follows_from, claim.follows_from, shown) if claim.follows_from else ""
        rows.append(("follows from", cause))
    example = f"<pre>{escape(claim.example.strip())}</pre>" if claim.example else ""
    return [
        *rows,
        ("corrected", _link(claim.corrected.id, claim.corrected.statement, shown)),
        ("extraction error?", escape(claim.extraction)),
        ("see it yourself", example),
    ]
