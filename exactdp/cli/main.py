"""Entry point: exit codes 0 (done, proved), 1 (refuted), 2 (bad input), 3 (undecided)."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import NoReturn

import click

from exactdp import __version__
from exactdp.errors import ExactDPError, Undecided

__all__ = ["cli", "main"]

#: Subcommand -> (module that defines it, one line of help); loaded only when used.
_COMMANDS = {
    "delta": ("exactdp.cli.accounting", "Certified delta for given noise and threshold."),
    "calibrate": ("exactdp.cli.accounting", "Noise and threshold for a given (epsilon, delta)."),
    "check": ("exactdp.cli.accounting", "Decide whether given parameters keep (epsilon, delta)."),
    "release": ("exactdp.cli.release", "Publish a histogram with differential privacy."),
    "query": ("exactdp.cli.release", "Look up one element in a released histogram."),
    "sample": ("exactdp.cli.sample", "Exact draws of integer noise."),
    "figure": ("exactdp.cli.figure", "Pictures and tables of what the analyses save."),
    "proofs": ("exactdp.cli.proofs", "Run the papers' statements as claims, each with a verdict."),
    "audit": ("exactdp.cli.audit", "Look for outputs of a mechanism that break its promise."),
    "vectors": ("exactdp.cli.vectors", "Exact answers as test data for any implementation."),
    "compare": ("exactdp.cli.accounting", "Calibrate every mechanism for one target."),
}


class _Lazy(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = getattr(import_module(_COMMANDS[cmd_name][0]), cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in _COMMANDS.items()])


@click.command(
    cls=_Lazy,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Example: exactdp calibrate gshm --k 51914 --epsilon 0.35 --delta 1e-5",
)
@click.version_option(__version__, prog_name="exactdp")
def cli() -> None:
    """The right number for differential privacy: certified delta, noise and thresholds."""


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and exit; every expected error is one line on standard error."""
    try:
        result = cli.main(args=arguments, prog_name="exactdp", standalone_mode=False)
        code = result if isinstance(result, int) else 0
    except click.exceptions.NoArgsIsHelpError as help_:
        click.echo(help_.format_message())
        code = 2
    except click.ClickException as error:
        code = _complain(error.format_message(), 2)
    except click.Abort:
        code = _complain("interrupted", 130)
    except Undecided as error:
        code = _complain(f"undecided: {error}", 3)
    except ExactDPError as error:
        code = _complain(str(error), 2)
    sys.exit(code)


def _complain(message: str, code: int) -> int:
    click.echo(f"exactdp: {' '.join(message.split())}", err=True)
    return code
