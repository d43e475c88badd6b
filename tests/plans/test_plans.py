"""Plans: the numbers are certified together, and the code does what it says."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from exactdp import InvalidParameter
from exactdp.plans import ENGINES, Plan, Query, Split, plan, read_queries
from tests.cli.test_accounting import run
from tests.reference import cdf, gaussian

TARGET = {"epsilon": 1, "delta": "1e-6"}
URLS = Query("visits", ("url",), 10)
DAYS = Query("days", ("country", "day"), 3, sums={"amount": 100})
KNOWN = Query("plans", ("plan",), 1, keys=("free", "paid"))
FEW = Query("few", ("few",), 2)
KEYS = tuple(range(100))

TOML = """
user = "uid"
[[query]]
name = "visits"
by = "url"
k = 10
[[query]]
name = "days"
by = ["country", "day"]
k = 3
sums = { amount = 100 }
[[query]]
name = "plans"
by = "plan"
k = 1
keys = ["free", "paid"]
"""


@pytest.mark.few(2)
@pytest.mark.parametrize("discrete", [False, True])
@pytest.mark.parametrize("queries", [[URLS], [URLS, DAYS, KNOWN], [KNOWN], [URLS] * 2, [URLS, FEW]])
def test_noise_and_thresholds_of_all_queries_together(queries: list[Query], discrete: bool) -> None:
    """delta from plain sums of mu^2 and of probabilities; nearly all of the target is used."""
    release_plan = plan("uid", queries, **TARGET, discrete=discrete)
    mu2, hidden = 0.0, 1.0
    for each in release_plan.queries:
        mu2 += each.query.moved / float(each.scale) ** 2
        if each.above is not None:
            distance = float(each.above) - 1 + discrete / 2  # of integers, in the middle
            hidden *= cdf(distance / float(each.scale)) ** each.query.most
    ends = float(gaussian(1.0, mu2**0.5)), 1 - hidden
    alone = all(each.query.keys is None and not each.query.sums for each in release_plan.queries)
    total = max(ends) if alone else sum(ends)
    # discrete tails differ from those in the middle
    assert total <= float(release_plan.delta.upper) * 1.002
    assert release_plan.delta.upper <= Fraction(1, 10**6)
    assert float(release_plan.delta.upper) > 0.8e-6
    if not discrete:
        statement = release_plan.statement("presto")
        assert statement.check().verdict == "valid"
        assert float(statement.fields["claims"][0]["at_most"]) <= 1e-6
        assert statement.fields["unit"]["bounds"][0]["checked"] is False


def test_laplace_and_gaussian_noise_together() -> None:
    """delta by a sum over a fine grid of the losses, for a query of each kind, in doubles."""
    queries = [Query("few", ("a",), 1, keys=("x", "y")), Query("many", ("b",), 40, keys=KEYS)]
    release_plan = plan("uid", queries, **TARGET, discrete=False, laplace=[True, False])
    one, many = (float(each.scale) for each in release_plan.queries)
    mu = 40**0.5 / many
    # one Laplace loss is 1/one - 2x/one for 0 <= x <= 1, with the ends as atoms
    cells = 200
    inner = [(1 - 2 * (i + 0.5) / cells) / one for i in range(cells)]
    weights = [math.exp(-(i + 0.5) / cells / one) / (2 * one * cells) for i in range(cells)]
    losses = [*inner, 1 / one, -1 / one]
    masses = [*weights, 0.5, math.exp(-1 / one) / 2]
    assert sum(masses) == pytest.approx(1, abs=1e-6)
    total = sum(m * float(gaussian(1 - x, mu)) for m, x in zip(masses, losses, strict=True))
    assert total == pytest.approx(float(release_plan.delta.upper), rel=3e-3)
    assert total > 0.9e-6


def test_a_threshold_that_hides_one_query_does_not_hide_another() -> None:
    """Noise protects the keys of one query, and the threshold those of the other: both deltas."""
    release_plan = plan("uid", [URLS, Query("b", ("b",), 10)], **TARGET, discrete=True)
    first, second = release_plan.queries
    noisy = type(first)(first.query, first.scale / 2, first.above * 2)
    blurred = type(first)(second.query, second.scale * 50, second.scale * 50 * 5)
    mu = (10 / float(noisy.scale) ** 2 + 10 / float(blurred.scale) ** 2) ** 0.5
    least = float(gaussian(1.0, mu * 0.99))
    hidden = cdf((float(blurred.above or 0) - 0.5) / float(blurred.scale)) ** 10
    combined = Plan("uid", (noisy, blurred), Fraction(1), Fraction(1, 2), discrete=True)
    assert float(combined.delta.upper) >= least + (1 - hidden) * 0.9


def test_a_plan_with_less_noise_is_refused() -> None:
    release_plan = plan("uid", [URLS, DAYS], **TARGET, discrete=False)
    less = [type(q)(q.query, q.scale * Fraction(9, 10), q.above) for q in release_plan.queries]
    with pytest.raises(InvalidParameter, match="delta must be >="):
        Plan("uid", tuple(less), release_plan.epsilon, release_plan.target, False)


@pytest.mark.few(1)
@pytest.mark.parametrize("size", [1, 3, 40])
def test_laplace_noise_by_optimal_composition(size: int) -> None:
    queries = [Query(f"q{i}", ("url",), 2) for i in range(size)]
    release_plan = Split.of("uid", queries, **TARGET)
    assert release_plan.delta.upper <= Fraction(1, 10**6)
    assert release_plan.part_epsilon >= Fraction(1, size)
    if size == 40:  # advanced composition
        assert release_plan.part_epsilon > Fraction(3, 2) / 40
    assert release_plan.deviation(queries[0]) == pytest.approx(
        2**0.5 * 2 / float(release_plan.part_epsilon)
    )
    assert release_plan.statement("bigquery").check().verdict == "valid"
    known = Split.of("uid", [KNOWN] * size, **TARGET)
    assert known.part_delta == 0


def ratios(engine: str, queries: list[Query], **target: Any) -> list[float]:
    """The noise of every query in units of the engine's own."""
    chosen = ENGINES[engine]
    release_plan, own = (
        chosen.plan(engine, "uid", queries, **target),
        chosen.alone(queries, **target),
    )
    if isinstance(release_plan, Split):
        return [release_plan.deviation(q) / o for q, o in zip(queries, own, strict=True)]
    return [each.deviation / o for each, o in zip(release_plan.queries, own, strict=True)]


