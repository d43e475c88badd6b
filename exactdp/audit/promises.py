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
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from exactdp.audit.bounds import measures
from exactdp.audit.bounds.cells import Cells
from exactdp.audit.bounds.evidence import Lines
from exactdp.audit.bounds.hints import exp, tangents
from exactdp.audit.bounds.measures import Measure
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
from exactdp.parameters import Real, decimal_text, non_negative, rational

__all__ = ["ApproximateDP", "GaussianDP", "Profile", "Promise", "Renyi", "Zcdp"]

_WORDS = {
    "rho": "rho of zCDP",
    "mu": "mu of Gaussian DP",
    "excess": "delta above the curve",
}

#: No larger parameter is promised.
_LARGEST = 10**100


class Promise(ABC):
    """What is promised about the probabilities p and q of every event on two neighbours."""

    kind: ClassVar[str]

    @property
    @abstractmethod
    def limit(self) -> tuple[str, Measure, Fraction]:
        """The parameter's name, what a pair (p, q) needs of it, and what was promised."""

    @abstractmethod
    def lines(self) -> Lines:
        """Floats (f, d) with p <= f q + d wherever the promise is kept: hints for the search."""

    @property
    @abstractmethod
    def loss(self) -> float:
        """By what noise of sensitivity 1 was probably divided, about: a hint for the search."""

    @abstractmethod
    def parameters(self) -> dict[str, str]:
        """Name -> exact number as text."""

    @property
    @abstractmethod
    def text(self) -> str:
        """What a mechanism that keeps it is called, such as (1, 0)-private."""

    def refuted(self, region: Cells) -> bool:
        """Whether no pair of probabilities of a confidence region is allowed; certified."""
        _, measure, value = self.limit
        return region.exceeds(measure, value)

    def bounds(self, region: Cells) -> dict[str, Fraction]:
        """Certified lower bounds from one region, in every currency: parameter -> at least."""
        return {name: region.least(measure) for name, measure in self.currencies().items()}

    def currencies(self) -> dict[str, Measure]:
        """The parameters that are bounded: the one promised, epsilon at delta 0, rho and mu."""
        name, measure, _ = self.limit
        pure = measures.epsilon_at(Fraction(0))
        return {name: measure, "epsilon": pure, "rho": measures.rho, "mu": measures.mu}

    def promised(self) -> dict[str, Fraction]:
        """The parameters that are at least this where the promise is broken."""
        name, _, value = self.limit
        return {name: value}

    def named(self, parameter: str) -> str:
        """A parameter of bounds() in words."""
        return {"epsilon": "epsilon at delta 0", **_WORDS}[parameter]

    def as_dict(self) -> dict[str, str]:
        """The promise as JSON types."""
        return {"promise": self.kind, **self.parameters()}


@dataclass(frozen=True)
class ApproximateDP(Promise):
    """(epsilon, delta)-privacy: p <= e^epsilon q + delta.

    epsilon: >= 0. delta: >= 0 and < 1.

    >>> ApproximateDP("1", "1e-5").text
    '(1, 1e-5)-private'
    """

    epsilon: Fraction
    delta: Fraction
    kind = "dp"

    def __init__(self, epsilon: Real, delta: Real = "0") -> None:
        slack = non_negative("delta", delta)
        if slack >= 1:
            raise InvalidParameter("delta", delta, ">= 0 and < 1")
        object.__setattr__(self, "epsilon", _moderate("epsilon", epsilon))
        object.__setattr__(self, "delta", slack)

    @property
    def limit(self) -> tuple[str, Measure, Fraction]:
        return "delta", measures.delta_at(self.epsilon), self.delta

    def currencies(self) -> dict[str, Measure]:
        return super().currencies() | {"epsilon": measures.epsilon_at(self.delta)}

    def named(self, parameter: str) -> str:
        if parameter == "epsilon":
            return f"epsilon at delta {decimal_text(self.delta)}"
        if parameter == "delta":
            return f"delta at epsilon {decimal_text(self.epsilon)}"
        return super().named(parameter)

    def promised(self) -> dict[str, Fraction]:
        return {"epsilon": self.epsilon, "delta": self.delta}

    def lines(self) -> Lines:
        return ((exp(self.epsilon), float(self.delta)),)

    @property
    def loss(self) -> float:
        return float(self.epsilon)

    def parameters(self) -> dict[str, str]:
        return {"epsilon": decimal_text(self.epsilon), "delta": decimal_text(self.delta)}

    @property
    def text(self) -> str:
        return f"({decimal_text(self.epsilon)}, {decimal_text(self.delta)})-private"


