"""A correct mechanism in the style of real code, its law by a formula, and a bugged twin."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

Probabilities = dict[Any, Fraction]


@dataclass
class Case:
    """honest, bugged: called with a data set and a generator. law: the probabilities of the honest
    one's outputs, by a formula that does not use its code. epsilon, delta: what both claim.
    left, right: data sets, or functions that make them.
    """

    name: str
    style: str
    honest: Callable[[Any, Any], Any]
    bugged: Callable[[Any, Any], Any]
    left: Any
    right: Any
    law: Callable[[Any], Probabilities]
    epsilon: str
    delta: str = "0"
    interface: str = "random"

    def data(self) -> tuple[Any, Any]:
        """Both data sets."""
        left, right = (x() if callable(x) else x for x in (self.left, self.right))
        return left, right


CASES: list[Case] = []


def add(style: str, **options: Any) -> None:
    """Add a case; its name is that of the honest program unless one is given."""
    if "name" not in options:
        options["name"] = options["honest"].__name__
    CASES.append(Case(style=style, **options))


def truthful(p: Fraction, k: int) -> Callable[[Any], Probabilities]:
    """The law of k-ary randomised response that tells the truth with probability p."""
    return lambda value: {y: p if y == value else (1 - p) / (k - 1) for y in range(k)}


def product(*laws: Probabilities) -> Probabilities:
    """The law of independent outputs, as tuples."""
    joint: Probabilities = {(): Fraction(1)}
    for law in laws:
        joint = {(*a, b): p * q for a, p in joint.items() for b, q in law.items()}
    return joint


def mapped(law: Probabilities, function: Callable[[Any], Any]) -> Probabilities:
    """The law of a function of an output."""
    image: Probabilities = {}
    for outcome, p in law.items():
        image[function(outcome)] = image.get(function(outcome), Fraction(0)) + p
    return image