@pytest.mark.parametrize(("epsilon", "k"), [("1", 1), ("0.35", 1), ("0.1", 2)])
def test_laplace_noise_and_a_threshold(epsilon: str, k: int) -> None:
    """A loss of k/scale for the noise; the threshold by its formula, with 99 % of delta."""
    query = Query("visits", ("url",), k)
    release_plan = ENGINES["pipelinedp"].plan(
        "pipelinedp", "uid", [query], epsilon=epsilon, delta="1e-6"
    )
    assert isinstance(release_plan, Plan)
    (each,) = release_plan.queries
    scale = k / float(epsilon)
    assert float(each.scale) == pytest.approx(scale, rel=1e-6)
    chance = -math.expm1(math.log1p(-0.99e-6) / k)
    assert float(each.above or 0) == pytest.approx(1 + scale * math.log(1 / (2 * chance)), abs=2e-3)
    assert release_plan.statement("pipelinedp").check().verdict == "valid"


@pytest.mark.slow
def test_less_noise_than_the_engine_takes_by_itself() -> None:
    queries = [Query(f"q{i}", (f"c{i}",), k) for i, k in enumerate((10, 20, 5, 10))]
    for name in ("pipelinedp", "opendp", "presto"):
        assert max(ratios(name, queries, **TARGET)) < 0.75
    few = ENGINES["tumult"].plan("tumult", "uid", [KNOWN], **TARGET)
    assert isinstance(few, Plan)
    assert few.queries[0].laplace  # one count: Laplace noise is smaller
    assert few.queries[0].deviation == pytest.approx(2**0.5, rel=1e-3)
    # one key a user, and forty: a kind of noise for each
    mixed = [KNOWN, Query("many", ("b",), 40, keys=KEYS)]
    release_plan = ENGINES["pipelinedp"].plan("pipelinedp", "uid", mixed, **TARGET)
    assert isinstance(release_plan, Plan)
    assert [each.laplace for each in release_plan.queries] == [True, False]


#: Random queries that an engine can run: one key or many, known or not, with sums or without.
RANDOM_QUERIES = {
    "pipelinedp": lambda r: _random_queries(r, sums=1),
    "opendp": lambda r: _random_queries(r, sums=2),
    "presto": lambda r: _random_queries(r, sums=2),
    "bigquery": lambda r: _random_queries(r, sums=2, known=False),
    "tumult": lambda r: _random_queries(r, sums=0, known=True),
}


def _random_queries(r: random.Random, sums: int, known: bool | None = None) -> list[Query]:
    return [
        Query(
            f"q{i}",
            ("a",),
            r.choice([1, 1, 2, 5, 20, 100]),
            keys=KEYS if (r.random() < 0.5 if known is None else known) else None,
            sums={f"s{j}": 10 for j in range(r.randint(0, sums))},
        )
        for i in range(r.choice([1, 1, 2, 3, 6]))
    ]


