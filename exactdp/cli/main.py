"""Entry point. The exit code tells verdicts and crashes apart.

0: done, proved, or sufficient. 1: refuted, violated, or insufficient. 2: bad input. 3: undecided.
4: the operating system failed or the program crashed. 130: ended by SIGINT. 141: the reader of
standard output closed the pipe. 143: ended by SIGTERM.
"""

from __future__ import annotations

import gc
import os
import select
import sys
import threading
from collections.abc import Sequence
from io import TextIOWrapper
from typing import NoReturn

import click

from exactdp import __version__
from exactdp.cli.commands import Commands, suggested
from exactdp.cli.completion import install_completion as install
from exactdp.cli.help import QUESTIONS, coloured
from exactdp.cli.output import complain
from exactdp.cli.stopping import ending, signals_heard
from exactdp.errors import ExactDPError, Undecided, one_line

#: Cycles are collected after this many new objects, instead of 700.
_MOST_CYCLES = 50_000


@click.command(
    cls=Commands,
    no_args_is_help=False,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="\b\nExample: exactdp calibrate gshm --k 51914 --epsilon 0.35 --delta 1e-5",
)
@click.version_option(__version__, prog_name="exactdp")
@click.option(
    "--install-completion",
    metavar="[bash|zsh|fish]",
    is_flag=False,
    flag_value="$SHELL",
    help="Complete commands, options and files with the Tab key, in every new shell.",
)
@click.pass_context
def cli(context: click.Context, install_completion: str | None) -> int | None:
    """Certified numbers and exact noise for differential privacy.

    All commands take --json; --json-schema prints the schema of the JSON.
    """
    if install_completion is not None:
        changed = install(None if install_completion == "$SHELL" else install_completion)
        click.echo(f"written: {', '.join(map(str, changed))}. Open a new shell to use it.")
        context.exit()
    if context.invoked_subcommand is not None:
        return None
    click.echo(QUESTIONS)
    return 2


coloured(cli)


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and exit; every expected error is one line on standard error."""
    if "_EXACTDP_COMPLETE" in os.environ:  # called by a shell for a half-typed command
        cli.main(prog_name="exactdp")
    alone = arguments is None
    if alone:  # a process of a second or so makes few cycles, and looking for them takes time
        gc.set_threshold(_MOST_CYCLES)
    if not sys.stdout:  # the output would be lost without a message
        sys.exit(_complain("standard output is closed", 4))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # escape what the terminal cannot show
    if threading.current_thread() is not threading.main_thread():
        sys.exit(_run(arguments))
    with signals_heard(alone=alone) as heard:
        code = _run(arguments, heard)
    if alone:
        gc.freeze()  # the interpreter then ends without a look at every object
    sys.exit(code)


def _run(arguments: list[str] | None, heard: Sequence[int] = ()) -> int:
    try:
        colour = False if os.environ.get("NO_COLOR") else None  # None: on a terminal only
        result = cli.main(arguments, "exactdp", standalone_mode=False, color=colour)
        sys.stdout.flush()  # a failed write must change the exit code
    except click.exceptions.NoArgsIsHelpError as help_:
        click.echo(help_.format_message())
        return 2
    except BaseException as error:
        return ending(heard) or _ended(error)
    return result if isinstance(result, int) else 0


def _ended(error: BaseException) -> int:
    """Print one line about the error that ended a command; return the exit code."""
    match error:
        case click.ClickException():
            return _complain(error.format_message() + suggested(error), 2)
        case Undecided():
            return _complain(f"undecided: {error}", error.exit_code)
        case ExactDPError():
            return _complain(str(error), error.exit_code)
        case OSError() | MemoryError() | SystemExit():  # click raises SystemExit for a broken pipe
            return _failed(error)
    return _complain(f"internal error, please report it: {_where(error)}", 4)


def _failed(error: BaseException) -> int:
    """The exit code for an error of the operating system: full disk, no memory, closed pipe."""
    left = _reader_left()
    try:
        sys.stdout.flush()
    except OSError:
        # nothing more can be printed, not even by the interpreter when it exits
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if left:
        return 141
    if isinstance(error, MemoryError):
        return _complain("out of memory", 4)
    if isinstance(error, SystemExit):  # raised by click, which hides errors of pipes
        return _complain("a pipe was closed", 4)
    return _complain(f"the operating system says: {error}", 4)


def _reader_left() -> bool:
    """Whether a reader of standard output has closed its pipe, as "| head" does."""
    pipe = select.poll()
    pipe.register(1, 0)  # no events requested: poll reports errors only
    return bool(pipe.poll(0))


def _where(error: BaseException) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = ""
    if trace is not None:
        place = f" in {trace.tb_frame.f_globals.get('__name__')}, line {trace.tb_lineno}"
    return f"{type(error).__name__}: {one_line(str(error), 200)}{place}"


def _complain(message: str, code: int) -> int:
    complain(message)
    return code
