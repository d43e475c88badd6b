"""What a mechanism may promise: (epsilon, delta), zCDP, Renyi, Gaussian DP, or a whole curve.

Each promise bounds what a single event may show of a neighbouring pair, so all of them are judged
by the same counts: an event with certified probabilities p and q refutes a promise when no
mechanism that keeps it has such an event. A mechanism may break a promise that no event refutes:
two probabilities say less about zCDP or Renyi privacy than about (epsilon, delta).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, ClassVar

from exactdp.audit.bounds import measures
from exactdp.audit.bounds.evidence import Lines, exp, tangents
from exactdp.audit.bounds.measures import Measure
from exactdp.audit.bounds.regions import ConfidenceRegion
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
from exactdp.fields import Number, frozen, number
from exactdp.parameters import Real, choice, decimal_text, rational


def _read(allowed: str, test: Callable[[Fraction], bool]) -> Callable[[str, Real], Fraction]:
    def read(name: str, value: Real) -> Fraction:
        exact = rational(name, value)
        if not test(exact):
            raise InvalidParameter(name, value, allowed)
        return exact

    return read


# floats say which events to look for, so parameters are at most 1e100
_moderate = _read(">= 0 and <= 1e100", lambda x: 0 <= x <= 10**100)
_slack = _read(">= 0 and < 1", lambda x: 0 <= x < 1)
_order = _read("> 1 and <= 1e100", lambda x: 1 < x <= 10**100)


class Promise(ABC):
    """What is promised about the probabilities p and q of every event on two neighbours."""

    kind: ClassVar[str]
    name: ClassVar[str]  # of a mechanism that keeps the promise: a template for parameters
    words: ClassVar[dict[str, str]] = {}  # templates for the names of bounds

    @property
    @abstractmethod
    def limit(self) -> tuple[str, Measure, Fraction]:
        """The parameter's name, what a pair (p, q) needs of it, and what was promised."""

    @abstractmethod
    def lines(self) -> Lines:
        """Floats (f, d) with p <= f q + d wherever the promise is kept: hints for the search."""

    @property
    def divisor(self) -> float:
        """Noise of sensitivity 1 probably has about the scale 1/divisor: a hint for the search."""
        return float(self.limit[2])

    def parameters(self) -> dict[str, str]:
        """Name -> exact number as text."""
        return {one.name: decimal_text(getattr(self, one.name)) for one in fields(self)}  # type: ignore[arg-type]  # every promise is a data class

    @property
    def text(self) -> str:
        """The name of a mechanism that keeps the promise, such as (1, 0)-private."""
        return self.name.format(**self.parameters())

    def refuted(self, region: ConfidenceRegion) -> bool:
        """Whether no pair of probabilities of a confidence region is allowed; certified."""
        _, measure, value = self.limit
        return region.exceeds(measure, value)

    def bounds(self, region: ConfidenceRegion) -> dict[str, Fraction]:
        """Certified lower bounds from one region, in every currency: parameter -> at least."""
        return {name: region.least(measure) for name, measure in self.currencies().items()}

    def currencies(self) -> dict[str, Measure]:
        """The parameters that are bounded: the one promised, epsilon at delta 0, rho and mu."""
        name, measure, _ = self.limit
        pure = measures.epsilon_at(Fraction(0))
        return {name: measure, "epsilon": pure, "rho": measures.rho, "mu": measures.mu}

    def promised(self) -> dict[str, Fraction]:
        """Lower bounds on the parameters of a mechanism that breaks the promise."""
        name, _, value = self.limit
        return {name: value}

    def named(self, parameter: str) -> str:
        """A parameter of bounds() in words."""
        words = {"epsilon": "epsilon at delta 0", "rho": "rho of zCDP", "mu": "mu of Gaussian DP"}
        return (words | self.words)[parameter].format(**self.parameters())

    def as_dict(self) -> dict[str, str]:
        """The promise as JSON types."""
        return {"promise": self.kind, **self.parameters()}


@frozen
class ApproximateDP(Promise):
    """(epsilon, delta)-privacy: p <= e^epsilon q + delta.

    epsilon: >= 0. delta: >= 0 and < 1.

    >>> ApproximateDP("1", "1e-5").text
    '(1, 1e-5)-private'
    """

    epsilon: Number = number(_moderate)
    delta: Number = number(_slack, default="0")
    kind = "dp"
    name = "({epsilon}, {delta})-private"
    words: ClassVar = {"epsilon": "epsilon at delta {delta}", "delta": "delta at epsilon {epsilon}"}

    @property
    def limit(self) -> tuple[str, Measure, Fraction]:
        return "delta", measures.delta_at(self.epsilon), self.delta

    def currencies(self) -> dict[str, Measure]:
        return super().currencies() | {"epsilon": measures.epsilon_at(self.delta)}

    def promised(self) -> dict[str, Fraction]:
        return {"epsilon": self.epsilon, "delta": self.delta}

    def lines(self) -> Lines:
        return ((exp(self.epsilon), float(self.delta)),)

    @property
    def divisor(self) -> float:
        return float(self.epsilon)


@frozen
class Zcdp(Promise):
    """rho-zCDP: D_alpha(P || Q) <= rho alpha for all alpha > 1, in both orders.

    rho: >= 0. Source: Bun and Steinke, Concentrated Differential Privacy (TCC 2016), Definition
    1.1; an event's coin satisfies it too, by data processing (Lemma 2.2 there).

    >>> Zcdp("0.5").text
    '0.5-zCDP'
    """

    rho: Number = number(_moderate)
    kind = "zcdp"
    name = "{rho}-zCDP"

    @property
    def limit(self) -> tuple[str, Measure, Fraction]:
        return "rho", measures.rho, self.rho

    def lines(self) -> Lines:
        return tangents(measures.float_rho, float(self.rho))

    @property
    def divisor(self) -> float:
        return math.sqrt(2 * self.rho)