def test_a_plan_of_many_queries_and_of_a_tiny_epsilon() -> None:
    many = [Query(f"q{i}", ("a",), 1 + 3 * i, KEYS if i % 2 else None) for i in range(15)]
    assert max(ratios("opendp", many, **TARGET)) < 0.85
    assert max(ratios("presto", many, epsilon="1e-7", delta="1e-6")) < 0.6


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("engine", RANDOM_QUERIES)
def test_no_query_has_more_noise_than_by_itself(engine: str, seed: int) -> None:
    r = random.Random(seed)
    queries = RANDOM_QUERIES[engine](r)
    target = {"epsilon": r.choice(["0.1", "1", "4", "20"]), "delta": r.choice(["1e-5", "1e-9"])}
    assert max(ratios(engine, queries, **target)) <= 1.000001


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("user = 3", "queries must be user"),
        ("user = ", "TOML text"),
        ('user = "u"\n[[query]]\nname = "a"\nby = "b"', "name, by, k"),
        ('user = "u"\n[[query]]\nname = "a b"\nby = "b"\nk = 1', "letters, digits"),
        ('user = "u"\n[[query]]\nname = "a"\nby = "b"\nk = 0', "k must be"),
        ('user = "u"\n[[query]]\nname = "a"\nby = "b\'"\nk = 1', "without quotes"),
        ('user = "u"\n[[query]]\nname = "a"\nby = ["b", "b"]\nk = 1', "different columns"),
        ('user = "u"\n[[query]]\nname = "a"\nby = "b"\nk = 1\nkeys = []', "different keys"),
        ('user = "u"\n[[query]]\nname = "a"\nby = ["b", "c"]\nk = 1\nkeys = ["x"]', "2 to a key"),
        ('user = "u"\n[[query]]\nname = "a"\nby = "b"\nk = 1\nsums = 3', "other types"),
        ('user = "u"\n[[query]]\nname = "a"\nby = "b"\nk = 1\nsums = {c = 0}', "limit of c"),
        ("user = 'u'\n" + "[[query]]\nname = 'a'\nby = 'b'\nk = 1\n" * 2, "different names"),
    ],
)
def test_bad_files(text: str, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        read_queries(text)


def test_what_engines_cannot_run() -> None:
    two = Query("a", ("b",), 1, sums={"x": 1, "y": 1})
    for name, query in (("pipelinedp", two), ("bigquery", KNOWN), ("tumult", URLS)):
        with pytest.raises(InvalidParameter, match=f"one that {name} can run"):
            ENGINES[name].plan(name, "uid", [query], **TARGET)
    with pytest.raises(InvalidParameter, match="at least one query"):
        plan("uid", [], **TARGET, discrete=True)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["pipelinedp", "opendp", "presto"])
def test_the_command(tmp_path: Path, engine: str) -> None:
    queries, out = tmp_path / "q.toml", tmp_path / f"plan{ENGINES[engine].ending}"
    queries.write_text(TOML, encoding="utf-8")
    command = ["plan", str(queries), "--epsilon", "1", "--delta", "1e-6", "--engine", engine]
    code, text, err = run(*command, "--output", str(out))
    assert (code, err) == (0, "")
    assert "less noise" in text
    assert "DP for all queries together" in text
    assert out.read_text(encoding="utf-8")
    statement = tmp_path / f"{out.name}.statement.json"
    assert run("statement", "check", str(statement))[0] == 0
    assert run(*command, "--output", str(out))[0] == 2  # exists
    code, _, err = run(*[*command[:-1], "hive"], "--output", str(tmp_path / "x.py"))
    assert (code, err.count("\n")) == (2, 1)


ROWS = [
    {"uid": u, "url": f"u{(u * 7 + i) % 40}", "country": "de", "day": u % 2, "amount": 150,
     "plan": "free" if u % 10 else "paid"}
    for u in range(1500) for i in range(12)
]  # fmt: skip


