"""exactdp plan: certified noise for queries that an engine runs elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from exactdp.cli import parameters as opt
from exactdp.cli.answers import Answer, answering, table
from exactdp.cli.options import options
from exactdp.cli.output import new_file, written
from exactdp.cli.reading import existing, text_in
from exactdp.parameters import choice

if TYPE_CHECKING:
    from exactdp.plans import Plan, Split


@click.command(
    epilog="Example: exactdp release plan queries.toml --epsilon 1 --delta 1e-6 "
    "--engine pipelinedp --output plan.py"
)
@click.argument("queries")
@options(opt.EPSILON, opt.DELTA, opt.ENGINE, opt.OUTPUT)
@answering
def plan(queries: str, epsilon: str, delta: str, engine: str, output: str) -> Answer:
    """Write queries with certified noise, for an engine that holds the data.

    QUERIES is a TOML file: user = "column", and for each query a table [[query]] with name, by (a
    column or a list), k (keys per user), and optionally keys (a public list) and sums (column =
    limit). No data are read. The privacy statement for all queries is written to
    OUTPUT.statement.json.
    """
    from exactdp.plans import ENGINES, read_queries

    user, questions = read_queries(text_in(existing(queries, "queries")))
    chosen = ENGINES[choice("engine", engine, tuple(ENGINES))]
    path = new_file("output", output, (chosen.ending,))
    beside = new_file("output", f"{output}.statement.json", (".json",))
    noise_plan = chosen.plan(engine, user, questions, epsilon=epsilon, delta=delta)
    statement = noise_plan.statement(engine)
    with written(path, beside) as (code, text):
        code.write_text(chosen.code(noise_plan), encoding="utf-8")
        text.write_text(statement.to_json(), encoding="utf-8")
    alone = chosen.alone(questions, epsilon=epsilon, delta=delta)
    rows = [
        [query.name, str(query.k), *cells, f"{own:.6g}", f"{100 * (1 - noise / own):.0f} %"]
        for query, own, (noise, *cells) in zip(questions, alone, _noises(noise_plan), strict=True)
    ]
    header = ["query", "k", "kind", "noise of a count", "released above"]
    header += [f"{engine} alone", "less noise"]
    promise = (
        f"({noise_plan.epsilon}, {noise_plan.delta.decimal_upper(6)})-DP for all queries together"
    )
    said = f"{table(f'plan for {engine}', header, rows)}\n{promise}\nwritten to {output}"
    data = [dict(zip(header, row, strict=True)) for row in rows]
    return Answer({"output": output, "engine": engine, "promise": promise, "queries": data}, said)


def _noises(noise_plan: Plan | Split) -> Iterator[tuple[float, str, str, str]]:
    """The standard deviation of a count of each query; its kind, itself, and the threshold."""
    from exactdp.plans import Plan

    if isinstance(noise_plan, Plan):
        for each in noise_plan.queries:
            limit = "all keys" if each.above is None else f"{float(each.above):g}"
            kind = "Laplace" if each.laplace else "Gaussian"
            yield each.deviation, kind, f"{each.deviation:.6g}", limit
    else:
        for query in noise_plan.queries:
            noise = noise_plan.deviation(query)
            yield noise, "Laplace", f"{noise:.6g}", "-"
