"""Fetch the tests of other libraries into a temporary folder, run them, and say what fails and why.

A failure with a reason in :data:`vectors.peers_tests.reasons.REASONS`, and with the message
expected there, is known; any other failure, or a known one that passes, ends the program with exit
code 1.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import click

from vectors.peers_tests.reasons import Suite, reason_of

#: The repository of each library. `--source dp_accounting=FOLDER` takes another one.
SOURCES = {
    "dp_accounting": "https://github.com/google/differential-privacy",
    "opacus": "https://github.com/meta-pytorch/opacus",
    "jax_privacy": "https://github.com/google-deepmind/jax_privacy",
}


@click.command()
@click.option("--source", multiple=True, help="LIBRARY=URL or LIBRARY=FOLDER of a git repository.")
@click.option("--only", type=click.Choice(list(SOURCES)), help="Run the tests of one library.")
def main(source: tuple[str, ...], only: str | None) -> None:
    """Run other libraries' tests of accountants with exactdp's accountants."""
    sources = SOURCES | dict(text.split("=", 1) for text in source)
    surprises = 0
    with tempfile.TemporaryDirectory() as folder:
        for library in [only] if only else list(SOURCES):
            for name in SOURCES if library == "jax_privacy" else [library]:
                if name in ("dp_accounting", library):
                    _clone(sources[name], Path(folder, name))
            surprises += _report(library, _run(library, Path(folder)))
    sys.exit(1 if surprises else 0)


def _clone(source: str, target: Path) -> None:
    if not target.exists():
        command = ["git", "clone", "--quiet", "--depth", "1", source, str(target)]
        subprocess.run(command, check=True)  # noqa: S603


def _run(library: str, folder: Path) -> Suite:
    """Run one library's tests, in a process and a folder of their own."""
    here = Path(__file__).resolve().parents[2]
    output = folder / f"{library}.json"
    command = [
        sys.executable,
        "-m",
        "vectors.peers_tests.suites",
        library,
        str(folder),
        str(output),
    ]
    environment = {**os.environ, "PYTHONPATH": str(here)}
    subprocess.run(command, check=True, cwd=folder, env=environment, stdout=sys.stderr)  # noqa: S603
    suite: Suite = json.loads(output.read_text(encoding="utf-8"))
    return suite


def _report(library: str, suite: Suite) -> int:
    """Print what failed; return how many tests did not end as expected."""
    failed = suite["failed"]
    click.echo(f"{library}: {len(suite['passed'])} of {len(suite['passed']) + len(failed)} pass")
    surprises = 0
    for test, message in failed.items():
        reason = reason_of(library, test, message)
        surprises += reason is None
        click.echo(f"  {test}\n    {reason or 'UNEXPECTED'}\n    {message}")
    for test in suite["passed"]:
        if reason := reason_of(library, test):
            surprises += 1
            click.echo(f"  {test}\n    UNEXPECTED: passes, {reason}")
    return surprises


if __name__ == "__main__":
    main()
