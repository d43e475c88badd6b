"""Vectors for local randomizers: the law of what one user sends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations, product

from mpmath import mp, mpf

from vectors.generate import fake_data
from vectors.generate.common import Bounds, Group, Recipe, bracket, number, settled

Law = dict[str, mpf]


def _randomized_response(value: int, k: str, budget: str) -> Law:
    weights = {str(x): mp.exp(number(budget)) if x == value else mpf(1) for x in range(int(k))}
    return _normalized(weights)


def _bits(value: int, k: int, one: Callable[[bool], mpf]) -> Law:
    """Independent bits. one: the chance of a 1, by whether the bit is the user's."""
    law = {"": mpf(1)}
    for x in range(k):
        chance = one(x == value)
        law = {
            text + bit: weight * (chance if bit == "1" else 1 - chance)
            for text, weight in law.items()
            for bit in "01"
        }
    return law


def _unary(value: int, k: str, budget: str) -> Law:
    return _bits(value, int(k), lambda own: mpf(1) / (2 if own else mp.exp(number(budget)) + 1))


def _rappor(value: int, k: str, f: str) -> Law:
    half = number(f) / 2
    return _bits(value, int(k), lambda own: 1 - half if own else half)


def _subset(value: int, k: str, budget: str, size: str) -> Law:
    return _normalized(
        {
            " ".join(map(str, chosen)): mp.exp(number(budget)) if value in chosen else mpf(1)
            for chosen in combinations(range(int(k)), int(size))
        }
    )


def _hadamard(value: int, k: str, budget: str) -> Law:
    matrix = [[1]]
    while len(matrix) <= int(k):  # Sylvester's construction
        matrix = [row + row for row in matrix] + [row + [-x for x in row] for row in matrix]
    row = matrix[value + 1]
    weights = {str(y): mp.exp(number(budget)) if x > 0 else mpf(1) for y, x in enumerate(row)}
    return _normalized(weights)


def _normalized(weights: Law) -> Law:
    total = mp.fsum(weights.values())
    return {report: weight / total for report, weight in weights.items()}


_LAWS: dict[str, Callable[..., Law]] = {
    "randomized_response": _randomized_response,
    "unary": _unary,
    "rappor": _rappor,
    "subset": _subset,
    "hadamard": _hadamard,
}


def _law(mechanism: str, value: tuple[int, ...], parameters: dict[str, str]) -> Law:
    if mechanism in fake_data.KINDS:
        return fake_data.fake_data(mechanism, value, **parameters)
    return _LAWS[mechanism](*value, **parameters)


def _pmf(mechanism: str, value: str, report: str, **parameters: str) -> Bounds:
    values = tuple(map(int, value.split()))
    mass = settled(lambda: _law(mechanism, values, parameters)[report])
    with mp.workdps(90):
        law = _law(mechanism, values, parameters)
        other = 1 - mp.fsum(weight for text, weight in law.items() if text != report)
    return bracket(mass, (other, "1e-40"), most=1)


def _delta(mechanism: str, epsilon: str, **parameters: str) -> Bounds:
    values = list(
        product(range(int(parameters["k"])), repeat=int(parameters.get("attributes", "1")))
    )

    def gap(parts: Callable[[Law, Law, mpf], mpf]) -> mpf:
        laws = [_law(mechanism, value, parameters) for value in values]
        return max(parts(p, q, mp.exp(number(epsilon))) for p, q in product(laws, repeat=2))

    def excess(p: Law, q: Law, e: mpf) -> mpf:
        return mp.fsum(max(p[y] - e * q[y], mpf(0)) for y in p)

    def missing(p: Law, q: Law, e: mpf) -> mpf:
        return 1 - mp.fsum(min(p[y], e * q[y]) for y in p)

    if "attributes" in parameters:
        if mp.exp(number(epsilon)) >= fake_data.amplified(
            parameters["attributes"], parameters["budget"]
        ):
            return "0", "0"
    elif "budget" in parameters and number(epsilon) >= number(parameters["budget"]):
        return "0", "0"
    with mp.workdps(90):
        other = gap(missing)
    return bracket(settled(lambda: gap(excess)), (other, "1e-40"), most=1)


PMFS = [
    # mechanism, parameters, value, reports, comment, flags
    ("randomized_response", {"k": "4", "budget": "1"}, "2", "0 2", "k-ary", "Ordinary"),
    ("randomized_response", {"k": "2", "budget": "0.5"}, "0", "0 1", "Warner's", "Ordinary"),
    ("randomized_response", {"k": "5", "budget": "8"}, "4", "3 4", "a lie is rare", "LargeBudget"),
    ("unary", {"k": "3", "budget": "1"}, "0", "000 100 011 111", "optimized", "Ordinary"),
    ("unary", {"k": "3", "budget": "0.5"}, "2", "001 110", "optimized", "Ordinary"),
    ("unary", {"k": "4", "budget": "4"}, "1", "0100 1011", "optimized", "LargeBudget"),
    ("rappor", {"k": "3", "f": "0.5"}, "0", "100 000 011", "a 1 becomes 0, too", "OwnBit"),
    ("rappor", {"k": "3", "f": "0.25"}, "1", "010 101 000", "a 1 becomes 0, too", "OwnBit"),
    ("rappor", {"k": "2", "f": "0.75"}, "1", "01 10 11", "a 1 becomes 0, too", "OwnBit"),
    ("hadamard", {"k": "4", "budget": "0.5"}, "1", "0 1 2", "8 outputs", "Ordinary"),
    ("hadamard", {"k": "3", "budget": "1"}, "0", "0 1 3", "4 outputs", "Ordinary"),
    ("hadamard", {"k": "7", "budget": "0.25"}, "6", "0 4 7", "8 outputs", "Ordinary"),
]

