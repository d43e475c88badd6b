"""exactdp proofs: run the entries of the ledger."""

from __future__ import annotations

import os
import textwrap
from collections import Counter
from collections.abc import Sequence

import click

from exactdp.cli.answers import Answer, answering, table
from exactdp.cli.output import new_file, write_file
from exactdp.parameters import integer
from exactdp_proofs.registry import select
from exactdp_proofs.runner import Result, particulars, run
from exactdp_proofs.statements import Part
from exactdp_proofs.vocabulary import PAPERS, SEVERITIES, VERDICTS

_FULL = 8  # up to this many results are printed whole, more of them as a table


@click.command(
    epilog="Example: exactdp proofs BV-Lemma-2.9        Errata: exactdp proofs --severity unsafe"
)
@click.argument("ids", nargs=-1, metavar="[ID ...]")
@click.option("--paper", metavar="PAPER", help="Only one paper: " + ", ".join(PAPERS) + ".")
@click.option("--verdict", metavar="VERDICT", help="Only one of: " + ", ".join(VERDICTS) + ".")
@click.option("--severity", metavar="SEVERITY", help="Only one of: " + ", ".join(SEVERITIES) + ".")
@click.option("--all", "everything", is_flag=True, help="Also run the slow ones.")
@click.option("--list", "only_list", is_flag=True, help="List the statements without running them.")
@click.option("--workers", metavar="INTEGER", help="Processes.  [default: one per core]")
@click.option("--html", metavar="FILE", help="Also write a self-contained report to a new file.")
@answering
def proofs(
    ids: tuple[str, ...],
    paper: str | None,
    verdict: str | None,
    severity: str | None,
    everything: bool,
    only_list: bool,
    workers: str | None,
    html: str | None,
) -> Answer:
    """Run the programs that check the statements of five papers.

    Runs all fast ones, or the entries whose ID is given or begins so.

    Exits 0 when every run reached its recorded verdict (refuted ones were refuted again), else 1.
    """
    selected = select(ids, paper.upper() if paper else None, verdict, severity)
    if only_list:
        return _listed(selected)
    path = new_file("html", html, (".html",)) if html else None
    count = integer("workers", workers or os.cpu_count() or 1, least=1)
    parts = [part for part in selected if ids or everything or not part.slow]
    results, left = _run(parts, count), [part for part in selected if part not in parts]
    lines = [_summary(results)]
    if left:
        lines.append(f"{len(left)} slow ones were left out; --all runs them. Recorded verdicts:")
        lines += [f"  {part.id}: {_verdict(part.verdict, part)}" for part in left]
    if path:
        from exactdp_proofs.html_report import html_report

        write_file(path, html_report(results, len(left)))
        lines.append(f"written to {path}")
    code = 0 if all(result.confirmed for result in results) else 1
    return Answer([result.as_dict() for result in results], "\n".join(lines), code)


def _run(parts: Sequence[Part], workers: int) -> list[Result]:
    from tqdm import tqdm

    with tqdm(total=len(parts), desc="statements", disable=None, delay=1) as bar:
        return list(run(parts, min(workers, max(len(parts), 1)), bar.update))


def _listed(parts: Sequence[Part]) -> Answer:
    names = ("id", "verdict", "severity", "statement")
    rows = [[part.id, _verdict(part.verdict, part)] for part in parts]
    return Answer(
        [{name: getattr(part, name) for name in names} for part in parts],
        table(f"{len(parts)} statements", ["id", "verdict"], rows),
    )


def _summary(results: Sequence[Result]) -> str:
    if len(results) <= _FULL:
        text = "".join(_whole(result) + "\n\n" for result in results)
    else:
        rows = [[r.part.id, _label(r), _short(_decisive(r)), f"{r.seconds:.2f}"] for r in results]
        text = table("", ["id", "verdict", "evidence", "s"], rows) + "\n"
    labels = Counter(_label(result) for result in results)
    seconds = sum(result.seconds for result in results)
    counts = ", ".join(f"{number} {verdict}" for verdict, number in labels.most_common())
    plural = "s" * (len(results) != 1)
    return f"{text}{len(results)} statement{plural}: {counts}; {seconds:.1f} s of computing"


def _label(result: Result) -> str:
    return _verdict(result.verdict, result.part) if result.confirmed else "NOT CONFIRMED"


def _verdict(verdict: str, part: Part) -> str:
    return f"{verdict}, {part.severity}" if part.severity else verdict


def _whole(result: Result) -> str:
    part = result.part
    lines = {"problem": result.problem} if result.problem else {}
    if said := part.printed:
        lines[f"printed ({said.where}, line {said.line})"] = f'"{said.words}"'
    if part.severity:
        lines[part.severity] = SEVERITIES[part.severity]
    lines |= particulars(part, result.evidence)
    texts = [f"{part.id}: {_label(result)}", _wrapped(part.statement)]
    texts += [_wrapped(f"{name}: {text}") for name, text in lines.items()]
    if part.example:
        texts.append("  to see it yourself:")
        texts.append(textwrap.indent(part.example.strip("\n"), "    "))
    return "\n".join(texts)


def _decisive(result: Result) -> str:
    evidence = result.evidence
    return result.problem or evidence.counterexample or evidence.comparisons or result.part.reason


def _wrapped(text: str) -> str:
    return textwrap.fill(text, 96, initial_indent="  ", subsequent_indent="    ")


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."
