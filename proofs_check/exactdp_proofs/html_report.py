"""A self-contained HTML page of parts that were run: errata first, filters, evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Set
from datetime import date
from html import escape
from importlib.resources import files
from string import Template

from exactdp import __version__
from exactdp_proofs.formulas import formulas
from exactdp_proofs.runner import Result, particulars
from exactdp_proofs.statements import Part
from exactdp_proofs.typeset import quotation
from exactdp_proofs.vocabulary import PAPERS, SEVERITIES, SEVERITY_RULE, VERDICTS


def html_report(results: Sequence[Result], left_out: int = 0) -> str:
    """The page as text; it loads nothing from elsewhere. left_out: number of slow parts not run."""
    page = Template(files(__package__).joinpath("report.html").read_text(encoding="utf-8"))
    order = list(SEVERITIES)
    errata = sorted(
        (result for result in results if result.part.severity),
        key=lambda result: (result.part.kind == "note", order.index(result.part.severity)),
    )
    rest = [result for result in results if not result.part.severity]
    sections = [("Errata and notes", SEVERITY_RULE, errata)]
    sections += [
        (paper, title, [result for result in rest if result.part.paper == paper])
        for paper, title in PAPERS.items()
    ]
    names = {result.part.id for result in results}
    return page.substitute(
        version=escape(__version__),
        date=date.today().isoformat(),
        total=len(results),
        left_out=f" {left_out} slow ones were left out." if left_out else "",
        seconds=f"{sum(result.seconds for result in results):.0f}",
        papers=_buttons("paper", [r.part.paper for r in results], PAPERS),
        verdicts=_buttons("verdict", [r.verdict for r in results], VERDICTS),
        severities=_buttons("severity", [r.part.severity for r in results], SEVERITIES),
        entries="\n".join(_section(*section, names) for section in sections if section[2]),
    )


def _buttons(kind: str, values: Sequence[str], titles: dict[str, str]) -> str:
    counts = Counter(values)
    return "\n".join(
        f'<button type="button" data-kind="{kind}" data-value="{escape(name)}" '
        f'aria-pressed="false" title="{escape(titles.get(name, name))}">{escape(name)} '
        f"<b>{counts[name]}</b></button>"
        for name in [*titles, "not confirmed"]
        if counts[name]
    )


def _section(name: str, title: str, results: Sequence[Result], names: Set[str]) -> str:
    articles = "\n".join(_article(result, names) for result in results)
    heading = f'<h2>{escape(name)}</h2><p class="soft">{escape(title)}</p>'
    return f"<section>{heading}{articles}</section>"


def _article(result: Result, names: Set[str]) -> str:
    part, verdict = result.part, result.verdict
    label = ", ".join(filter(None, (verdict, part.severity, "ours" if part.ours else "")))
    details = "".join(f"<dt>{name}</dt><dd>{text}</dd>" for name, text in _rows(result, names))
    return (
        f'<article id="{escape(part.id)}" data-paper="{part.paper}" data-verdict="{verdict}" '
        f'data-severity="{part.severity}"{" class=part" if part.name else ""}>'
        f'<h3><a href="#{escape(part.id)}">{escape(part.paper)} {formulas(part.title)}</a>'
        f'<span class="verdict {verdict.replace(" ", "-")} {part.severity}">{escape(label)}'
        f"</span></h3><p>{formulas(part.statement)}</p><dl>{details}</dl></article>"
    )


def _rows(result: Result, names: Set[str]) -> list[tuple[str, str]]:
    part = result.part
    said = {
        name: _link(text, names) if text in (part.rests_on, part.follows_from) else formulas(text)
        for name, text in particulars(part, result.evidence).items()
    }
    rows = [
        ("problem", escape(result.problem)),
        *_quotation(part),
        *said.items(),
        ("see it yourself", f"<pre>{escape(part.example.strip())}</pre>" if part.example else ""),
        ("source", f"<code>{escape(part.source)}</code>, {result.seconds:.2f} s"),
    ]
    return [(name, text) for name, text in rows if text]


def _link(target: str, names: Set[str]) -> str:
    """A link within the page, or plain text where the target was not run."""
    return f'<a href="#{escape(target)}">{escape(target)}</a>' if target in names else target


def _quotation(part: Part) -> list[tuple[str, str]]:
    if part.printed is None:
        return []
    said = part.printed
    where = f"<code>{escape(said.words)}</code> ({escape(said.where)}, line {said.line})"
    return [("printed", quotation(said.words)), ("in the text", where)]
