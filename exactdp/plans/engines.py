"""The engines: what each runs, the noise that each would take by itself, and what it cannot do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from importlib.resources import files
from math import inf, log, sqrt
from pprint import pformat
from string import Template
from typing import Any, TypeAlias

from exactdp import __version__
from exactdp.accounting import gaussian, pld, zcdp
from exactdp.balls import enclosure, precision
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter, Undecided
from exactdp.parameters import Real, decimal_text, delta_target, positive
from exactdp.plans.noise import PlannedQuery
from exactdp.plans.planning import Plan, expected_noise, likely_kinds, plan
from exactdp.plans.queries import Query
from exactdp.plans.splitting import Split

AnyPlan: TypeAlias = Plan | Split

_BITS = 128

#: A plan whose ln(noise) is expected to be larger by this number per query (3 %) is not tried.
_WORSE = 0.03


@dataclass(frozen=True)
class Engine:
    """ending: of the file of code. code: writes it. gaussian: whether its Gaussian noise is
    "discrete" or "continuous"; None if it takes an epsilon for each query. laplace: whether it
    draws Laplace noise for "each" query that asks for it, for "all" or none, or never. own: the
    standard deviation of its Gaussian noise for an epsilon and a delta. refuses: what it cannot run
    of a query, or an empty text.
    """

    ending: str
    code: Callable[[Any], str]
    gaussian: str | None
    laplace: str
    own: Callable[[Fraction, Fraction], float] | None = None
    refuses: Callable[[Query], str] = lambda _: ""

    def plan(
        self, name: str, user: str, queries: Sequence[Query], *, epsilon: Real, delta: Real
    ) -> AnyPlan:
        """The plan with the least noise in the geometric mean over queries, among those in which no
        query has more noise than by itself (see :meth:`alone`).

        Raises InvalidParameter for queries that the engine cannot run, and Undecided.
        """
        for query in queries:
            if reason := self.refuses(query):
                raise InvalidParameter(f"query {query.name}", reason, f"one that {name} can run")
        target = {"epsilon": epsilon, "delta": delta}
        if self.gaussian is None or not queries:
            return Split.of(user, queries, **target)
        discrete, own = self.gaussian == "discrete", self.alone(queries, **target)
        candidates: list[tuple[float, Plan]] = []
        expected = {
            kinds: expected_noise(queries, kinds, own, **target)
            for kinds in self._candidates(queries, **target)
        }
        for kinds, guess in sorted(expected.items(), key=lambda each: each[1]):
            if candidates and guess > min(expected.values()) + _WORSE * len(queries):
                break  # and certifying many Laplace noises together takes long
            with suppress(Undecided):
                candidate = plan(
                    user, queries, **target, discrete=discrete, laplace=kinds, most=own
                )
                ratios = [n.deviation / o for n, o in zip(candidate.queries, own, strict=True)]
                candidates.append((sum(map(log, ratios)), candidate))
        if not candidates:
            raise Undecided("no noise was certified for this target: try a larger epsilon or delta")
        return min(candidates, key=lambda each: each[0])[1]

    def alone(self, queries: Sequence[Query], *, epsilon: Real, delta: Real) -> list[float]:
        """The least standard deviation of the noise on a count of each query, if every count and
        every sum gets the same part of epsilon and delta, and thresholds half of their delta."""
        return [min(pair) for pair in self._own(queries, epsilon, delta)]

    def _own(
        self, queries: Sequence[Query], epsilon: Real, delta: Real
    ) -> list[tuple[float, float]]:
        """For each query, the least standard deviations of :meth:`alone` by Gaussian and by Laplace
        noise."""
        parts = sum(query.parts for query in queries)
        loss, share = positive("epsilon", epsilon) / parts, delta_target("delta", delta) / parts
        normal = {each: self.own(loss, share / each) if self.own else inf for each in (1, 2)}
        laplace = sqrt(2) / float(loss) if self.laplace else inf
        return [
            (normal[1 + (query.keys is None)] * sqrt(query.most), laplace * query.most)
            for query in queries
        ]

    def _candidates(
        self, queries: Sequence[Query], epsilon: Real, delta: Real
    ) -> dict[tuple[bool, ...], None]:
        """Which queries have Laplace noise, in each plan that is tried."""
        pairs, size = self._own(queries, epsilon, delta), len(queries)
        kinds = dict.fromkeys([(False,) * size, *[(True,) * size] * bool(self.laplace)])
        if self.laplace == "each":
            kinds[tuple(second < first for first, second in pairs)] = None  # the engine's own
            kinds[likely_kinds(queries, list(map(min, pairs)), epsilon, delta)] = None
        return kinds


def _python(template: str, noise_plan: AnyPlan, queries: list[dict[str, Any]], **more: str) -> str:
    """The code of a template with the numbers of a plan."""
    templates = files("exactdp.plans").joinpath("templates")
    text = templates.joinpath(f"{template}.py.txt").read_text(encoding="utf-8")
    promise = f"({decimal_text(noise_plan.epsilon)}, {noise_plan.delta.decimal_upper(6)})-DP"
    return Template(text).substitute(
        title=f"{promise} for all queries together.",
        version=__version__,
        user=repr(noise_plan.user),
        queries=pformat(queries, width=98, sort_dicts=False),
        reading=templates.joinpath("reading.py.txt").read_text(encoding="utf-8"),
        **more,
    )


def _fields(noise_plan: Plan) -> list[dict[str, Any]]:
    """The queries of a plan, with doubles that are exactly its numbers."""
    return [
        {
            "name": each.query.name,
            "by": list(each.query.by),
            "k": each.query.k,
            "most": each.query.most,
            "keys": None if each.query.keys is None else list(each.query.keys),
            "sums": dict(each.query.sums),
            "kind": "laplace" if each.laplace else "gaussian",
            "scale": float(each.scale),
            "above": None if each.above is None else float(each.above),
        }
        for each in noise_plan.queries
    ]


def _pipelinedp(noise_plan: Plan) -> str:
    """PipelineDP computes noise and threshold of an aggregation from an epsilon and a delta."""
    queries = _fields(noise_plan)
    for each, fields in zip(noise_plan.queries, queries, strict=True):
        with precision(_BITS):
            hidden = enclosure(-(-each.rate(discrete=False)).expm1()).lower
        if each.laplace:
            noise = Enclosure.exact(each.query.most / each.scale).float_lower()
            fields["noise"] = [noise, Enclosure.exact(hidden).float_lower()]
        elif each.above is not None:
            loss = pld.gaussian(sigma=each.scale).composed(each.query.most)
            fields["noise"] = [loss.epsilon(hidden).float_lower(), 2 * float(hidden)]
    return _python("pipelinedp", noise_plan, queries)


def _opendp(noise_plan: Plan) -> str:
    return _python("opendp", noise_plan, _fields(noise_plan))


def _tumult(noise_plan: Plan) -> str:
    """Tumult takes parts of a budget: the rho of Gaussian noise, or the epsilon of Laplace
    noise."""
    queries = _fields(noise_plan)
    for each, fields in zip(noise_plan.queries, queries, strict=True):
        most, scale = each.query.most, each.scale
        part = most / scale if each.laplace else most / (2 * scale**2)
        fields["part"] = Enclosure.exact(part).float_lower()
    budget = "PureDPBudget" if noise_plan.queries[0].laplace else "RhoZCDPBudget"
    return _python("tumult", noise_plan, queries, budget=budget)


def _presto(noise_plan: Plan) -> str:
    return _sql(noise_plan, [_presto_query(noise_plan.user, each) for each in noise_plan.queries])


def _presto_query(user: str, each: PlannedQuery) -> str:
    """Users are bounded before the noise. A noisy function of no rows is NULL, which tells without
    noise that there are none: so every public key has a row of zeros."""
    query, sigma = each.query, float(each.scale)
    person, columns = _name(user), [_name(column) for column in query.by]
    by = ", ".join(columns)
    sums = {_name(column): limit for column, limit in query.sums.items()}
    clipped = "".join(
        f", greatest(-{n}, least({n}, sum({_clipped(c, n, 'BIGINT')}))) AS {c}"
        for c, n in sums.items()
    )
    noisy = "".join(f", noisy_sum_gaussian({c}, {sigma * n}) AS {c}" for c, n in sums.items())
    condition = " AND ".join(
        f"{column} IS NOT NULL AND lower(typeof({column})) NOT IN ('double', 'real', 'float')"
        for column in (person, *columns)
    )
    counted = f"SELECT {by}, 1 AS one{''.join(f', {c}' for c in sums)} FROM kept"
    public, threshold = "", f' WHERE "count" > {float(each.above or 0)}'
    if query.keys is not None:
        rows = ", ".join(_row(key) for key in query.keys)
        public, threshold = f"public_keys ({by}) AS (VALUES {rows}),\n", ""
        condition += f" AND ({by}) IN (SELECT {by} FROM public_keys)"
        counted += f" UNION ALL SELECT {by}, 0{', 0' * len(sums)} FROM public_keys"
    return f"""-- {query.name}
