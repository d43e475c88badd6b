"""The engines: what each runs, the noise that each would take by itself, and what it cannot do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib.resources import files
from math import log, sqrt
from pprint import pformat
from string import Template
from typing import Any, TypeAlias

from exactdp import __version__
from exactdp.accounting import gaussian, pld, zcdp
from exactdp.balls import ball, enclosure, precision
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
from exactdp.normal import tail
from exactdp.parameters import decimal_text
from exactdp.plans.planning import Plan, PlannedQuery, Split, plan
from exactdp.plans.queries import Query

__all__ = ["ENGINES", "Engine", "noise_of"]

Made: TypeAlias = Plan | Split

_BITS = 128


@dataclass(frozen=True)
class Engine:
    """ending: of the file of code. code: writes it. gaussian: whether its Gaussian noise is
    "discrete" or "continuous", or None. laplace: whether it draws Laplace noise. own: the standard
    deviation of Gaussian noise if the engine splits epsilon and delta by itself. refuses: what it
    cannot run of a query, or an empty text.
    """

    ending: str
    code: Callable[[Any], str]
    gaussian: str | None
    laplace: bool
    own: Callable[[Made, Query], float] | None = None
    refuses: Callable[[Query], str] = lambda _: ""

    def plan(self, name: str, user: str, queries: Sequence[Query], **target: Any) -> Made:
        """The plan with the less noise for this engine, in the geometric mean over queries.

        Raises InvalidParameter for queries that it cannot run.
        """
        for query in queries:
            if reason := self.refuses(query):
                raise InvalidParameter(f"query {query.name}", reason, f"one that {name} can run")
        made: list[Made] = []
        if self.gaussian is not None:
            made.append(plan(user, queries, discrete=self.gaussian == "discrete", **target))
        if self.laplace:
            made.append(Split.of(user, queries, **target))
        return min(made, key=lambda each: sum(log(noise_of(each, query)) for query in queries))

    def alone(self, made: Made, query: Query) -> float:
        """The least standard deviation of the noise on a count without the plan."""
        found = [] if self.own is None else [self.own(made, query)]
        if self.laplace:
            found.append(2**0.5 * query.moved * len(made.queries) / float(made.epsilon))
        return min(found)


def noise_of(made: Made, query: Query) -> float:
    """The standard deviation of the noise on a count of a query, by a plan."""
    if isinstance(made, Split):
        return 2**0.5 * float(made.scale(query))
    return next(float(each.sigma) for each in made.queries if each.query is query)


def _python(template: str, made: Made, queries: list[dict[str, Any]]) -> str:
    """The code of a template with the numbers of a plan."""
    text = files("exactdp.plans").joinpath(f"templates/{template}.py.txt").read_text()
    promise = f"({decimal_text(made.epsilon)}, {made.delta.decimal_upper(6)})-DP"
    return Template(text).substitute(
        title=f"{promise} for all queries together.",
        version=__version__,
        user=repr(made.user),
        noise="laplace" if isinstance(made, Split) else "gaussian",
        queries=pformat(queries, width=98, sort_dicts=False),
    )


def _fields(made: Made) -> list[dict[str, Any]]:
    """The queries of a plan, with doubles that are exactly its numbers, or at least as large.

    scale: of the noise on a count, for Gaussian noise its standard deviation.
    """
    found = []
    for each in made.queries:
        query = each.query if isinstance(each, PlannedQuery) else each
        if isinstance(each, PlannedQuery):
            scale, above = float(each.sigma), each.above
        else:
            assert isinstance(made, Split)
            scale = Enclosure.exact(made.scale(query)).float_upper()
            above = _laplace_limit(made, query)
        found.append(
            {
                "name": query.name,
                "by": list(query.by),
                "k": query.k,
                "most": query.most,
                "keys": None if query.keys is None else list(query.keys),
                "sums": dict(query.sums),
                "scale": scale,
                "above": None if above is None else float(above),
            }
        )
    return found


def _laplace_limit(made: Split, query: Query) -> Fraction | None:
    """The limit above which none of a user's new keys is released, but for part_delta."""
    if query.keys is not None:
        return None
    with precision(_BITS):
        scale, part = ball(made.scale(query)), ball(made.part_delta)
        # P(Laplace > t) <= e^(-t/scale), for integers and for real numbers
        return Fraction(2 + int((scale * (query.most / part).log()).upper().ceil().fmpz()))


def _pipelinedp(made: Made) -> str:
    """PipelineDP computes noise and threshold of an aggregation from an epsilon and a delta."""
    queries = _fields(made)
    for each, fields in zip(made.queries, queries, strict=True):
        if isinstance(made, Split):
            parts = 1 + len(fields["sums"])
            fields["noise"] = [float(made.part_epsilon) / parts, float(made.part_delta)]
        elif isinstance(each, PlannedQuery) and each.above is not None:
            with precision(_BITS):
                shown = tail(ball((each.above - 1) / each.sigma))
                hidden = enclosure(-(each.query.most * (-shown).log1p()).expm1()).lower
            noise = pld.gaussian(sigma=each.sigma).composed(each.query.most)
            fields["noise"] = [noise.epsilon(hidden).float_lower(), 2 * float(hidden)]
    return _python("pipelinedp", made, queries)


def _opendp(made: Made) -> str:
    return _python("opendp", made, _fields(made))


def _tumult(made: Made) -> str:
    """Parts of the budget: rho for noise of this standard deviation, or epsilon."""
    queries = _fields(made)
    for fields in queries:
        rho = fields["most"] / (2 * fields["scale"] ** 2)
        fields["part"] = float(made.part_epsilon) if isinstance(made, Split) else rho
    return _python("tumult", made, queries)