@dataclass(frozen=True)
class Zcdp(Promise):
    """rho-zCDP: D_alpha(P || Q) <= rho alpha for all alpha > 1, in both orders.

    rho: >= 0. Source: Bun and Steinke, Concentrated Differential Privacy (TCC 2016), Definition
    1.1; an event's coin satisfies it too, by data processing (Lemma 2.2 there).

    >>> Zcdp("0.5").text
    '0.5-zCDP'
    """

    rho: Fraction
    kind = "zcdp"

    def __init__(self, rho: Real) -> None:
        object.__setattr__(self, "rho", _moderate("rho", rho))

    @property
    def limit(self) -> tuple[str, Measure, Fraction]:
        return "rho", measures.rho, self.rho

    def lines(self) -> Lines:
        return tangents(measures.float_rho, float(self.rho))

    @property
    def loss(self) -> float:
        return math.sqrt(2 * self.rho)

    def parameters(self) -> dict[str, str]:
        return {"rho": decimal_text(self.rho)}

    @property
    def text(self) -> str:
        return f"{decimal_text(self.rho)}-zCDP"


@dataclass(frozen=True)
class Renyi(Promise):
    """(alpha, epsilon)-Renyi privacy: D_alpha(P || Q) <= epsilon, in both orders.

    alpha: > 1. epsilon: >= 0. Source: Mironov, Renyi Differential Privacy (CSF 2017), Definition 4.

    >>> Renyi(2, "0.5").text
    '(2, 0.5)-Renyi private'
    """

    alpha: Fraction
    epsilon: Fraction
    kind = "renyi"

    def __init__(self, alpha: Real, epsilon: Real) -> None:
        order = rational("alpha", alpha)
        if not 1 < order <= _LARGEST:
            raise InvalidParameter("alpha", alpha, "> 1 and <= 1e100")
        object.__setattr__(self, "alpha", order)
        object.__setattr__(self, "epsilon", _moderate("epsilon", epsilon))

    @property
    def limit(self) -> tuple[str, Measure, Fraction]:
        return "renyi", measures.renyi_at(self.alpha), self.epsilon

    def lines(self) -> Lines:
        order = float(self.alpha)
        return tangents(lambda p, q: float(measures.float_renyi(p, q, order)), float(self.epsilon))

    @property
    def loss(self) -> float:
        return float(self.epsilon)

    def parameters(self) -> dict[str, str]:
        return {"alpha": decimal_text(self.alpha), "epsilon": decimal_text(self.epsilon)}

    def named(self, parameter: str) -> str:
        order = decimal_text(self.alpha)
        return f"Renyi loss of order {order}" if parameter == "renyi" else super().named(parameter)

    @property
    def text(self) -> str:
        return f"({decimal_text(self.alpha)}, {decimal_text(self.epsilon)})-Renyi private"


@dataclass(frozen=True)
class GaussianDP(Promise):
    """mu-GDP: no test does better than at telling N(0, 1) from N(mu, 1).

    mu: >= 0. Source: Dong, Roth, Su, Gaussian Differential Privacy (JRSS-B 2022), Definition 2.6.

    >>> GaussianDP(1).text
    '1-GDP'
    """

    mu: Fraction
    kind = "gdp"

    def __init__(self, mu: Real) -> None:
        object.__setattr__(self, "mu", _moderate("mu", mu))

    @property
    def limit(self) -> tuple[str, Measure, Fraction]:
        return "mu", measures.mu, self.mu

    def lines(self) -> Lines:
        return tangents(measures.float_mu, float(self.mu))

    @property
    def loss(self) -> float:
        return float(self.mu)

    def parameters(self) -> dict[str, str]:
        return {"mu": decimal_text(self.mu)}

    @property
    def text(self) -> str:
        return f"{decimal_text(self.mu)}-GDP"


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
    def loss(self) -> float:
        return float(self.points[len(self.points) // 2][0])

    def parameters(self) -> dict[str, str]:
        return {decimal_text(epsilon): decimal_text(delta) for epsilon, delta in self.points}

    @property
    def text(self) -> str:
        return f"private by its curve of {len(self.points)} points"


def _moderate(name: str, value: Real) -> Fraction:
    """A number >= 0 that is one as a float, too: floats say which events to look for."""
    number = non_negative(name, value)
    if number > _LARGEST:
        raise InvalidParameter(name, value, ">= 0 and <= 1e100")
    return number
