"""A second opinion on an answer that looks unsafe: mpmath, sharing no code with the calculators.

A delta, power or mu is computed again, by the two methods of the generator. For sigma, tau and
epsilon the delta at the answered value is computed and compared with the target: the answer does
not suffice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from importlib import import_module

from exactdp.audit.numbers.certified import parameter_of
from exactdp.errors import InvalidParameter
from exactdp.oracle.conformance import Result
from vectors.generate.common import Bounds

#: Questions whose value the generators compute; for the others they compute delta at the answer.
_VALUES = ("delta", "pmf", "cdf", "power", "mu")

#: Groups whose values take minutes: the generator's, from the file, are compared.
_LONG = ("power",)


@dataclass(frozen=True)
class Confirmation:
    """Whether mpmath agrees that the answer is unsafe, and the numbers that say so.

    excess: for sigma, tau and epsilon, delta at the answer less the target.
    """

    confirmed: bool
    text: str
    excess: Fraction | None = None


def confirm(result: Result) -> Confirmation:
    """Check an unsafe answer, or a wrong probability, against mpmath."""
    vector, answer = result.vector, result.value
    if answer is None:
        raise InvalidParameter("result", result.verdict, "one with a number")
    if vector.question in _VALUES:
        lower, upper = vector.lower, vector.upper
        if vector.group not in _LONG:
            lower, upper = recomputed(vector.group, vector.question, dict(vector.parameters))
        outside = answer < Fraction(lower) or (
            vector.question in ("pmf", "cdf") and answer > Fraction(upper)
        )
        if vector.unsafe_below is not None:
            outside = answer < Fraction(vector.unsafe_below)
        return Confirmation(outside, f"{vector.question} = {_cut(lower)}")
    parameters = {name: text for name, text in vector.parameters.items() if name != "delta"}
    target = vector.parameters["delta"]
    parameters[parameter_of(vector.group, vector.question)] = _decimal(answer)
    if answer < 0:
        return Confirmation(True, "a negative value is never enough")
    lower, _ = recomputed(vector.group, "delta", parameters)
    text = f"delta at the answer = {_cut(lower)} > {target}"
    excess = Fraction(lower) - Fraction(target)
    return Confirmation(excess > 0, text, excess)


def recomputed(group: str, question: str, parameters: Mapping[str, str]) -> Bounds:
    """The value by the generator of a group of vectors, as decimal ends.

    group, question, parameters: as in the vectors.
    """
    module = import_module(f"vectors.generate.{group}")
    function: Callable[..., Bounds]
    if group == "composition":
        rest = {name: text for name, text in parameters.items() if name != "mechanism"}
        function = module.COMPUTE[parameters["mechanism"], question]
        return function(**rest)
    name = "gaussian_delta" if group == "analytic_gaussian" else f"_{question}"
    function = getattr(module, name)
    return function(**parameters)


def _decimal(value: Fraction) -> str:
    """The exact decimal of a float, or of a short rational."""
    with localcontext() as context:
        context.prec = 1100
        return str(Decimal(value.numerator) / Decimal(value.denominator))


def _cut(text: str) -> str:
    mantissa, mark, exponent = text.partition("e")
    return f"{mantissa[:22]}{'...' if len(mantissa) > 22 else ''}{mark}{exponent}"
