"""A conformance report as a self-contained HTML page."""

from __future__ import annotations

from html import escape
from importlib.resources import files
from string import Template

from exactdp import __version__
from exactdp.oracle.conformance import VERDICTS, Report, Result
from exactdp.oracle.vectors import load


def conformance_page(report: Report) -> str:
    """The HTML: counts by group, then all answers that are unsafe, wrong or missing."""
    page = Template((files("exactdp.oracle") / "conformance.html").read_text(encoding="utf-8"))
    groups = list(dict.fromkeys(result.vector.group for result in report.results))
    bad = [r for r in report.results if r.verdict in ("unsafe", "wrong", "crash")]
    return page.substitute(
        name=escape(report.name),
        version=escape(report.version),
        total=len(report.results),
        headers="".join(f'<th class="n">{verdict}</th>' for verdict in VERDICTS),
        counts="".join(_counts(report, group) for group in [*groups, None]),
        rows="".join(map(_row, bad)) or '<tr><td colspan="5">none</td></tr>',
        own=escape(__version__),
    )


def _counts(report: Report, group: str | None) -> str:
    counts = report.counts(group)
    cells = "".join(f'<td class="n">{counts[verdict]}</td>' for verdict in VERDICTS)
    return f"<tr><td>{escape(group or 'total')}</td>{cells}</tr>"


def _row(result: Result) -> str:
    vector = result.vector
    parameters = ", ".join(f"{name} = {value}" for name, value in vector.parameters.items())
    bucket = f" ({result.bucket})" if result.bucket else ""
    notes = load(vector.group).notes
    caught = " ".join(notes[flag] for flag in vector.flags)
    cells = [
        f"{escape(vector.id)}<br>{escape(vector.question)}: {escape(parameters)}",
        f'<span class="{result.verdict}">{result.verdict}</span>{bucket}',
        escape(result.answer or result.detail),
        escape(vector.lower),
        escape(caught),
    ]
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
