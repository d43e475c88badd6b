"""exactdp audit: look for outputs that break a promise, or check a number somebody printed."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from exactdp.cli.options import json_option, options, promised, read_promise
from exactdp.cli.output import new_file, print_json, print_table
from exactdp.errors import InvalidParameter
from exactdp.parameters import integer

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from exactdp.audit import AuditReport
    from exactdp.oracle.targets import NamedRun

__all__ = ["audit"]

_Command = TypeVar("_Command", bound=Callable[..., Any])


class _Default(click.Group):
    """'exactdp audit TARGET' means 'exactdp audit run TARGET'."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.commands:
            args = ["run", *args]
        return super().resolve_command(ctx, args)


@click.group(
    cls=_Default,
    no_args_is_help=True,
    epilog="Example: exactdp audit opendp:laplace --set scale=1 --left 0 --right 1 --epsilon 0.5",
)
def audit() -> None:
    """Audit a mechanism: 'exactdp audit TARGET ...', a target as 'exactdp audit targets' lists."""


def _mechanism(command: _Command) -> _Command:
    """What an audit of outputs is about: a target, its parameters and two data sets."""
    for name, key, metavar, text in (
        ("--html", "html", "FILE", "Also write a self-contained report to a new file."),
        ("--right", "right", "JSON", "A neighbouring data set, as JSON."),
        ("--left", "left", "JSON", "A data set, as JSON."),
    ):
        command = click.option(name, key, metavar=metavar, help=text)(command)
    help_ = "A parameter of the target."
    command = click.option("--set", "given", multiple=True, metavar="NAME=VALUE", help=help_)(
        command
    )
    return click.argument("target")(command)


@audit.command(
    epilog="Example: exactdp audit my_package.my_module:my_function --left '{\"a\": 1}' "
    "--right '{}' --epsilon 1 --delta 1e-5"
)
@_mechanism
@click.option("--checkpoint", metavar="FILE", help="Continue from this file, or begin it.")
@promised
@options("", "samples alpha workers")
@json_option
def run(
    target: str,
    given: tuple[str, ...],
    left: str | None,
    right: str | None,
    html: str | None,
    checkpoint: str | None,
    epsilon: str | None,
    delta: str | None,
    promise: str | None,
    samples: str | None,
    alpha: str | None,
    workers: str | None,
    as_json: bool,
) -> int:
    """Look for a violation of a promise, such as (epsilon, delta), in outputs of a mechanism.

    TARGET: a name that 'exactdp audit targets' lists, or package.module:function, a function
    run(dataset, n) that returns n outputs. Exits 1 when a violation is certified, else 0.
    """
    from tqdm import tqdm

    from exactdp.audit import audit as look

    tested = read_promise(epsilon, delta, promise)
    mechanism = _made(target, given)
    data = _dataset("left", left), _dataset("right", right)
    page = new_file("html", html, (".html",)) if html else None
    count = integer("samples", samples or 1_000_000, least=1)
    processes = integer("workers", workers or 1, least=1)
    with tqdm(total=count, unit="output", unit_scale=True, disable=None, delay=1) as bar:

        def progress(finished: int) -> None:
            bar.update(finished - bar.n)

        with _executor(processes) as executor:
            report = look(
                mechanism,
                *data,
                promise=tested,
                samples=count,
                alpha=alpha or "0.01",
                executor=executor,
                checkpoint=checkpoint,
                progress=progress,
            )
    return _show(report, target, page, as_json)


@audit.command(
    epilog="Example: exactdp audit replay opendp:laplace REPORT.json --set scale=1 "
    "--left 0 --right 1"
)
@_mechanism
@click.argument("report")
@options("", "samples alpha")
@json_option
def replay(
    target: str,
    report: str,
    given: tuple[str, ...],
    left: str | None,
    right: str | None,
    html: str | None,
    samples: str | None,
    alpha: str | None,
    as_json: bool,
) -> int:
    """Count the event of an earlier --json REPORT on fresh outputs of TARGET, and judge by it."""
    from exactdp.audit import AuditReport
    from exactdp.audit import replay as count_again

    mechanism = _made(target, given)
    data = _dataset("left", left), _dataset("right", right)
    page = new_file("html", html, (".html",)) if html else None
    path = Path(report)
    if not path.is_file():
        raise InvalidParameter("report", report, "a file written by 'exactdp audit ... --json'")
    earlier = AuditReport.from_dict(_json("report", path.read_text(encoding="utf-8")))
    drawn, level = samples or 100_000, alpha or "0.01"
    again = count_again(earlier, mechanism, *data, samples=drawn, alpha=level)
    return _show(again, target, page, as_json)


def _show(report: AuditReport, target: str, page: Path | None, as_json: bool) -> int:
    if page:
        page.write_text(report.html(), encoding="utf-8")
    if as_json:
        print_json({"target": target, **report.as_dict()})
    else:
        click.echo(report.text())
        if page:
            click.echo(f"written to {page}")
    return 1 if report.violation else 0


@audit.command()
@json_option
def targets(as_json: bool) -> None:
    """The mechanisms that can be audited by name, and their parameters."""
    from exactdp.oracle.targets import TARGETS

    if as_json:
        print_json([{"target": name, "parameters": t.parameters} for name, t in TARGETS.items()])
        return
    rows = [[name, " ".join(t.parameters), t.package] for name, t in TARGETS.items()]
    print_table("", ["target", "parameters", "needs"], rows)


@audit.command(
    epilog="Example: exactdp audit number analytic_gaussian --claim sigma=7.4819 "
    "--set epsilon=1 --set delta=1e-15"
)
@click.argument("mechanism")
@click.option("--claim", metavar="NAME=VALUE", help="delta, epsilon, sigma or tau, as stated.")
@click.option("--set", "given", multiple=True, metavar="NAME=VALUE", help="A parameter.")
@json_option
def number(mechanism: str, claim: str | None, given: tuple[str, ...], as_json: bool) -> int:
    """Decide whether a stated number is enough: unsafe, exact, or how loose.

    MECHANISM: the name of a group of conformance vectors; its parameters are named as there.
    Exits 0 when the number is proved to be enough, 1 when it is proved not to be, 3 undecided.
    """
    from exactdp.audit.numbers.claimed import audit_number

    if claim is None:
        raise InvalidParameter("claim", "nothing", "NAME=VALUE, such as sigma=7.4819")
    quantity, claimed = _pair(claim)
    found = audit_number(
        mechanism=mechanism,
        quantity=quantity,
        parameters=dict(_pair(text) for text in given),
        claimed=claimed,
    )
    if as_json:
        print_json(found.as_dict())
    else:
        click.echo(found.text())
    return {"unsafe": 1, "undecided": 3}.get(found.verdict, 0)


def _made(target: str, given: tuple[str, ...]) -> NamedRun:
    from exactdp.oracle.targets import target as make

    if "" not in sys.path:
        sys.path.insert(0, "")  # as python -m does: modules in the current folder are found
    return make(target, **dict(_pair(text) for text in given))


@contextmanager
def _executor(processes: int) -> Iterator[Executor | None]:
    if processes == 1:
        yield None
        return
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as executor:
        yield executor


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise InvalidParameter("set", text, "NAME=VALUE")
    return name, value


def _dataset(name: str, text: str | None) -> Any:
    if text is None:
        raise InvalidParameter(name, "nothing", f"a data set as JSON (missing --{name})")
    return _json(name, text)


def _json(name: str, text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        raise InvalidParameter(name, text, 'JSON, such as 0 or {"key": 1}') from None
