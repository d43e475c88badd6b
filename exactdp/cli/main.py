"""Entry point. Exit codes say what happened, and a crash never looks like a verdict:

0 done, proved, enough; 1 refuted, a violation, not enough; 2 bad input; 3 undecided; 4 the
operating system failed or the program crashed; 130 interrupted; 143 terminated (by SIGTERM).
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import suppress
from io import TextIOWrapper
from typing import NoReturn

import click

from exactdp import __version__
from exactdp.cli.registry import Commands
from exactdp.errors import ExactDPError, Undecided, shown

__all__ = ["cli", "main"]


@click.command(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Example: exactdp calibrate gshm --k 51914 --epsilon 0.35 --delta 1e-5",
)
@click.version_option(__version__, prog_name="exactdp")
def cli() -> None:
    """The right number for differential privacy: certified delta, noise and thresholds."""


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and exit; every expected error is one line on standard error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # whatever the terminal can show
    if threading.current_thread() is not threading.main_thread():
        sys.exit(_run(arguments))
    before = signal.signal(signal.SIGTERM, _terminate)
    try:
        code = _run(arguments)
    finally:
        signal.signal(signal.SIGTERM, before)
    sys.exit(code)


class _Terminated(BaseException):
    """SIGTERM, as an exception, so that what is half done is cleaned up."""


def _terminate(*_: object) -> NoReturn:
    raise _Terminated


def _run(arguments: list[str] | None) -> int:
    try:
        result = cli.main(args=arguments, prog_name="exactdp", standalone_mode=False)
        sys.stdout.flush()  # what does not reach its reader is not done
    except click.exceptions.NoArgsIsHelpError as help_:
        click.echo(help_.format_message())
        return 2
    except click.ClickException as error:
        return _complain(error.format_message(), 2)
    except (click.Abort, KeyboardInterrupt):
        return _complain("interrupted", 130)
    except _Terminated:
        return _complain("terminated", 143)
    except Undecided as error:
        return _complain(f"undecided: {error}", 3)
    except (OSError, MemoryError, SystemExit) as error:  # click exits by itself on a broken pipe
        return _failed(error)
    except ExactDPError as error:
        return _complain(str(error), 2)
    except Exception as error:
        return _stopped(error) or _complain(f"internal error, please report it: {_where(error)}", 4)
    return result if isinstance(result, int) else 0


def _stopped(error: BaseException | None) -> int:
    """The code for a signal that code in C, which it met, turned into an error of its own, or 0."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return _complain("interrupted", 130)
        if isinstance(error, _Terminated):
            return _complain("terminated", 143)
        error = error.__cause__ or error.__context__
    return 0


def _failed(error: BaseException) -> int:
    """The operating system did not do what was asked: a full disk, a broken pipe, no memory."""
    try:
        sys.stdout.flush()
    except OSError:
        # nothing more can be printed, not even by the interpreter at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, SystemExit):
        return _complain("the output is not read to its end", 4)
    if isinstance(error, MemoryError):
        return _complain("out of memory", 4)
    return _complain(f"the operating system says: {error}", 4)


def _where(error: Exception) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = ""
    if trace is not None:
        place = f" in {trace.tb_frame.f_globals.get('__name__')}, line {trace.tb_lineno}"
    return f"{type(error).__name__}: {shown(str(error), 200)}{place}"


def _complain(message: str, code: int) -> int:
    with suppress(OSError):
        click.echo(f"exactdp: {' '.join(message.split())}", err=True)
    return code
