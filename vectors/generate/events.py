"""Vectors for sequences of different mechanisms, each with a count."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from math import comb
from typing import Any

from mpmath import mp, mpf

from vectors.generate.common import Bounds, Group, Recipe, both_ways, bracket, number
from vectors.generate.contour import Lattice, Rule, Rules, composed, solved
from vectors.generate.rules import (
    discrete_gaussian,
    discrete_laplace,
    gaussian,
    laplace,
    pair,
)
from vectors.generate.shares import in_integers, on_lattice

_DIGITS = 75

#: A mechanism: its name, its parameters and how often it runs.
_Event = dict[str, str]


def _rule(event: _Event, order: str, level: int) -> Rule:
    """The law of the finite losses of one run, at this level or finer."""
    kind, rate = event["mechanism"], number(event.get("rate", "1"))
    if kind in ("gaussian", "gaussian-mixture"):
        return gaussian(*pair(_shifts(event), rate, order), level // 2)
    if kind == "laplace":
        return laplace(*pair([(mpf(1), 1 / number(event["scale"]))], rate, order), level // 2)
    if kind == "discrete-laplace":
        shift = int(event["sensitivity"])
        return discrete_laplace(number(event["epsilon"]) / shift, shift)
    if kind == "discrete-gaussian":
        return discrete_gaussian(number(event["sigma2"]))
    return _answers(event)


def _shifts(event: _Event) -> list[tuple[mpf, mpf]]:
    """Pairs of a weight and a shift, the shift in standard deviations of the noise."""
    if event["mechanism"] == "gaussian":
        return [(mpf(1), 1 / number(event["sigma"]))]
    weights, lengths = (event[name].split() for name in ("weights", "sensitivities"))
    return [
        (number(w), number(s) / number(event["sigma"]))
        for w, s in zip(weights, lengths, strict=True)
    ]


def _answers(event: _Event) -> Rule:
    """The loss of randomised response, or the worst loss under a promise of epsilon and delta."""
    if event["mechanism"] == "approximate":
        loss, part = number(event["epsilon"]), 1 - number(event["delta"])
        own = part / (1 + mp.exp(-loss))
        return [(loss, own), (-loss, part - own)]
    others = number(event["noise"]) / int(event["answers"])
    own = 1 - number(event["noise"]) + others
    loss = mp.log(own / others)
    return [(loss, own), (mpf(0), 1 - own - others), (-loss, others)]


def _lattice(events: list[_Event]) -> Lattice | None:
    """The lattice of the sum of losses, for one mechanism on integers; else None."""
    if len(events) > 1 or events[0]["mechanism"] in ("gaussian", "gaussian-mixture", "laplace"):
        return None
    event, times = events[0], int(events[0]["count"])
    if event["mechanism"] == "discrete-gaussian":
        gap = 1 / number(event["sigma2"])
        return Lattice(times * gap / 2, gap)
    if event["mechanism"] == "discrete-laplace":
        gap = 2 * number(event["epsilon"]) / int(event["sensitivity"])
        return Lattice(times * number(event["epsilon"]), gap)
    gap = _answers(event)[0][0]
    return Lattice(mpf(0), gap)


def _infinite(events: list[_Event]) -> mpf:
    """The probability that some loss is infinite."""
    promised = [e for e in events if e["mechanism"] == "approximate"]
    kept = mp.fsum(int(e["count"]) * mp.log1p(-number(e["delta"])) for e in promised)
    return -mp.expm1(kept)


def _orders(events: list[_Event], neighbours: str) -> Iterator[Rules]:
    def rules(order: str, level: int) -> list[tuple[Rule, int]]:
        return [(_rule(event, order, level), int(event["count"])) for event in events]

    for order in ("replace",) if neighbours == "replace-one" else ("remove", "add"):
        yield partial(rules, order)


def _delta(events: str, neighbours: str, epsilon: str) -> Bounds:
    """delta, the larger one of both orders."""
    parts = json.loads(events)
    with mp.workdps(_DIGITS):
        lattice, at, deltas = _lattice(parts), number(epsilon), []
        for rules in _orders(parts, neighbours):
            on, value = composed(rules, at, lattice)
            deltas.append((value, on, rules))
        value, on, rules = max(deltas, key=lambda each: each[0])
        if lattice is not None:
            second = [(on_lattice(rules, at, value, lattice.gap / 2), "1e-9")]
        else:  # atoms off the grid make it less near than it says
            second = [(other, "1e-3") for other, _ in in_integers(rules, at, on.theta, value)]
        more = _infinite(parts)
        return bracket(value + more, *((v + more, near) for v, near in second), most=1)


def _epsilon(events: str, neighbours: str, delta: str) -> Bounds:
    """The least epsilon at delta, which is the larger one of both orders."""
    parts = json.loads(events)
    with mp.workdps(_DIGITS):
        target = number(delta) - _infinite(parts)
        solutions = [solved(rules, target) for rules in _orders(parts, neighbours)]
        on, epsilon = max(solutions, key=lambda each: each[1])
        ends = bracket(epsilon)
        if not on.delta(number(ends[0])) > target >= on.delta(number(ends[1])):
            raise ArithmeticError("the ends of the bracket do not answer differently")
        return ends


def _event(mechanism: str, count: int, **parameters: str) -> _Event:
    return {"mechanism": mechanism, "count": str(count), **parameters}


def _group(size: int, rate: str, sigma: str, count: int) -> _Event:
    """Several users, each on the sample with probability rate, a binary fraction."""
    q = number(rate)
    weights = [comb(size, j) * q**j * (1 - q) ** (size - j) for j in range(size + 1)]
    return _event(
        "gaussian-mixture",
        count,
        sigma=sigma,
        sensitivities=" ".join(map(str, range(size + 1))),
        weights=" ".join(mp.nstr(w, 30) for w in weights),
    )


_AR, _RO = "add-remove", "replace-one"
_WARM = _event("gaussian", 1000, sigma="1", rate="0.01")
_TUNED = _event("gaussian", 500, sigma="2", rate="0.0625")
_QUERIES = _event("laplace", 10, scale="16")
_COUNTS = _event("discrete-gaussian", 20, sigma2="400")
_COIN = _event("randomized-response", 100, noise="0.5", answers="2")
_POLL = _event("randomized-response", 64, noise="0.75", answers="8")
_PROMISE = _event("approximate", 10, epsilon="0.125", delta="1e-7")
_HISTOGRAM = _event("discrete-laplace", 1000, epsilon="0.125", sensitivity="4")
_PAIR = _group(2, "0.125", "4", 200)
_SEVERAL = _group(4, "0.0625", "8", 1000)
_SOME = _event("laplace", 100, scale="4", rate="0.125")
_REPORT = _event("gaussian", 1, sigma="8")
_QUICK = _event("gaussian", 1, sigma="2")

DELTAS = [
    # events, neighbours, epsilon, comment, flags
    ([_event("gaussian", 100, sigma="16")], _AR, "2", "one Gaussian, a hundred times", "Count"),
    ([_event("gaussian", 9, sigma="8")], _RO, "3", "Gaussians, replaced", "Count Relation"),
    ([_COIN], _RO, "60", "a hundred answers", "Count Relation"),
    ([_COIN], _RO, "100", "a hundred answers, far out", "Count Relation"),
    ([_POLL], _RO, "30", "eight possible answers", "Count Relation"),
    ([_HISTOGRAM], _AR, "12", "a thousand on integers", "Count ManyCompositions"),
    ([_HISTOGRAM], _AR, "60", "on integers, far out", "Count ManyCompositions TinyDelta"),
    ([_COUNTS], _AR, "1", "discrete Gaussians", "Count"),
    ([_event("discrete-gaussian", 1000, sigma2="100")], _AR, "30", "far out", "Count SmallDelta"),
    ([_PAIR], _AR, "4", "two users on samples", "Count Group"),
    ([_SEVERAL], _AR, "5", "four users on samples", "Count Group"),
    ([_WARM, _TUNED], _AR, "4", "two phases of training", "Count SeveralKinds"),
    ([_WARM, _TUNED], _RO, "6", "the same, replaced", "Count SeveralKinds Relation"),
    ([_SOME, _QUICK], _AR, "4", "sampled queries, a report", "Count SeveralKinds"),
    ([_REPORT, _PROMISE], _AR, "1", "a report, promises", "Count SeveralKinds ApproximateParts"),
    ([_TUNED, _POLL], _RO, "20", "training and a poll", "Count SeveralKinds Relation"),
    ([_WARM, _QUERIES, _PAIR, _COUNTS], _AR, "6", "four kinds", "Count SeveralKinds"),
]

EPSILONS = [
    # events, neighbours, delta, comment, flags
    ([_event("gaussian", 100, sigma="16")], _AR, "1e-5", "Gaussians", "Count"),
    ([_WARM, _TUNED], _AR, "1e-6", "two phases of training", "Count SeveralKinds"),
    ([_REPORT, _PROMISE], _AR, "1e-5", "promises", "Count SeveralKinds ApproximateParts"),
    ([_TUNED, _POLL], _RO, "1e-9", "training and a poll", "Count SeveralKinds Relation"),
    ([_SEVERAL], _AR, "1e-10", "four users on samples", "Count Group"),
]


def _recipes() -> list[Recipe]:
    def written(table: Iterable[Sequence[Any]]) -> list[list[str]]:
        return [[json.dumps(events), *rest] for events, *rest in table]

    names = ("events", "neighbours")
    return both_ways(names, _delta, written(DELTAS), _epsilon, written(EPSILONS))


GROUP = Group(
    name="events",
    description="A sequence of mechanisms, `events`: a JSON list, every entry a mechanism that "
    "runs `count` times, on a Poisson sample if there is a `rate`. gaussian (noise of deviation "
    "`sigma`, sensitivity 1); gaussian-mixture (the same noise; what the user adds has size "
    "sensitivities[i] with probability weights[i]); laplace (`scale`, sensitivity 1); "
    "discrete-laplace (P(z) proportional to exp(-|z| epsilon/sensitivity) on the integers, "
    "moved by "
    "`sensitivity`); discrete-gaussian (P(z) proportional to exp(-z^2/(2 sigma2)), moved by 1); "
    "randomized-response (with probability `noise` a uniform one of all `answers` values, the own "
    "one among them; else the own one); approximate (any mechanism with that `epsilon` and "
    "`delta`).",
    questions={
        "delta": "the least delta at epsilon for all of them together, the larger one of both "
        "orders",
        "epsilon": "the least epsilon >= 0 at delta",
    },
    source="Kairouz, Oh, Viswanath 2015; Zhu, Dong, Wang 2022; Lebeda et al. 2024",
    methods=(
        "the integral of the product of the transforms of all losses, to their counts, along a "
        "line in the complex plane, on two lines, agreeing to 1e-43; over a period on a lattice",
        "the same by integers: on the lattice, agreeing to 1e-9, else on grids, where at most "
        "300000 nodes suffice, agreeing to 1e-3",
        "epsilon: Newton's method along such a line; both ends checked",
    ),
    recipes=_recipes,
)