@frozen
class Renyi(Promise):
    """(alpha, epsilon)-Renyi privacy: D_alpha(P || Q) <= epsilon, in both orders.

    alpha: > 1. epsilon: >= 0. Source: Mironov, Renyi Differential Privacy (CSF 2017), Definition 4.

    >>> Renyi(2, "0.5").text
    '(2, 0.5)-Renyi private'
    """

    alpha: Number = number(_order)
    epsilon: Number = number(_moderate)
    kind = "renyi"
    name = "({alpha}, {epsilon})-Renyi private"
    words: ClassVar = {"renyi": "Renyi loss of order {alpha}"}

    @property
    def limit(self) -> tuple[str, Measure, Fraction]:
        return "renyi", measures.renyi_at(self.alpha), self.epsilon

    def lines(self) -> Lines:
        order = float(self.alpha)
        return tangents(lambda p, q: float(measures.float_renyi(p, q, order)), float(self.epsilon))


@frozen
class GaussianDP(Promise):
    """mu-GDP: neighbours are at least as hard to tell apart as N(0, 1) and N(mu, 1).

    mu: >= 0. Source: Dong, Roth, Su, Gaussian Differential Privacy (JRSS-B 2022), Definition 2.6.

    >>> GaussianDP(1).text
    '1-GDP'
    """

    mu: Number = number(_moderate)
    kind = "gdp"
    name = "{mu}-GDP"

    @property
    def limit(self) -> tuple[str, Measure, Fraction]:
        return "mu", measures.mu, self.mu

    def lines(self) -> Lines:
        return tangents(measures.float_mu, float(self.mu))


@dataclass(frozen=True)
class Profile(Promise):
    """A curve of promises: (epsilon, delta)-privacy at every one of its points, in both orders.

    points: epsilon >= 0 -> delta >= 0 and < 1, at least one. Between points the curve promises the
    straight line in e^epsilon, which they imply.

    >>> Profile({"0": "0.4", "1": "0.13"}).text
    'private by its curve of 2 points'
    """

    points: tuple[tuple[Fraction, Fraction], ...]
    kind = "profile"
    name = "private by its curve of {} points"
    words: ClassVar = {"excess": "delta above the curve"}

    def __init__(self, points: Mapping[Any, Real]) -> None:
        if not isinstance(points, Mapping) or not points:
            raise InvalidParameter("points", points, "a mapping of epsilon to delta, not empty")
        each = [ApproximateDP(epsilon, delta) for epsilon, delta in points.items()]
        pairs = sorted((one.epsilon, one.delta) for one in each)
        object.__setattr__(self, "points", tuple(pairs))

    @classmethod
    def of(cls, delta: Callable[[Fraction], Enclosure], epsilons: list[Real]) -> Profile:
        """The curve of a calculator, such as lambda e: gaussian.delta(sigma=1, epsilon=e).

        Its upper ends are promised. epsilons: >= 0, where it is evaluated.
        """
        exact = [_moderate("epsilon", epsilon) for epsilon in epsilons]
        return cls({epsilon: delta(epsilon).upper for epsilon in exact})

    @property
    def limit(self) -> tuple[str, Measure, Fraction]:
        return "excess", measures.excess_over(self.points), Fraction(0)

    def lines(self) -> Lines:
        return tuple((exp(epsilon), float(delta)) for epsilon, delta in self.points)

    @property
    def divisor(self) -> float:
        return float(self.points[len(self.points) // 2][0])

    def parameters(self) -> dict[str, str]:
        return {decimal_text(epsilon): decimal_text(delta) for epsilon, delta in self.points}

    @property
    def text(self) -> str:
        return self.name.format(len(self.points))


_KINDS: dict[str, Callable[..., Promise]] = {
    **{one.kind: one for one in (ApproximateDP, Zcdp, Renyi, GaussianDP)},
    Profile.kind: lambda **points: Profile(points),
}


def read(entry: Mapping[str, str]) -> Promise:
    """The promise that as_dict() wrote.

    >>> read(Zcdp("0.5").as_dict())
    Zcdp(rho=Fraction(1, 2))
    """
    parameters = dict(entry)
    kind = choice("promise", parameters.pop("promise", ""), tuple(_KINDS))
    try:
        return _KINDS[kind](**parameters)
    except TypeError:
        names = ", ".join(parameters) or "nothing"
        raise InvalidParameter("promise", names, f"the parameters of {kind}") from None


def parse(text: str) -> Promise:
    """The promise that a line of text stands for, as on a command line.

    text: kind:name=value,... with the names of the classes here, or profile:EPSILON=DELTA,...

    >>> parse("renyi:alpha=2,epsilon=0.5").text, parse("profile:0=0.4,1=0.13").kind
    ('(2, 0.5)-Renyi private', 'profile')
    """
    kind, _, rest = text.partition(":")
    pairs = [part.partition("=") for part in rest.split(",")]
    if not all(equals and name != "promise" for name, equals, _ in pairs):
        raise InvalidParameter("promise", text, "KIND:NAME=VALUE,... such as zcdp:rho=0.5")
    return read({"promise": kind, **{name: value for name, _, value in pairs}})
