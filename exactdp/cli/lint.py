"""exactdp statement lint: which numbers of the deployments registry follow from their records."""

from __future__ import annotations

from collections import Counter

import click

from exactdp.cli.answers import Answer, answering
from exactdp.cli.reading import existing, text_in
from exactdp.progress import counted


@click.command(epilog="Example: exactdp statement lint deployments/my_deployment.yaml")
@click.argument("files", nargs=-1, required=True)
@answering
def lint(files: tuple[str, ...]) -> Answer:
    """Say which claims in records of deployments follow from their other fields.

    FILES are YAML records of OpenDP's registry of deployments (deployments-registry-data). For each
    rho, and each epsilon with its delta, prints derivable (and by which conversion or sum),
    contradicted (no mechanism can have it together with the record's other fields), or not
    derivable, and which field is missing. What is not derivable may well be true. Exits with 1 if a
    claim is contradicted.
    """
    from exactdp.registry import lint as findings_of

    paths = [existing(name) for name in files]
    with counted("reading records"):
        by_path = {path: findings_of(text_in(path)) for path in paths}
    counts = Counter(finding.verdict for findings in by_path.values() for finding in findings)
    lines = []
    for path, findings in by_path.items():
        lines.append(path.name)
        for each in findings:
            lines.append(f"  {each.verdict}: {each.claim}\n      {each.how}")
            lines += [f"      missing: {each.missing}"] if each.missing else []
    lines.append(", ".join(f"{n} {verdict}" for verdict, n in sorted(counts.items())))
    data = [
        {"file": str(path), "findings": [finding.as_dict() for finding in findings]}
        for path, findings in by_path.items()
    ]
    return Answer(data, "\n".join(lines), int(counts["contradicted"] > 0))
