"""exactdp audit vectors: conformance vectors, and a judge of any implementation's answers."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from exactdp.cli.answers import Answer, answering, table
from exactdp.cli.options import find_local_modules
from exactdp.cli.output import new_file, write_file
from exactdp.cli.reading import standard_input
from exactdp.errors import InvalidParameter
from exactdp.oracle.jsonl import check_jsonl
from exactdp.oracle.vectors import (
    GROUPS,
    Vector,
    all_tests,
    document,
    find,
    group_named,
    load,
    schema,
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
    """Put questions with certified answers to an implementation in any language.

    A conformance vector is a question about differential privacy with its certified answer.
    """


def _selection(command: _Command) -> _Command:
    for name, text in (
        ("question", "Only vectors with this question: delta, tau, ..."),
        (
            "flag",
            "Only vectors with this flag; 'exactdp audit vectors list --group GROUP' shows flags.",
        ),
    ):
        command = click.option(f"--{name}", metavar=name.upper(), help=text)(command)

    def named(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
        return None if value is None else choice("group", group_named(value), GROUPS)

    text = "Only this group, or that of a mechanism of exactdp check: " + ", ".join(GROUPS)
    return click.option("--group", metavar="GROUP", callback=named, help=f"{text}.")(command)


@vectors.command("list", epilog="Example: exactdp audit vectors list --group gshm")
@_selection
@answering
def list_(group: str | None, flag: str | None, question: str | None) -> Answer:
    """List the groups, or the vectors of a group, a flag or a question."""
    if (group, flag, question) == (None, None, None):
        return _groups()
    chosen = _chosen(group, flag, question)
    rows = [[v.id, v.question, ", ".join(v.flags), v.comment] for v in chosen]
    return Answer(
        [{**v.as_question(), "flags": list(v.flags)} for v in chosen],
        table(f"{len(chosen)} vectors", ["id", "question", "flags", "comment"], rows),
    )


def _groups() -> Answer:
    groups = [load(name) for name in GROUPS]
    rows = []
    for group in groups:
        by_question = Counter(v.question for v in group)
        rows.append(
            [group.name, str(len(group)), ", ".join(f"{n} {q}" for q, n in by_question.items())]
        )
    total = sum(len(group) for group in groups)
    return Answer(
        [{"group": g.name, "vectors": len(g), "flags": dict(g.notes)} for g in groups],
        table(f"{total} vectors", ["group", "vectors", "questions"], rows),
    )


@vectors.command("show", epilog="Example: exactdp audit vectors show gshm-001")
@click.argument("id")
@answering
def show_(id: str) -> Answer:
    """Show a vector: the question, the certified answer, and the mistake that it detects."""
    tests = all_tests(document(find(id).group))
    return Answer(next(test for test in tests if test["id"] == id), show(id))


@vectors.command(epilog="Example: exactdp audit vectors questions | my-program > answers.jsonl")
@_selection
@answering
def questions(group: str | None, flag: str | None, question: str | None) -> Answer:
    """Print the questions as lines of JSON, for a program in any language."""
    _chosen(group, flag, question)
    lines = list(vectors_as_jsonl(group=group, flag=flag, question=question))
    return Answer([json.loads(line) for line in lines], "\n".join(lines))


@vectors.command(
    epilog="Example: exactdp audit vectors run --adapter my_package.my_module:make_adapter        "
    "Any language: my-program | exactdp audit vectors run --stdin-jsonl"
)
@click.option(
    "--adapter", metavar="NAME", help="exactdp, or MODULE:FUNCTION that returns your adapter."
)
@click.option("--stdin-jsonl", is_flag=True, help="Judge answers from standard input.")
@click.option("--html", metavar="FILE", help="Also write a self-contained report to a new file.")
@_selection
@answering
def run(
    adapter: str | None,
    stdin_jsonl: bool,
    html: str | None,
    group: str | None,
    flag: str | None,
    question: str | None,
) -> Answer:
    """Judge an implementation. Exits 1 when an answer is unsafe, wrong or missing, else 0."""
    if (adapter is None) != stdin_jsonl:
        raise click.UsageError("adapter must be given, or else --stdin-jsonl (not both)")
    page = new_file("html", html, (".html",)) if html else None
    chosen = _chosen(group, flag, question)
    report = check_jsonl(standard_input(), chosen) if adapter is None else _judge(adapter, chosen)
    if page:
        from exactdp.oracle.page import conformance_page

        write_file(page, conformance_page(report))
    return Answer(report.as_dict(), report.text(), 0 if report.clean else 1)


@vectors.command(epilog="Example: exactdp audit vectors export gshm | jq .numberOfTests")
@click.argument("group")
@click.option("--output", metavar="FILE", help="New JSON file.  [default: standard output]")
@answering
def export(group: str, output: str | None) -> Answer:
    """Write the file of a group, or the JSON schema of all files (GROUP: schema)."""
    path = None if output in (None, "-") else new_file("output", str(output), (".json",))
    data = schema() if group == "schema" else document(group_named(group))
    text = json.dumps(data, indent=1)
    if path is None:
        return Answer(data, text)
    write_file(path, text + "\n")
    return Answer(data, f"written to {path}")


def _chosen(group: str | None, flag: str | None, question: str | None) -> list[Vector]:
    chosen = select(group=group, flag=flag, question=question)
    if not chosen:
        wanted = {"flag": flag, "question": question}
        name = "flag" if flag else "question"
        raise InvalidParameter(name, wanted[name], "shown by 'exactdp audit vectors list'")
    return chosen


def _judge(name: str, chosen: list[Vector]) -> Report:
    from tqdm import tqdm

    from exactdp.oracle.adapter import make
    from exactdp.oracle.isolated import run_isolated

    find_local_modules()
    make(name)
    # in a separate process: libraries may hang or abort
    with tqdm(chosen, desc="vectors", disable=None, delay=1) as bar:
        return run_isolated(name, bar)
