"""exactdp proofs: run the claims of the papers."""

from __future__ import annotations

import os
import textwrap
from collections import Counter
from collections.abc import Sequence

import click

from exactdp.cli.options import json_option
from exactdp.cli.output import new_file, print_json, print_table, write_text
from exactdp.errors import ExactDPError
from exactdp.parameters import integer
from exactdp.proofs_check.claim import (
    PAPERS,
    SEVERITIES,
    VERDICTS,
    Claim,
    Conditional,
    Fails,
    Holds,
    Refuted,
)
from exactdp.proofs_check.registry import select
from exactdp.proofs_check.runner import Result, run

__all__ = ["proofs"]

_FULL = 8  # up to so many results are printed whole, more of them as a table


@click.command(
    epilog="Example: exactdp proofs BV-Lemma-2.9        Errata: exactdp proofs --severity unsafe"
)
@click.argument("ids", nargs=-1, metavar="[ID ...]")
@click.option("--paper", metavar="PAPER", help="Only one paper: " + ", ".join(PAPERS) + ".")
@click.option("--verdict", metavar="VERDICT", help="Only one of: " + ", ".join(VERDICTS) + ".")
@click.option("--severity", metavar="SEVERITY", help="Only one of: " + ", ".join(SEVERITIES) + ".")
@click.option("--quick", is_flag=True, help="Leave out the slow ones.")
@click.option("--list", "only_list", is_flag=True, help="List the entries without running them.")
@click.option("--workers", metavar="WORKERS", help="Processes (default: one per core).")
@click.option("--html", metavar="FILE", help="Also write a self-contained report to a new file.")
@json_option
def proofs(
    ids: tuple[str, ...],
    paper: str | None,
    verdict: str | None,
    severity: str | None,
    quick: bool,
    only_list: bool,
    workers: str | None,
    html: str | None,
    as_json: bool,
) -> int:
    """Run the papers' statements as claims: all, or those whose ID is given or begins so.

    Exits 0 when every run reached its declared verdict (refuted ones were refuted again), else 1.
    """
    key = paper.upper() if paper else None
    claims = [c for c in select(ids, key, verdict, severity) if not (quick and c.slow)]
    if only_list:
        return _print_list(claims, as_json)
    path = new_file("html", html, (".html",)) if html else None
    count = integer("workers", workers or os.cpu_count() or 1, least=1)
    results = _run(claims, count)
    if path:
        from exactdp.proofs_check.html_report import html_report

        write_text(path, html_report(results))
    if as_json:
        print_json([result.as_dict() for result in results])
    else:
        _print(results)
        if path:
            click.echo(f"written to {path}")
    return 0 if all(result.confirmed for result in results) else 1


def _run(claims: Sequence[Claim], workers: int) -> list[Result]:
    try:
        from tqdm import tqdm

        with tqdm(total=len(claims), desc="claims", disable=None, delay=1) as bar:
            return list(run(claims, min(workers, max(len(claims), 1)), bar.update))
    except ImportError as error:
        needed = f"checking needs {error.name}: pip install 'exactdp[proofs]'"
        raise ExactDPError(needed) from None


def _print_list(claims: Sequence[Claim], as_json: bool) -> int:
    if as_json:
        print_json([{"id": c.id, "verdict": c.verdict, "statement": c.statement} for c in claims])
    else:
        print_table(
            f"{len(claims)} entries", ["id", "verdict"], [[c.id, c.verdict] for c in claims]
        )
    return 0


def _print(results: Sequence[Result]) -> None:
    if len(results) <= _FULL:
        for result in results:
            click.echo(_whole(result) + "\n")
    else:
        rows = [
            [r.claim.id, _verdict(r), _short(r.problem or r.evidence), f"{r.seconds:.2f}"]
            for r in results
        ]
        print_table("", ["id", "verdict", "evidence", "s"], rows)
    found = Counter(_verdict(result) for result in results)
    seconds = sum(result.seconds for result in results)
    counts = ", ".join(f"{number} {verdict}" for verdict, number in found.most_common())
    click.echo(
        f"{len(results)} claim{'s' * (len(results) != 1)}: {counts}; {seconds:.1f} s of computing"
    )


def _verdict(result: Result) -> str:
    claim = result.claim
    if not result.confirmed:
        return "NOT CONFIRMED"
    return f"refuted, {claim.severity}" if isinstance(claim, Refuted) else claim.verdict


def _whole(result: Result) -> str:
    claim = result.claim
    parts = [f"{claim.id}: {_verdict(result)}", _wrapped(claim.statement)]
    label = "counterexample" if isinstance(claim, Fails) else "evidence"
    if result.problem:
        parts.append(_wrapped(f"problem: {result.problem}"))
    parts.append(_wrapped(f"{label}: {result.evidence}"))
    if isinstance(claim, Holds):
        parts.append(_wrapped(f"must reject: {claim.mutant.statement}"))
    if isinstance(claim, Conditional):
        rest = f" (rests on {claim.rests_on})" if claim.rests_on else ""
        parts.append(_wrapped(f"condition: {claim.condition}{rest}"))
    if isinstance(claim, Fails):
        parts += _correction(claim)
    if claim.note:
        parts.append(_wrapped(f"note: {claim.note}"))
    return "\n".join(parts)


def _correction(claim: Fails) -> list[str]:
    said = claim.printed
    parts = [_wrapped(f'printed ({said.where}, line {said.line}): "{said.words}"')]
    if isinstance(claim, Refuted):
        parts.append(_wrapped(f"{claim.severity}: {SEVERITIES[claim.severity]}"))
        if claim.follows_from:
            parts.append(_wrapped(f"follows from {claim.follows_from}"))
    parts.append(_wrapped(f"corrected ({claim.corrected.id}): {claim.corrected.statement}"))
    parts.append(_wrapped(f"extraction error? {claim.extraction}"))
    if claim.example:
        parts.append("  to see it yourself:")
        parts.append(textwrap.indent(claim.example.strip("\n"), "    "))
    return parts


def _wrapped(text: str) -> str:
    return textwrap.fill(text, 96, initial_indent="  ", subsequent_indent="    ")


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."
