"""The subject of an audit: a mechanism by name, path or command, and its data sets."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import click

from exactdp.cli.answers import Answer
from exactdp.cli.options import find_local_modules
from exactdp.cli.output import new_file, write_file
from exactdp.errors import Described, ExactDPError, InvalidParameter, TargetFailed, one_line
from exactdp.parameters import integer, json_value

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from exactdp.audit import AuditReport
    from exactdp.audit.promises import Promise
    from exactdp.audit.targets import Run

_Command: TypeAlias = Callable[..., Any]


class Mechanism(NamedTuple):
    """run: (dataset, n) -> n outputs. name: as the user wrote it."""

    name: str
    run: Run


@dataclass(frozen=True)
class _Guarded:
    """A target whose exceptions become TargetFailed; it can be sent to worker processes."""

    name: str
    run: Run

    def __call__(self, dataset: Any, n: int) -> Any:
        try:
            return self.run(dataset, n)
        except ExactDPError:
            raise
        except Exception as error:
            what = f"{type(error).__name__}: {one_line(str(error), 200)}"
            raise TargetFailed(f"{self.name} raised {what} {_line(error)}") from error


def _line(error: Exception) -> str:
    *_, (frame, number) = traceback.walk_tb(error.__traceback__)
    return f"in {frame.f_globals.get('__name__')}, line {number}"


def mechanism(command: _Command) -> _Command:
    """Add TARGET, --set, --command and --timeout; the command receives a Mechanism."""

    @wraps(command)
    def wrapped(
        *,
        target: str | None,
        settings: tuple[str, ...],
        program: str | None,
        timeout: str,
        **more: Any,
    ) -> Any:
        if program is not None and "report" in more and more["report"] is None:
            target, more["report"] = None, target  # with --command, the only argument is the report
        return command(mechanism=_find_mechanism(target, settings, program, timeout), **more)

    for name, key, metavar, text in (
        ("--timeout", "timeout", "SECONDS", "Time limit for each call of --command (default 60)."),
        ("--command", "program", "COMMAND", "Instead of TARGET: a program, in any language."),
    ):
        default = "60" if key == "timeout" else None
        wrapped = click.option(name, key, metavar=metavar, default=default, help=text)(wrapped)
    text = "A parameter of the target."
    wrapped = click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help=text)(
        wrapped
    )
    return click.argument("target", required=False)(wrapped)


def datasets(command: _Command) -> _Command:
    """Add --left and --right; the command receives their JSON values as `data`."""

    @wraps(command)
    def wrapped(*, left: str | None, right: str | None, **more: Any) -> Any:
        return command(data=(_dataset("left", left), _dataset("right", right)), **more)

    text = "A neighbouring data set, as JSON."
    wrapped = click.option("--right", metavar="JSON", help=text)(wrapped)
    return click.option("--left", metavar="JSON", help="A data set, as JSON.")(wrapped)


def page_option(command: _Command) -> _Command:
    """Add --html for a report in a new file; the command receives its path as `page`."""

    @wraps(command)
    def wrapped(*, html: str | None, **more: Any) -> Any:
        return command(page=new_file("html", html, (".html",)) if html else None, **more)

    text = "Also write a self-contained report to a new file."
    return click.option("--html", metavar="FILE", help=text)(wrapped)


def promise_options(command: _Command) -> _Command:
    """Add --epsilon and --delta, or --promise; the command receives a Promise as `promise`."""

    @wraps(command)
    def wrapped(
        *, epsilon: str | None, delta: str | None, promise: str | None, **more: Any
    ) -> Any:  # fmt: skip
        return command(promise=_promise(epsilon, delta, promise), **more)

    text = "Instead: zcdp:rho=R, renyi:alpha=A,epsilon=E, gdp:mu=M, profile:E=D,E=D,..."
    wrapped = click.option("--promise", metavar="KIND:NAME=NUMBER,...", help=text)(wrapped)
    text = "Promised delta.  [default: 0]"
    wrapped = click.option("--delta", metavar="NUMBER", help=text)(wrapped)
    return click.option("--epsilon", metavar="NUMBER", help="Promised epsilon.")(wrapped)


def _promise(epsilon: str | None, delta: str | None, promise: str | None) -> Promise:
    from exactdp.audit.promises import ApproximateDP, parse

    if promise is None:
        if epsilon is None:
            allowed = "a number >= 0 (missing --epsilon, or --promise)"
            raise InvalidParameter("epsilon", Described("nothing"), allowed)
        return ApproximateDP(epsilon, delta or "0")
    if epsilon is not None or delta is not None:
        raise InvalidParameter("promise", promise, "given without --epsilon and --delta")
    return parse(promise)


def show(report: AuditReport, name: str, page: Path | None) -> Answer:
    """A report as the answer of a command, also written to a page if there is one."""
    text = report.text()
    if page:
        write_file(page, report.html())
        text += f"\nwritten to {page}"
    return Answer({"target": name, **report.as_dict()}, text, int(report.violation))


@contextmanager
def bar(total: int | None) -> Iterator[Callable[[int], None]]:
    """A progress bar of outputs; yields a function to call with the number of outputs so far."""
    from tqdm import tqdm

    with tqdm(total=total, unit="output", unit_scale=True, disable=None, delay=1) as counter:

        def advance(finished: int) -> None:
            counter.update(finished - counter.n)

        yield advance


@contextmanager
def executor(workers: str | None) -> Iterator[Executor | None]:
    """An executor with this number of worker processes; None for one."""
    processes = integer("workers", workers or 1, least=1)
    if processes == 1:
        yield None
        return
    from exactdp.cli.audit.workers import Workers

    with Workers(processes) as pool:
        yield pool


def pair(text: str) -> tuple[str, str]:
    """The name and the value in a text NAME=VALUE."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise InvalidParameter("set", text, "NAME=VALUE")
    return name, value


def from_json(name: str, text: str) -> Any:
    """The value of a JSON text; raises InvalidParameter."""
    return json_value(name, text, 'JSON, such as 0 or {"key": 1}')


def _find_mechanism(
    target: str | None, settings: tuple[str, ...], program: str | None, timeout: str
) -> Mechanism:
    if (target is None) == (program is None):
        what = "nothing" if target is None else target
        allowed = "the name of a target, or else --command must be given (one of both)"
        raise InvalidParameter("target", what, allowed)
    if program is not None:
        from exactdp.audit.command import Command

        if settings:
            raise InvalidParameter("set", settings[0], "left out with --command")
        return Mechanism(program, Command(program, timeout))
    from exactdp.audit.targets import target as make

    find_local_modules()
    run = make(str(target), **dict(pair(text) for text in settings))
    return Mechanism(str(target), _Guarded(str(target), run))


def _dataset(name: str, text: str | None) -> Any:
    if text is None:
        raise InvalidParameter(name, Described("nothing"), f"a data set as JSON (missing --{name})")
    return from_json(name, text)
