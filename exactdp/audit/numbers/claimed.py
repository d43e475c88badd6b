"""Audit of a number: is the delta, epsilon, sigma, tau or power that somebody states enough?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from exactdp.audit.numbers.certified import answer, delta_at, named, quantities
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter, Undecided
from exactdp.parameters import Real, choice, decimal_text, exact_text, rational

Verdict = Literal["unsafe", "exact", "loose", "undecided"]


@dataclass(frozen=True)
class NumberAudit:
    """What certified arithmetic says about a claimed number.

    verdict: "unsafe" (the true value is provably larger), "exact" (enough, and within tolerance of
    the true value), "loose" (enough, and further above), "undecided" (closer than the true value
    is known). true: enclosure of the least value that is enough. relative: a bound on
    |claimed - true|/true, in the direction that says most (None where the true value may be 0).
    delta: enclosure of delta at the claimed epsilon, sigma or tau, the evidence; None for a delta.
    """

    mechanism: str
    quantity: str
    parameters: Mapping[str, str]
    claimed: Fraction
    verdict: Verdict
    true: Enclosure
    relative: Fraction | None
    delta: Enclosure | None
    tolerance: Fraction

    @property
    def safe(self) -> bool:
        """The claim is proved to be enough."""
        return self.verdict in ("exact", "loose")

    def as_dict(self) -> dict[str, object]:
        """For JSON: numbers as decimal strings, enclosures rounded outward."""
        return {
            "mechanism": self.mechanism,
            "parameters": dict(self.parameters),
            "quantity": self.quantity,
            "claimed": _text(self.claimed),
            "verdict": self.verdict,
            "true": self.true.as_dict(),
            "relative": None if self.relative is None else self._distance(),
            "delta": None if self.delta is None else self.delta.as_dict(),
            "tolerance": decimal_text(self.tolerance),
        }

    def text(self) -> str:
        """The verdict in a few lines."""
        parameters = ", ".join(f"{name} = {value}" for name, value in self.parameters.items())
        claim = f"{self.quantity} = {_text(self.claimed)}"
        lines = [
            f"{self.verdict}: {claim} for {self.mechanism} ({parameters})",
            f"  {self._meaning()}: {self.true}",
        ]
        if self.relative is not None and self.verdict in ("unsafe", "loose"):
            by, side = ("at least", "below") if self.verdict == "unsafe" else ("at most", "above")
            lines.append(f"  the claim is {by} {self._distance()} (relative) {side} it")
        if self.delta is not None:
            lines.append(f"  delta at the claimed {self.quantity}: {self.delta}")
        return "\n".join(lines)

    def _meaning(self) -> str:
        if self.quantity == "power":
            return "largest power of a test"
        return f"least {self.quantity} that is enough"

    def _distance(self) -> str:
        """The relative distance: rounded down below the true value, up above it."""
        relative = Enclosure.exact(self.relative or Fraction(0))
        return relative.decimal_lower(3) if self.verdict == "unsafe" else relative.decimal_upper(3)


def audit_number(
    *,
    mechanism: str,
    quantity: str,
    parameters: Mapping[str, Real],
    claimed: Real,
    tolerance: Real = "1e-9",
) -> NumberAudit:
    """Decide whether a stated delta, epsilon, sigma or tau is enough, and how far off it is.

    mechanism: such as "gaussian", or the group of its conformance vectors;
    :func:`exactdp.audit.numbers.certified.mechanisms` lists the names.
    quantity: "delta", "epsilon", "sigma", "tau", "threshold", "mu", or "power", the largest power
    of a test between neighbours, where the mechanism has it.
    parameters: as in the vectors of that group, or as in the calculator. For the quantity "delta"
    they include epsilon, for "power" false_alarms, for "mu" least_delta, for the others the target
    delta.
    claimed: the number. A float is read as the binary number it is, not as the decimal it prints,
    because the program that printed it goes on to use the binary number.
    tolerance: relative distance up to which a sufficient number is called exact, >= 0.
    Raises InvalidParameter, and Undecided where the true value cannot be found.

    >>> result = audit_number(
    ...     mechanism="gaussian",
    ...     quantity="sigma",
    ...     parameters={"epsilon": 1, "delta": "1e-15"},
    ...     claimed="7.4819",
    ... )
    >>> print(result.text())
    unsafe: sigma = 7.4819 for gaussian (epsilon = 1, delta = 1e-15)
      least sigma that is enough: [7.487009467, 7.487009468]
      the claim is at least 0.000682 (relative) below it
      delta at the claimed sigma: [1.041041277e-15, 1.041041278e-15]
    """
    own = named(mechanism)
    offered = tuple(name for name in quantities(own) if name not in ("pmf", "cdf"))
    choice("quantity", quantity, offered)
    number = _exactly(claimed)
    bound = rational("tolerance", tolerance)
    if bound < 0:
        raise InvalidParameter("tolerance", tolerance, ">= 0")
    true = answer(own, quantity, parameters)
    evidence = None
    if quantity != "delta":
        evidence = _evidence(own, quantity, number, parameters)
    verdict, relative = _verdict(number, true, bound, evidence, parameters)
    return NumberAudit(
        mechanism=own,
        quantity=quantity,
        parameters={name: exact_text(name, value) for name, value in parameters.items()},
        claimed=number,
        verdict=verdict,
        true=true,
        relative=relative,
        delta=evidence,
        tolerance=bound,
    )


def _verdict(
    number: Fraction,
    true: Enclosure,
    tolerance: Fraction,
    evidence: Enclosure | None,
    parameters: Mapping[str, Real],
) -> tuple[Verdict, Fraction | None]:
    """From the enclosure of the least value, or from delta at the claim where that says more."""
    unsafe, enough = number < true.lower, number >= true.upper
    if evidence is not None and not (unsafe or enough):
        target = rational("delta", parameters["delta"])
        unsafe, enough = evidence.lower > target, evidence.upper <= target
    if unsafe:
        return "unsafe", (true.lower - number) / true.lower if true.lower else None
    if not enough:
        return "undecided", None
    if number == true.lower == true.upper:
        return "exact", Fraction(0)
    if not true.lower:
        return "loose", None
    excess = max(number - true.lower, Fraction(0)) / true.lower
    return ("exact" if excess <= tolerance else "loose"), excess


def _evidence(
    mechanism: str, quantity: str, number: Fraction, parameters: Mapping[str, Real]
) -> Enclosure | None:
    """delta at the claimed value; None where the mechanism is not defined there."""
    try:
        return delta_at(mechanism, quantity, number, parameters)
    except (InvalidParameter, Undecided):
        return None


def _exactly(claimed: Real) -> Fraction:
    if isinstance(claimed, float):
        number = claimed
        if number != number or number in (float("inf"), float("-inf")):
            raise InvalidParameter("claimed", claimed, "a finite number")
        return Fraction(number)
    return rational("claimed", claimed)


def _text(value: Fraction) -> str:
    """A short decimal where there is one, else the nearest double's."""
    text = decimal_text(value)
    return text if len(text) <= 24 else f"about {Enclosure.exact(value).decimal_upper(17)}"