def _presto(made: Plan) -> str:
    return _sql(made, [_presto_query(made.user, each) for each in made.queries])


def _presto_query(user: str, each: PlannedQuery) -> str:
    """Users are bounded before the noise. A noisy function of no rows is NULL, which tells without
    noise that there are none: so every public key has a row of zeros."""
    query, sigma = each.query, float(each.sigma)
    person, by = _name(user), ", ".join(map(_name, query.by))
    sums = {_name(column): limit for column, limit in query.sums.items()}
    clipped = "".join(
        f", greatest(-{n}, least({n}, coalesce(sum({c}), 0))) AS {c}" for c, n in sums.items()
    )
    noisy = "".join(f", noisy_sum_gaussian({c}, {sigma * n}) AS {c}" for c, n in sums.items())
    given = " AND ".join(f"{column} IS NOT NULL" for column in (person, *by.split(", ")))
    counted = f"SELECT {by}, 1 AS one{''.join(f', {c}' for c in sums)} FROM kept"
    public, shown = "", f' WHERE "count" > {float(each.above or 0)}'
    if query.keys is not None:
        rows = ", ".join(_row(key) for key in query.keys)
        public, shown = f"public_keys ({by}) AS (VALUES {rows}),\n", ""
        given += f" AND ({by}) IN (SELECT {by} FROM public_keys)"
        counted += f" UNION ALL SELECT {by}, 0{', 0' * len(sums)} FROM public_keys"
    return f"""-- {query.name}
WITH {public}pairs AS (
  SELECT {person}, {by}{clipped} FROM rows_of_users WHERE {given} GROUP BY {person}, {by}
),
numbered AS (
  SELECT *, row_number() OVER (PARTITION BY {person} ORDER BY random()) AS place FROM pairs
),
kept AS (SELECT * FROM numbered WHERE place <= {query.k}),
counted AS ({counted}),
noisy AS (
  SELECT {by}, noisy_sum_gaussian(one, {sigma}) AS "count"{noisy} FROM counted GROUP BY {by}
)
SELECT * FROM noisy{shown};"""


def _bigquery(made: Split) -> str:
    parts = f"epsilon = {float(made.part_epsilon)}, delta = {float(made.part_delta)}"

    def code(query: Query) -> str:
        by = ", ".join(f"`{column}`" for column in query.by)
        sums = "".join(
            f",\n  SUM(`{c}`, contribution_bounds_per_group => (-{n}, {n})) AS `{c}`"
            for c, n in query.sums.items()
        )
        return f"""-- {query.name}
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (
  {parts}, max_groups_contributed = {query.k}, privacy_unit_column = `{made.user}`
)
  {by},
  COUNT(*, contribution_bounds_per_group => (0, 1)) AS `count`{sums}
FROM rows_of_users
GROUP BY {by};"""

    return _sql(made, map(code, made.queries))


def _sql(made: Made, queries: Iterable[str]) -> str:
    promise = f"({decimal_text(made.epsilon)}, {made.delta.decimal_upper(6)})-DP"
    head = (
        f"-- {promise} for all queries together, each run once. Made by exactdp {__version__}.\n"
        "-- rows_of_users: the table of rows, which counts a user once per key.\n"
    )
    return head + "\n" + "\n\n".join(queries) + "\n"


def _name(column: str) -> str:
    return f'"{column}"'


def _row(key: Any) -> str:
    parts = key if isinstance(key, tuple) else (key,)
    texts = [str(x) if isinstance(x, int) else "'" + x.replace("'", "''") + "'" for x in parts]
    return f"({', '.join(texts)})"


def _share(made: Made, query: Query) -> tuple[Fraction, Fraction]:
    """Equal parts of epsilon and delta for all noise; half of delta is for a threshold."""
    queries = [each.query if isinstance(each, PlannedQuery) else each for each in made.queries]
    parts = sum(1 + len(each.sums) for each in queries)
    return made.epsilon / parts, made.target / parts / (1 if query.keys is not None else 2)


def _gaussian(made: Made, query: Query) -> float:
    epsilon, delta = _share(made, query)
    own = gaussian.calibrate(epsilon=epsilon, delta=delta, resolution="1e-4").sigma
    return float(own) * sqrt(query.most)


def _zcdp(made: Made, query: Query) -> float:
    """By the conversion from zero-concentrated DP."""
    epsilon, delta = _share(made, query)
    rho = zcdp.rho(epsilon=epsilon, delta=delta).lower
    return sqrt(query.most / (2 * rho))


def _one_sum(query: Query) -> str:
    return "sums of several columns" if len(query.sums) > 1 else ""


def _unknown_only(query: Query) -> str:
    return "" if query.keys is None else "a public list of keys"


def _known_counts(query: Query) -> str:
    if query.keys is None or len(query.by) > 1:
        return "keys that are unknown or of several columns"
    return "sums" if query.sums else ""


ENGINES: Mapping[str, Engine] = {
    "pipelinedp": Engine(".py", _pipelinedp, "continuous", True, _gaussian, _one_sum),
    "opendp": Engine(".py", _opendp, "discrete", True, _zcdp),
    "presto": Engine(".sql", _presto, "continuous", False, _gaussian),
    "bigquery": Engine(".sql", _bigquery, None, True, None, _unknown_only),
    "tumult": Engine(".py", _tumult, "discrete", True, None, _known_counts),
}