SETS = [
    ({"k": "5", "budget": "0.5", "size": "2"}, "0", ("0 3", "1 4")),
    ({"k": "4", "budget": "0.25", "size": "2"}, "3", ("0 1", "1 3")),
    ({"k": "5", "budget": "3", "size": "1"}, "2", ("2", "4")),
]

DELTAS = [
    # mechanism, parameters, epsilon, comment, flags
    ("randomized_response", {"k": "4", "budget": "1"}, "0.5", "half of the budget", "Ordinary"),
    ("randomized_response", {"k": "4", "budget": "1"}, "1", "all of the budget", "Boundary"),
    ("unary", {"k": "3", "budget": "1"}, "0.25", "two bits differ", "Ordinary"),
    ("unary", {"k": "3", "budget": "1"}, "1", "all of the budget", "Boundary"),
    ("rappor", {"k": "3", "f": "0.5"}, "2.1972245", "just below 2 ln 3", "OwnBit"),
    ("rappor", {"k": "2", "f": "0.5"}, "1", "two bits differ", "OwnBit"),
    ("subset", {"k": "5", "budget": "0.5", "size": "2"}, "0.25", "half of the budget", "Ordinary"),
    ("hadamard", {"k": "4", "budget": "0.5"}, "0.25", "half of the budget", "Ordinary"),
    ("hadamard", {"k": "4", "budget": "0.5"}, "0", "the total variation", "EpsilonZero"),
]


def _recipes() -> Iterator[Recipe]:
    for mechanism, parameters, value, reports, comment, flags in PMFS:
        for report in reports.split():
            question = {"mechanism": mechanism, **parameters, "value": value, "report": report}
            yield Recipe("pmf", question, comment, tuple(flags.split()), partial(_pmf, **question))
    for parameters, value, sets in SETS:
        for chosen in sets:
            question = {"mechanism": "subset", **parameters, "value": value, "report": chosen}
            yield Recipe(
                "pmf", question, "a set, ascending", ("Ordinary",), partial(_pmf, **question)
            )
    for mechanism, parameters, epsilon, comment, flags in DELTAS:
        question = {"mechanism": mechanism, **parameters, "epsilon": epsilon}
        yield Recipe("delta", question, comment, tuple(flags.split()), partial(_delta, **question))
    for kind, k, attributes, budget, value, reports, comment in fake_data.PMFS:
        parameters = {"mechanism": kind, "k": k, "attributes": attributes, "budget": budget}
        for report in reports.split(","):
            question = {**parameters, "value": value, "report": report}
            yield Recipe("pmf", question, comment, ("FakeData",), partial(_pmf, **question))
    for kind, k, attributes, budget, epsilon, comment in fake_data.DELTAS:
        parameters = {"mechanism": kind, "k": k, "attributes": attributes, "budget": budget}
        question = {**parameters, "epsilon": epsilon}
        yield Recipe("delta", question, comment, ("FakeData",), partial(_delta, **question))


GROUP = Group(
    name="local_responses",
    description="What one user sends in the local model. budget: the epsilon of the mechanism. "
    "randomized_response: a value; unary: optimized unary encoding, bits from value 0 on; rappor: "
    "every bit flipped with chance f/2; subset: `size` values in ascending order; hadamard: an "
    "output of 0 to K - 1, K the least power of two above k, likelier by e^budget where row "
    "value + 1 of Sylvester's matrix is +1. Values are 0 to k - 1. fake_values, fake_zero_bits, "
    "fake_random_bits: random sampling plus fake data; a value and a report have a part for every "
    "attribute, one attribute is randomized, with budget ln(attributes (e^budget - 1) + 1), and "
    "the others are made up: uniform values, or the bits of optimized unary encoding for no value "
    "or for a uniform one.",
    questions={
        "pmf": "P(report | value)",
        "delta": "the least delta at epsilon, over all pairs of values (or tuples of values)",
    },
    source="Warner 1965; Kairouz, Oh, Viswanath 2014; Erlingsson, Pihur, Korolova 2014; Wang et "
    "al. 2017; Ye, Barg 2018; Acharya, Sun, Zhang 2018; Arcolezi et al. 2021 (RS+FD)",
    methods=(
        "laws made report by report at two precisions agreeing to 1e-45",
        "pmf: one minus the chances of all other reports; delta: one minus the common part; "
        "agreeing to 1e-40",
    ),
    recipes=lambda: list(_recipes()),
)
