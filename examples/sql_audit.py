"""Published formulas of noisy SQL aggregates, computed by DuckDB, as a command for exactdp audit.

    exactdp audit run --command "python examples/sql_audit.py count" --left '[1]' --right '[]' ...

The program answers the protocol of `exactdp audit run --command`. The formulas:

- count, sum, average, groups: noisy_count_gaussian, noisy_sum_gaussian and noisy_avg_gaussian of
  Presto (page "Noisy Aggregate Functions" of its documentation), with noise scale 1 and values
  clipped to [0, 1]; groups is noisy_sum_gaussian(1, 1) with GROUP BY. A data set is a list.
- coalesced: the count, with noise for an empty table, too.
- threshold: counts of users by key as in "Differentially Private SQL with Bounded User
  Contribution" (Wilson et al. 2019), on which BigQuery's WITH DIFFERENTIAL_PRIVACY is built:
  epsilon = 1, delta = 1e-2, one key a user. A data set is a list of pairs [user, key].
- unbounded: the same, without the bound on the keys of a user.
"""

# ruff: noqa: S608 (queries are made of constants of this file and of quoted values)

import json
import sys

import duckdb

#: A standard normal and a standard Laplace number of random numbers in [0, 1).
NORMAL = "(sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random()))"
LAPLACE = "(CASE WHEN random() < 0.5 THEN -1 ELSE 1 END * -ln(1 - random()))"
CLIPPED = "least(greatest(v, 0), 1)"
#: 1 - ln(2 delta) / epsilon: one user passes it with probability delta.
THRESHOLD = "1 - ln(2 * 0.01)"


def presto(aggregate: str, *, counts: bool = False, coalesced: bool = False) -> str:
    """An aggregate with Gaussian noise of scale 1, which is NULL for an empty table.

    counts: negative counts become 0, others are rounded. coalesced: 0 with noise instead of NULL.
    """
    noisy = f"coalesce(x, 0) + {NORMAL}"
    noisy = f"greatest(0, round({noisy}))" if counts else noisy
    return f"""
        WITH exact AS MATERIALIZED (SELECT {aggregate} AS x, count(v) AS n FROM rows)
        SELECT i, NULL, CASE WHEN n > 0 OR {coalesced} THEN {noisy} END
        FROM exact, range(:count) AS draws(i)"""


def bounded(keys: int) -> str:
    """Noisy counts of the keys that pass the threshold, with at most so many keys of a user."""
    return f"""
        WITH pairs AS (SELECT DISTINCT i, u, k FROM rows, range(:count) AS draws(i)),
        kept AS (SELECT i, k FROM pairs
                 QUALIFY row_number() OVER (PARTITION BY i, u ORDER BY random()) <= {keys}),
        noisy AS MATERIALIZED (SELECT i, k, count(*) + {LAPLACE} AS x FROM kept GROUP BY i, k)
        SELECT i, k, x FROM noisy WHERE x > {THRESHOLD}"""


QUERIES = {
    "count": presto("count(v)", counts=True),
    "sum": presto(f"sum({CLIPPED})"),
    "average": presto(f"avg({CLIPPED})"),
    "coalesced": presto("count(v)", counts=True, coalesced=True),
    "groups": f"""
        WITH exact AS MATERIALIZED (SELECT v AS k, count(*) AS n FROM rows GROUP BY v)
        SELECT i, k, n + {NORMAL} FROM exact, range(:count) AS draws(i)""",
    "threshold": bounded(1),
    "unbounded": bounded(100),
}
GROUPED = ("groups", "threshold", "unbounded")


def literal(value):
    """A value in SQL. With parameters in its place, DuckDB would import pandas: seconds a start."""
    return "'" + str(value).replace("'", "''") + "'"


def main(name: str) -> None:
    request = json.loads(sys.stdin.readline())
    database = duckdb.connect()
    if name in ("threshold", "unbounded"):
        database.execute("CREATE TABLE rows (u VARCHAR, k VARCHAR)")
        rows = request["data"]
    else:
        database.execute(f"CREATE TABLE rows (v {'VARCHAR' if name == 'groups' else 'DOUBLE'})")
        rows = [[value] for value in request["data"]]
    if rows:
        values = ", ".join(f"({', '.join(map(literal, row))})" for row in rows)
        database.execute(f"INSERT INTO rows VALUES {values}")
    outputs = [{} if name in GROUPED else None for _ in range(request["count"])]
    query = QUERIES[name].replace(":count", str(request["count"]))
    for i, key, value in database.execute(query).fetchall():
        if name not in GROUPED:
            outputs[i] = value
        elif value is not None:
            outputs[i][key] = value
    sys.stdout.writelines(json.dumps(output) + "\n" for output in outputs)


if __name__ == "__main__":
    main(sys.argv[1])
