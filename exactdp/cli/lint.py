"""exactdp lint: which numbers of the deployments registry follow from their records."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from exactdp.cli.options import json_option
from exactdp.cli.output import print_json
from exactdp.cli.reading import existing, text_in
from exactdp.progress import counted

if TYPE_CHECKING:
    from exactdp.registry import Finding

__all__ = ["lint"]


@click.command(epilog="Example: exactdp lint deployments/my_deployment.yaml")
@click.argument("files", nargs=-1, required=True)
@json_option
def lint(files: tuple[str, ...], as_json: bool) -> int:
    """Say which claims of registry records can be derived.

    FILES are YAML records of OpenDP's registry of deployments (deployments-registry-data). For each
    rho, and each epsilon with its delta, prints derivable (and by which conversion or sum),
    contradicted (no mechanism can have it together with the record's other fields), or not
    derivable, and which field is missing. What is not derivable may well be true. Exits with 1 if a
    claim is contradicted.
    """
    from exactdp.registry import lint as findings_of

    paths = [existing(name) for name in files]
    with counted("reading records"):
        found = {path: findings_of(text_in(path)) for path in paths}
    counts = Counter(finding.verdict for findings in found.values() for finding in findings)
    if as_json:
        print_json(
            [
                {"file": str(path), "findings": [finding.as_dict() for finding in findings]}
                for path, findings in found.items()
            ]
        )
    else:
        for path, findings in found.items():
            _print(path, findings)
        click.echo(", ".join(f"{n} {verdict}" for verdict, n in sorted(counts.items())))
    return int(counts["contradicted"] > 0)


def _print(path: Path, findings: list[Finding]) -> None:
    click.echo(path.name)
    for each in findings:
        click.echo(f"  {each.verdict}: {each.claim}\n      {each.how}")
        if each.missing:
            click.echo(f"      missing: {each.missing}")
