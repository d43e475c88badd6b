"""Every mechanism answers the same questions by the same names."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from exactdp import local, mechanisms
from exactdp.accounting.guarantee import Guarantee
from exactdp.local import sparse
from exactdp.mechanisms import KnownKeys, PartitionSelection
from exactdp.samplers import SeededSource, SystemSource

_VERBS = ("release", "report", "project", "choose")

#: How far off an answer is: the names of this question.
_ERRORS = ("accuracy", "error", "variance", "probabilities", "chance", "half")

#: Built of mechanisms that have epsilon, or named in the arguments of those.
BUILT = (mechanisms.Combined,)

#: What a mechanism cannot answer, and why.
_HOLES = {
    ("KeyRounds", "law"): "enumerates noise of hundreds of units in every round",
    ("SizedALP", "law"): "the law of the size, then that of the sketch for this size",
    ("SizedALP", "error"): "depends on the size that is drawn",
    ("SetResponse", "error"): "of recovered shares: CompressivePlan, Certificate",
}


def _classes() -> dict[str, type]:
    """All public classes that publish something."""
    rooms = (mechanisms, local, sparse)
    named = {name: getattr(room, name) for room in rooms for name in room.__all__}
    return {
        name: made
        for name, made in named.items()
        if inspect.isclass(made)
        and not inspect.isabstract(made)
        and any(hasattr(made, verb) for verb in _VERBS)
    }


CLASSES = _classes()


def _excused(made: type, question: str) -> bool:
    return any((base.__name__, question) in _HOLES for base in made.__mro__)


@pytest.mark.parametrize("name", CLASSES)
def test_a_mechanism_has_every_method(name: str) -> None:
    made = CLASSES[name]
    assert sum(hasattr(made, verb) for verb in _VERBS) == 1
    assert isinstance(inspect.getattr_static(made, "guarantee"), property)
    laws = hasattr(made, "law") or hasattr(made, "probabilities")
    errors = any(hasattr(made, question) for question in _ERRORS)
    assert laws != _excused(made, "law")
    assert errors != _excused(made, "error")
    made_by = [getattr(made, name, None) for name in ("of", "for_target")]
    takers = [made, *filter(None, made_by)]
    assert any("epsilon" in inspect.signature(take).parameters for take in takers) or made in BUILT
    given = inspect.signature(made).parameters
    assert not {"beta", "u"} & given.keys()  # the largest value is called largest


#: One of each family, and data of the smallest size.
RUN: dict[str, Callable[[], tuple[Any, Any]]] = {
    "known keys": lambda: (KnownKeys(1, "0.05", 9, "0.9"), {"a": 1}),
    "partitions": lambda: (PartitionSelection.for_target(k=1, epsilon=1, delta="0.1"), {"a": 1}),
    "sampled": lambda: (sparse.Sampled(d=2, k=1, epsilon=1), {0: 1}),
    "histograms": lambda: (mechanisms.BasicHistogram.of(n=9, epsilon=1, universe=3), {1: 9}),
    "fixed bits": lambda: (
        mechanisms.StabilityHistogram.of(n=9, epsilon=1, universe=3, delta="1e-3", fixed_time=True),
        {1: 9},
    ),
    "responses": lambda: (local.RandomizedResponse(3, 1), 2),
    "selection": lambda: (mechanisms.PermuteAndFlip(epsilon=1), {"a": 1, "b": 0}),
    "sketches": lambda: (mechanisms.ALP.of(d=9, k=1, largest=3, epsilon=1), {4: "1.5"}),
}


@pytest.mark.parametrize("family", RUN)
def test_one_of_each_family_runs(family: str) -> None:
    made, data = RUN[family]()
    verb = next(verb for verb in _VERBS if hasattr(made, verb))
    assert getattr(made, verb)(data, SystemSource()) is not None
    assert isinstance(made.guarantee, Guarantee)
    both = made.guarantee + made.guarantee
    assert both.epsilon == 2 * made.guarantee.epsilon


def test_a_law_of_every_kind_is_the_one_of_its_draws() -> None:
    """1000 draws: each frequency within 6 standard deviations, alpha < 1e-7."""
    for family in ("known keys", "partitions"):
        made, data = RUN[family]()
        law, source, n = made.law(data), SeededSource(1), 1000
        assert 1 - law.residual <= sum((law[y] for y in law.support), Fraction(0)) <= 1
        drawn = [made.draw(data, source) for _ in range(n)]
        found = [tuple(y) if isinstance(y, list) else y for y in drawn]
        for y in law.support:
            p = float(law[y])
            off = abs(found.count(y) / n - p)
            assert off <= 6 * (p * (1 - p) / n) ** 0.5 + float(law.residual)
