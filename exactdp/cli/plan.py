"""exactdp plan: certified noise for queries that an engine runs elsewhere."""

from __future__ import annotations

import click

from exactdp.cli.answers import Answer, answering, table
from exactdp.cli.options import options
from exactdp.cli.output import new_file, written
from exactdp.cli.reading import existing, text_in
from exactdp.parameters import choice

__all__ = ["plan"]


@click.command(
    epilog="Example: exactdp release plan queries.toml --epsilon 1 --delta 1e-6 "
    "--engine pipelinedp --output plan.py"
)
@click.argument("queries")
@options("epsilon delta engine output")
@answering
def plan(queries: str, epsilon: str, delta: str, engine: str, output: str) -> Answer:
    """Write queries with certified noise, for an engine that holds the data.

    QUERIES is a TOML file: user = "column", and for each query a table [[query]] with name, by (a
    column or a list), k (keys per user), and optionally keys (a public list) and sums (column =
    limit). No data are read. The privacy statement for all queries is written to
    OUTPUT.statement.json.
    """
    from exactdp.plans import ENGINES, Plan, noise_of, read_queries

    user, asked = read_queries(text_in(existing(queries, "queries")))
    chosen = ENGINES[choice("engine", engine, tuple(ENGINES))]
    path = new_file("output", output, (chosen.ending,))
    beside = new_file("output", f"{output}.statement.json", (".json",))
    made = chosen.plan(engine, user, asked, epsilon=epsilon, delta=delta)
    statement = made.statement(engine)
    with written(path, beside) as (code, text):
        code.write_text(chosen.code(made), encoding="utf-8")
        text.write_text(statement.to_json(), encoding="utf-8")
    limits = (
        {each.query.name: each.above for each in made.queries} if isinstance(made, Plan) else {}
    )
    rows = []
    for query in asked:
        noise, own = noise_of(made, query), chosen.alone(made, query)
        limit = limits.get(query.name)
        shown = "all keys" if query.keys is not None else f"{float(limit):g}" if limit else "-"
        saved = f"{100 * (1 - noise / own):.0f} %"
        rows.append([query.name, str(query.k), f"{noise:.6g}", shown, f"{own:.6g}", saved])
    header = ["query", "k", "noise of a count", "released above", f"{engine} alone", "less noise"]
    promise = f"({made.epsilon}, {made.delta.decimal_upper(6)})-DP for all queries together"
    kind = "Gaussian" if isinstance(made, Plan) else "Laplace"
    said = (
        f"{table(f'plan for {engine}: {kind} noise', header, rows)}\n{promise}\nwritten to {output}"
    )
    data = [dict(zip(header, row, strict=True)) for row in rows]
    return Answer({"output": output, "engine": engine, "promise": promise, "queries": data}, said)
