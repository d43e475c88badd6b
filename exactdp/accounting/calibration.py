"""What a calibration returns, for every mechanism."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from exactdp.accounting.certify.grid import Refuted
from exactdp.accounting.guarantee import Guarantee
from exactdp.display import Displayed
from exactdp.enclosure import Enclosure
from exactdp.parameters import decimal_text

__all__ = ["Calibration"]


Exact = Decimal | Fraction


@dataclass(frozen=True, eq=False, repr=False)
class Numbers(Mapping[str, Exact]):
    """Numbers by their names, which never change."""

    pairs: tuple[tuple[str, Exact], ...]

    @classmethod
    def of(cls, numbers: Mapping[str, Exact]) -> Numbers:
        """The numbers of any mapping, in its order."""
        return cls(tuple(numbers.items()))

    def __getitem__(self, name: str) -> Exact:
        return dict(self.pairs)[name]

    def __iter__(self) -> Iterator[str]:
        return iter(dict(self.pairs))

    def __len__(self) -> int:
        return len(self.pairs)

    def __hash__(self) -> int:
        return hash(frozenset(self.pairs))

    def __repr__(self) -> str:
        return f"{{{', '.join(f'{n}: {text}' for n, text in _texts(self).items())}}}"


@dataclass(frozen=True)
class Calibration(Displayed):
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
    given: Mapping[str, Exact]
    parameters: Mapping[str, Exact]
    target: Fraction
    refuted: Refuted | None
    guarantee: Guarantee
    tau_bound: Exact | None = None

    def __post_init__(self) -> None:
        for name in ("given", "parameters"):
            object.__setattr__(self, name, Numbers.of(getattr(self, name)))

    @property
    def epsilon(self) -> Fraction:
        """The epsilon that was asked for."""
        return self.guarantee.epsilon

    @property
    def delta(self) -> Enclosure:
        """An enclosure of delta at these parameters."""
        return self.guarantee.delta

    @property
    def sigma(self) -> Exact:
        """The standard deviation of the noise, where the mechanism has one."""
        return self._parameter("sigma")

    @property
    def sigma2(self) -> Exact:
        """The parameter sigma^2 of discrete Gaussian noise."""
        return self._parameter("sigma2")

    @property
    def noise_multiplier(self) -> Exact:
        """The noise of training, divided by the clipping norm."""
        return self._parameter("noise_multiplier")

    @property
    def tau(self) -> Exact:
        """The threshold: counters above 1 + tau are released."""
        return self._parameter("tau")

    @property
    def threshold(self) -> Exact:
        """The threshold of noisy counts."""
        return self._parameter("threshold")

    @property
    def scale(self) -> Exact:
        """The scale of Laplace noise, or of the scores of an exponential mechanism."""
        return self._parameter("scale")

    @property
    def flip(self) -> Exact:
        """The probability of a wrong answer."""
        return self._parameter("flip")

    def _parameter(self, name: str) -> Exact:
        if name not in self.parameters:
            raise AttributeError(f"a calibration of {', '.join(self.parameters)} has no {name!r}")
        return self.parameters[name]

    def __dir__(self) -> list[str]:
        """The attributes, without parameters that this mechanism does not have."""
        missing = _PARAMETERS - self.parameters.keys()
        return [name for name in super().__dir__() if name not in missing]

    def __repr__(self) -> str:
        texts = ", ".join(f"{name}={text}" for name, text in _texts(self.parameters).items())
        bound = self.delta.decimal_upper(5)
        return f"<calibration of {self.mechanism}: {texts}, delta <= {bound}>"

    def _title(self) -> str:
        return f"{self.mechanism}, {self.analysis} analysis"

    def _rows(self) -> Mapping[str, object]:
        report = self.as_dict()
        rows: dict[str, object] = {**report["given"], "epsilon": report["epsilon"]}
        rows |= {**report["parameters"], "delta": self.delta}
        if self.refuted:
            ((least, value),) = ((n, v) for n, v in report["refuted"].items() if n != "delta")
            rows["refuted"] = f"{least} = {value}: delta {self.refuted.delta}"
        if report["tau_bound"] is not None:
            rows["any sigma"] = f"no tau <= {report['tau_bound']} is enough"
        return {**rows, "guarantee": self.guarantee}

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


#: The parameters that are attributes of a calibration.
_PARAMETERS = {"sigma", "sigma2", "noise_multiplier", "tau", "threshold", "scale", "flip"}


def _texts(numbers: Mapping[str, Exact]) -> dict[str, str]:
    return {name: decimal_text(Fraction(value)) for name, value in numbers.items()}