WITH {public}pairs AS (
  SELECT {person}, {by}{clipped} FROM rows_of_users WHERE {condition} GROUP BY {person}, {by}
),
numbered AS (
  SELECT *, row_number() OVER (PARTITION BY {person} ORDER BY random()) AS place FROM pairs
),
kept AS (SELECT * FROM numbered WHERE place <= {query.k}),
counted AS ({counted}),
noisy AS (
  SELECT {by}, noisy_sum_gaussian(one, {sigma}) AS "count"{noisy} FROM counted GROUP BY {by}
)
SELECT * FROM noisy{threshold} ORDER BY {by};"""


def _clipped(column: str, limit: int, kind: str) -> str:
    """SQL: the value of a row, rounded to an integer within the limit; 0 if missing or NaN."""
    clipped = f"CAST(round(greatest(-{limit}, least({limit}, {column}))) AS {kind})"
    return f"CASE WHEN {column} IS NULL OR is_nan({column}) THEN 0 ELSE {clipped} END"


def _bigquery(split: Split) -> str:
    """Users and keys become texts without a collation, which would take two spellings for one."""

    def code(query: Query) -> str:
        loss = Enclosure.exact(split.epsilon_of(query)).float_lower()
        failures = Enclosure.exact(split.part_delta).float_lower()
        names = [f"`{column}`" for column in (split.user, *query.by)]
        by = ", ".join(names[1:])
        plain = ", ".join(f"COLLATE(CAST({name} AS STRING), '') AS {name}" for name in names)
        condition = " AND ".join(f"{name} IS NOT NULL" for name in names)
        values = "".join(
            f", {_clipped(f'`{c}`', n, 'INT64')} AS `{c}`" for c, n in query.sums.items()
        )
        sums = "".join(
            f",\n  SUM(`{c}`, contribution_bounds_per_group => (-{n}, {n})) AS `{c}`"
            for c, n in query.sums.items()
        )
        return f"""-- {query.name}