@pytest.mark.slow
def test_presto_bounds_users_before_the_noise() -> None:
    """The queries in DuckDB, with sums in place of noisy sums."""
    duckdb = pytest.importorskip("duckdb")
    pa = pytest.importorskip("pyarrow")
    release_plan = plan("uid", [URLS, DAYS, KNOWN], **TARGET, discrete=False)
    release_plan = Plan(
        "uid", release_plan.queries, release_plan.epsilon, release_plan.target, False
    )
    text = ENGINES["presto"].code(release_plan)
    rows_of_users = pa.Table.from_pylist([*ROWS, {**ROWS[12], "url": "rare"}])
    odd = {"uid": 1, "country": "xx", "day": 5, "amount": -999, "plan": "never"}
    rows_of_users = pa.concat_tables(
        [rows_of_users, pa.Table.from_pylist([odd], schema=rows_of_users.schema)]
    )
    with duckdb.connect() as connection:
        connection.register("rows_of_users", rows_of_users)
        connection.execute("CREATE MACRO noisy_sum_gaussian(x, s) AS sum(x)")
        connection.execute("CREATE MACRO is_nan(x) AS isnan(x::DOUBLE)")
        visits, days, plans = (connection.execute(part).fetchall() for part in text.split(";")[:3])
    # 1500 users, 10 of 12 keys each; a rare key is below the threshold
    assert sum(count for _, count in visits) in (14999, 15000)
    assert len(visits) == 40
    # of the sums per user and key, 150 * 12, 100 are kept
    assert sorted(days) == [("de", 0, 750, 75000), ("de", 1, 750, 75000)]
    assert sorted(plans) == [("free", 1350), ("paid", 150)]  # "never" is not on the list


def _loaded(engine: str, queries: list[Query], **target: Any) -> Any:
    """The module in the code of a plan."""
    release_plan = ENGINES[engine].plan(engine, "uid", queries, **target)
    space: dict[str, Any] = {}
    exec(compile(ENGINES[engine].code(release_plan), "plan.py", "exec"), space)  # noqa: S102
    return space


@pytest.mark.parametrize("target", [TARGET, {"epsilon": 40, "delta": "1e-6"}])
@pytest.mark.peers
def test_opendp_runs_a_plan_unchanged(target: dict[str, Any]) -> None:
    """epsilon = 40: Laplace noise. Each bound of nine scales fails with probability <= e^-9."""
    pytest.importorskip("opendp")
    space = _loaded("opendp", [URLS, DAYS, KNOWN], **target)
    results = space["run"]([*ROWS, {**ROWS[0], "uid": 1, "url": "rare"}])
    scales = {query["name"]: query["scale"] for query in space["QUERIES"]}
    assert len(results["visits"]) <= 40
    assert "rare" not in results["visits"]
    total = sum(row["count"] for row in results["visits"].values())
    assert total == pytest.approx(15000, abs=40 * 9 * (scales["visits"] + 1))
    for key in (("de", 0), ("de", 1)):
        assert abs(results["days"][key]["count"] - 750) < 9 * scales["days"] + 1
        assert abs(results["days"][key]["amount"] - 75000) < 900 * scales["days"]
    assert list(results["plans"]) == ["free", "paid"]
    assert abs(results["plans"]["free"]["count"] - 1350) < 9 * scales["plans"] + 1


@pytest.mark.parametrize("target", [TARGET, {"epsilon": 40, "delta": "1e-6"}])
@pytest.mark.peers
def test_pipelinedp_runs_a_plan_unchanged(target: dict[str, Any]) -> None:
    pytest.importorskip("pipeline_dp")
    space = _loaded("pipelinedp", [URLS, DAYS, KNOWN], **target)
    results = {name: dict(rows) for name, rows in space["run"](ROWS).items()}
    scales = {query["name"]: query["scale"] for query in space["QUERIES"]}
    assert len(results["visits"]) <= 40
    for key in (("de", 0), ("de", 1)):
        assert abs(results["days"][key]["privacy_id_count"] - 750) < 9 * scales["days"]
        assert abs(results["days"][key]["sum"] - 75000) < 900 * scales["days"]
    assert abs(results["plans"]["free"]["privacy_id_count"] - 1350) < 9 * scales["plans"]


@pytest.mark.peers
def test_pipelinedp_takes_at_least_the_certified_threshold() -> None:
    """And noise of the certified size: 4000 draws, alpha = 1e-6."""
    selection = pytest.importorskip("pydp.algorithms.partition_selection")
    space = _loaded("pipelinedp", [URLS, DAYS], epsilon=2, delta="1e-5")
    for query in space["QUERIES"]:
        epsilon, delta = query["noise"]
        strategy = selection.create_partition_strategy("gaussian", epsilon, delta, query["most"])
        assert query["above"] <= strategy.threshold + 1e-6 <= 1.003 * query["above"]
        noises = [strategy.noised_value_if_should_keep(10**6) - 10**6 for _ in range(4000)]
        spread = (sum(x * x for x in noises) / len(noises)) ** 0.5
        assert 0.94 < spread / query["scale"] < 1.06
