"""What a calibration returns, for every mechanism."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

from exactdp.accounting.certify.grid import Refuted
from exactdp.accounting.guarantee import Guarantee
from exactdp.enclosure import Enclosure
from exactdp.parameters import decimal_text

__all__ = ["Calibration"]


@dataclass(frozen=True)
class Calibration:
    """Parameters for a target delta: proved to be enough, and the last of them least on a grid.

    given: the mechanism's parameters that were given, such as k, as exact numbers.
    parameters: those that were found, such as sigma and tau, as short exact decimals; each is also
    an attribute, such as ``calibration.tau``. Use exactly these values.
    target: the delta that was asked for.
    refuted: the next smaller value of the last parameter, whose delta exceeds the target; None when
    the least possible value is enough.
    guarantee: at these parameters; its delta is an enclosure whose upper end is at most the target.
    tau_bound: provably, no sigma is enough with a threshold this low; None when this is not known.
    """

    mechanism: str
    analysis: str
    given: Mapping[str, Fraction]
    parameters: Mapping[str, Decimal | Fraction]
    target: Fraction
    refuted: Refuted | None
    guarantee: Guarantee = field(repr=False)
    tau_bound: Decimal | Fraction | None = None

    @property
    def epsilon(self) -> Fraction:
        """The epsilon that was asked for."""
        return self.guarantee.epsilon

    @property
    def delta(self) -> Enclosure:
        """An enclosure of delta at these parameters."""
        return self.guarantee.delta

    def __getattr__(self, name: str) -> Decimal | Fraction:
        parameters = self.__dict__.get("parameters", {})
        if name not in parameters:
            raise AttributeError(f"a calibration of {', '.join(parameters)} has no {name!r}")
        value: Decimal | Fraction = parameters[name]
        return value

    def as_dict(self) -> dict[str, Any]:
        """For JSON: numbers as decimal strings, rounded outward."""
        refuted, bound = self.refuted, self.tau_bound
        return {
            "mechanism": self.mechanism,
            "analysis": self.analysis,
            "given": _texts(self.given),
            "epsilon": decimal_text(self.epsilon),
            "target": decimal_text(self.target),
            "parameters": _texts(self.parameters),
            "delta": self.delta.as_dict(),
            "refuted": refuted
            and {
                list(self.parameters)[-1]: decimal_text(Fraction(refuted.value)),
                "delta": refuted.delta.as_dict(),
            },
            "guarantee": self.guarantee.as_dict(),
            "tau_bound": None if bound is None else decimal_text(Fraction(bound)),
        }


def _texts(numbers: Mapping[str, Decimal | Fraction]) -> dict[str, str]:
    return {name: decimal_text(Fraction(value)) for name, value in numbers.items()}