WITH texts AS (
  SELECT {plain}{values}
  FROM rows_of_users WHERE {condition}
)
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (
  epsilon = {loss}, delta = {failures},
  max_groups_contributed = {query.k}, privacy_unit_column = `{split.user}`
)
  {by},
  COUNT(*, contribution_bounds_per_group => (0, 1)) AS `count`{sums}
FROM texts
GROUP BY {by}
ORDER BY {by};"""

    return _sql(split, map(code, split.queries))


def _sql(noise_plan: AnyPlan, queries: Iterable[str]) -> str:
    promise = f"({decimal_text(noise_plan.epsilon)}, {noise_plan.delta.decimal_upper(6)})-DP"
    head = (
        f"-- {promise} for all queries together, each run once. Made by exactdp {__version__}.\n"
        "-- rows_of_users: the table of rows, which counts a user once per key. Users and keys\n"
        "-- are integers, texts or dates. Values are rounded to integers, and missing ones are 0.\n"
    )
    return head + "\n" + "\n\n".join(queries) + "\n"


def _name(column: str) -> str:
    return f'"{column}"'


def _row(key: Any) -> str:
    parts = key if isinstance(key, tuple) else (key,)
    texts = [str(x) if isinstance(x, int) else "'" + x.replace("'", "''") + "'" for x in parts]
    return f"({', '.join(texts)})"


def _gaussian(epsilon: Fraction, delta: Fraction) -> float:
    return float(gaussian.calibrate(epsilon=epsilon, delta=delta, resolution="1e-4").sigma)


def _zcdp(epsilon: Fraction, delta: Fraction) -> float:
    """The standard deviation of Gaussian noise, by the conversion from zero-concentrated DP."""
    return sqrt(1 / (2 * float(zcdp.rho(epsilon=epsilon, delta=delta).lower)))


def _one_sum(query: Query) -> str:
    return "sums of several columns" if len(query.sums) > 1 else ""


def _unknown_only(query: Query) -> str:
    return "" if query.keys is None else "a public list of keys"


def _known_counts(query: Query) -> str:
    if query.keys is None or len(query.by) > 1:
        return "keys that are unknown or of several columns"
    return "sums" if query.sums else ""


ENGINES: Mapping[str, Engine] = {
    "pipelinedp": Engine(".py", _pipelinedp, "continuous", "each", _gaussian, _one_sum),
    "opendp": Engine(".py", _opendp, "discrete", "each", _zcdp),
    "presto": Engine(".sql", _presto, "continuous", "", _gaussian),
    "bigquery": Engine(".sql", _bigquery, None, "all", None, _unknown_only),
    "tumult": Engine(".py", _tumult, "discrete", "all", None, _known_counts),
}
