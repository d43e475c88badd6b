"""exactdp vectors: conformance vectors, and a judge of any implementation's answers."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from exactdp.cli.options import find_local_modules, json_option
from exactdp.cli.output import new_file, print_json, print_table, write_text
from exactdp.cli.reading import standard_input
from exactdp.errors import InvalidParameter
from exactdp.oracle.vectors import (
    GROUPS,
    Vector,
    all_tests,
    document,
    find,
    group_named,
    load,
    select,
    show,
    vectors_as_jsonl,
)
from exactdp.parameters import choice

if TYPE_CHECKING:
    from exactdp.oracle.conformance import Report

_Command = TypeVar("_Command", bound=Callable[..., Any])


@click.group(no_args_is_help=True)
def vectors() -> None:
    """Test any implementation against certified answers.

    A conformance vector is a question about differential privacy with its certified answer.
    """


def _selection(command: _Command) -> _Command:
    for name, text in (
        ("question", "Only vectors with this question: delta, tau, ..."),
        ("flag", "Only vectors with this flag; 'exactdp vectors list --group GROUP' shows flags."),
    ):
        command = click.option(f"--{name}", metavar=name.upper(), help=text)(command)

    def named(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
        return None if value is None else choice("group", group_named(value), GROUPS)

    text = "Only this group, or that of a mechanism of exactdp check: " + ", ".join(GROUPS)
    return click.option("--group", metavar="GROUP", callback=named, help=f"{text}.")(command)


@vectors.command("list", epilog="Example: exactdp vectors list --group gshm")
@_selection
@json_option
def list_(group: str | None, flag: str | None, question: str | None, as_json: bool) -> None:
    """List the groups, or the vectors of a group, a flag or a question."""
    if (group, flag, question) == (None, None, None):
        _list_groups(as_json)
        return
    chosen = _chosen(group, flag, question)
    if as_json:
        print_json([{**v.as_question(), "flags": list(v.flags)} for v in chosen])
        return
    rows = [[v.id, v.question, ", ".join(v.flags), v.comment] for v in chosen]
    print_table(f"{len(chosen)} vectors", ["id", "question", "flags", "comment"], rows)


def _list_groups(as_json: bool) -> None:
    groups = [load(name) for name in GROUPS]
    if as_json:
        print_json([{"group": g.name, "vectors": len(g), "flags": dict(g.notes)} for g in groups])
        return
    rows = []
    for group in groups:
        asked = Counter(v.question for v in group)
        rows.append([group.name, str(len(group)), ", ".join(f"{n} {q}" for q, n in asked.items())])
    total = sum(len(group) for group in groups)
    print_table(f"{total} vectors", ["group", "vectors", "questions"], rows)


@vectors.command("show", epilog="Example: exactdp vectors show gshm-001")
@click.argument("id")
@json_option
def show_(id: str, as_json: bool) -> None:
    """Show a vector: the question, the certified answer, and the mistake that it detects."""
    if not as_json:
        click.echo(show(id))
        return
    vector = find(id)
    print_json(next(t for t in all_tests(document(vector.group)) if t["id"] == id))


@vectors.command(epilog="Example: exactdp vectors questions | my-program > answers.jsonl")
@_selection
def questions(group: str | None, flag: str | None, question: str | None) -> None:
    """Print the questions as lines of JSON, for a program in any language."""
    _chosen(group, flag, question)
    for line in vectors_as_jsonl(group=group, flag=flag, question=question):
        click.echo(line)


@vectors.command(
    epilog="Example: exactdp vectors run --adapter my_package.my_module:make_adapter        "
    "Any language: my-program | exactdp vectors run --stdin-jsonl"
)
@click.option(
    "--adapter", metavar="NAME", help="exactdp, or MODULE:FUNCTION that returns your adapter."
)
@click.option("--stdin-jsonl", is_flag=True, help="Judge answers from standard input.")
@click.option("--html", metavar="FILE", help="Also write a self-contained report to a new file.")
@_selection
@json_option
def run(
    adapter: str | None,
    stdin_jsonl: bool,
    html: str | None,
    group: str | None,
    flag: str | None,
    question: str | None,
    as_json: bool,
) -> int:
    """Judge an implementation. Exits 1 when an answer is unsafe, wrong or missing, else 0."""
    if (adapter is None) != stdin_jsonl:
        raise click.UsageError("adapter must be given, or else --stdin-jsonl (not both)")
    page = new_file("html", html, (".html",)) if html else None
    chosen = _chosen(group, flag, question)
    report = _judge_lines(standard_input(), chosen) if adapter is None else _judge(adapter, chosen)
    if as_json:
        print_json(report.as_dict())
    else:
        click.echo(report.text())
    if page:
        from exactdp.oracle.page import conformance_page

        write_text(page, conformance_page(report))
    return 0 if report.clean else 1


@vectors.command(epilog="Example: exactdp vectors export gshm | jq .numberOfTests")
@click.argument("group")
@click.option(
    "--output", metavar="FILE", default="-", help="New file ending in .json (default: -)."
)
def export(group: str, output: str) -> None:
    """Write the file of a group, or the JSON schema of all files (GROUP: schema).

    Without --output, or with --output -, the file goes to standard output.
    """
    from exactdp.oracle.vectors import schema

    path = None if output == "-" else new_file("output", output, (".json",))
    text = json.dumps(schema() if group == "schema" else document(group_named(group)), indent=1)
    if path is None:
        click.echo(text)
        return
    write_text(path, text + "\n")
    click.echo(f"written to {path}")


def _chosen(group: str | None, flag: str | None, question: str | None) -> list[Vector]:
    chosen = select(group=group, flag=flag, question=question)
    if not chosen:
        wanted = {"flag": flag, "question": question}
        name = "flag" if flag else "question"
        raise InvalidParameter(name, wanted[name], "shown by 'exactdp vectors list'")
    return chosen


def _judge_lines(lines: Iterable[str], chosen: list[Vector]) -> Report:
    from exactdp.oracle.jsonl import check_jsonl

    return check_jsonl(lines, chosen)


def _judge(name: str, chosen: list[Vector]) -> Report:
    from tqdm import tqdm

    from exactdp.oracle.adapter import make
    from exactdp.oracle.isolated import run_isolated

    find_local_modules()
    make(name)
    # in a separate process: libraries may hang or abort
    with tqdm(chosen, desc="vectors", disable=None, delay=1) as bar:
        return run_isolated(name, bar)
