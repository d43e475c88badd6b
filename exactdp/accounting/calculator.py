"""One definition per calculator. The API, the commands, the audits and the site follow from it.

A calculator is a class: its fields are the parameters of a mechanism, an object with values for
them knows its delta, and `calibrate` finds noise or a threshold for a target. The module of the
class has the public functions `delta`, `check`, `guarantee` and `calibrate`. A line in
:data:`CALCULATORS` names the class. The options of the commands are the fields of the class and the
parameters of `calibrate`, and have their help in exactdp/cli/parameters.py.
tests/accounting/laplace_calculator.py is an example.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields
from fractions import Fraction
from importlib import import_module
from typing import Any, ClassVar, Protocol

from flint import arb

from exactdp.accounting.calibration import Calibration
from exactdp.accounting.certify.checking import Check, decide
from exactdp.accounting.certify.inversion import least
from exactdp.accounting.guarantee import Guarantee
from exactdp.balls import CAP_BITS, Ends, refine
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
from exactdp.parameters import Real, choice, delta_target

#: Name of a mechanism -> module and class of its calculator, below exactdp.accounting.
CALCULATORS = {
    "gaussian": "gaussian.Gaussian",
    "laplace": "laplace.Laplace",
    "discrete-laplace": "discrete_laplace.DiscreteLaplace",
    "exponential": "exponential.Exponential",
    "randomized-response": "randomized_response.RandomizedResponse",
    "gshm": "gshm.Gshm",
    "csh": "csh.Csh",
    "correlated-gaussian": "correlated_gaussian.CorrelatedGaussian",
    "discrete-gaussian": "discrete_gaussian.DiscreteGaussian",
    "discrete-gshm": "discrete_gshm.DiscreteGshm",
    "discrete-csh": "discrete_csh.DiscreteCsh",
    "top-k": "discrete_top_k.TopK",
    "top-k-with-base": "discrete_top_k.TopKWithBase",
    "sums": "gshm_sums.GshmSums",
    "csh-sums": "csh_sums.CshSums",
    "stability": "stability.Stability",
}


class WorstCase(Protocol):
    """A pair of neighbours at which delta is attained."""

    def as_dict(self) -> dict[str, object]:
        """For JSON."""

    def text(self) -> str:
        """For a table."""


class Instance(ABC):
    """A mechanism with a value for each of its parameters. epsilon: where delta is asked for."""

    epsilon: Fraction

    @property
    @abstractmethod
    def neighbours(self) -> str:
        """The neighbours of the guarantee."""

    @property
    @abstractmethod
    def source(self) -> str:
        """Where the proof is."""

    @property
    def tight(self) -> bool:
        """Whether delta is the mechanism's exact one; otherwise it is an upper bound."""
        return True

    @property
    def e_epsilon(self) -> Fraction | None:
        """The exact e^epsilon that the mechanism keeps, where it is rational."""
        return None

    def worst_case(self) -> WorstCase | None:
        """The neighbours with the largest delta, where a function finds them."""
        return None

    @abstractmethod
    def delta(self) -> Enclosure:
        """The mechanism's delta, or the upper bound."""

    @abstractmethod
    def check(self, delta: Real) -> Check:
        """Whether a claimed delta is kept. delta: > 0 and < 1. Raises InvalidParameter."""

    def guarantee(self) -> Guarantee:
        """The promise of a release."""
        return self._promise(self.delta())

    def kept(self, target: Fraction) -> Guarantee:
        """The promise of an instance that :meth:`check` has proved to keep the target."""
        return self.guarantee()

    def _promise(self, delta: Enclosure) -> Guarantee:
        return Guarantee(self.epsilon, delta, self.neighbours, self.source, self.e_epsilon)


class Evaluated(Instance):
    """An instance whose delta is computed in ball arithmetic, at any working precision."""

    @abstractmethod
    def evaluate(self) -> arb | Ends:
        """A ball or two ends around delta."""

    @property
    def relative_width(self) -> Fraction:
        """The relative width of the enclosure of delta."""
        return Fraction(1, 10**12)

    @property
    def cap_bits(self) -> int:
        """The largest working precision, in bits."""
        return CAP_BITS

    def delta(self) -> Enclosure:
        """An enclosure of the relative width asked for."""
        interval = refine(self.evaluate, relative_width=self.relative_width, cap_bits=self.cap_bits)
        return interval.clamped(0, 1)

    def check(self, delta: Real) -> Check:
        """Compare delta with the claim, at whatever precision that takes."""
        target = delta_target("delta", delta)
        return decide(self.evaluate, target, tight=self.tight, cap_bits=self.cap_bits)


class Compared(Evaluated):
    """An instance that can be compared with a target at less cost than its delta takes."""

    @abstractmethod
    def against(self, target: Fraction) -> arb | Ends:
        """As `evaluate`, only as precise as the comparison with the target needs."""

    def check(self, delta: Real) -> Check:
        """Compare delta with the claim, at whatever precision that takes."""
        target = delta_target("delta", delta)
        return decide(
            lambda: self.against(target), target, tight=self.tight, cap_bits=self.cap_bits
        )

    def kept(self, target: Fraction) -> Guarantee:
        """The promise, with the enclosure of delta that proved the target."""
        return self._promise(self.check(target).delta)


class Known(Instance):
    """An instance whose delta is enclosed at once; `delta` should remember it."""

    def check(self, delta: Real) -> Check:
        """Compare both ends of the enclosure with the claim."""
        return Check(self.delta(), delta_target("delta", delta), self.tight)


def _own_noise(*, sigma: Real, **_: int) -> Enclosure:
    return Enclosure.exact(sigma)


class Calculator(Instance):
    """A base of the calculators, which are frozen dataclasses of the parameters.

    name: in :data:`CALCULATORS`. title: what the mechanism is, in words that can follow "for".
    example: values for the required parameters.
    analyses: the ways to bound delta, the default first.
    falls_with: the parameters in which delta does not increase, each with the step between values
    that differ (0: any two values differ). Audits search for their least value.
    pure: whether delta is 0 from an epsilon on; claims and targets of delta may be 0, and are if
    they are left out.
    compared: the analyses with a line in `exactdp calibrate sparse-histograms`, for mechanisms with
    k or sparsity, sigma and tau.
    calibrate: takes epsilon, delta and some parameters of the mechanism, by the same names.
    total_noise: the standard deviation of all noise on one counter, from k or sparsity, and sigma.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    example: ClassVar[Mapping[str, str]]
    analyses: ClassVar[tuple[str, ...]] = ("exact",)
    falls_with: ClassVar[Mapping[str, Fraction | int]]
    pure: ClassVar[bool] = False
    compared: ClassVar[tuple[str, ...]] = ()
    calibrate: ClassVar[Callable[..., Calibration]]
    total_noise: ClassVar[Callable[..., Enclosure]] = staticmethod(_own_noise)
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @abstractmethod
    def __init__(self, **parameters: Any) -> None:
        """A value for each parameter. Raises InvalidParameter."""

    @classmethod
    def least_epsilon(cls, *, delta: Real, **parameters: Any) -> Enclosure:
        """The least epsilon at which a delta is kept, by the analysis.

        delta: > 0 and < 1. parameters: the others of the module's `delta`, by the same names.
        Returns an enclosure of relative width <= 1e-12 where delta is known that well; 0 where
        delta is kept at epsilon 0. Raises InvalidParameter (also where no epsilon is enough),
        Undecided.

        >>> print(calculator("gaussian").least_epsilon(sigma=4, delta="1e-6"))
        [1.060701862, 1.060701863]
        """
        if "epsilon" not in cls.falls_with:
            allowed = f"a mechanism whose noise does not depend on epsilon, unlike {cls.name}"
            raise InvalidParameter("mechanism", cls.name, allowed)
        target = delta_target("delta", delta)
        return least(
            lambda epsilon: cls(**parameters, epsilon=epsilon).check(target).delta,
            target,
            zero=True,
        )

    @classmethod
    def parameters(cls) -> dict[str, bool]:
        """The names of the parameters, and whether each is required."""
        return {each.name: each.default is MISSING for each in fields(cls)}


def calculator(name: str) -> type[Calculator]:
    """A calculator by its name. Raises InvalidParameter.

    >>> calculator("discrete-gaussian").title
    'an integer answer with discrete Gaussian noise'
    """
    module, _, kind = CALCULATORS[choice("name", name, tuple(CALCULATORS))].rpartition(".")
    loaded: type[Calculator] = getattr(import_module(f"exactdp.accounting.{module}"), kind)
    return loaded


def parameters(function: Callable[..., Any]) -> dict[str, bool]:
    """The names of a function's parameters, and whether each is required."""
    arguments = inspect.signature(function).parameters.values()
    return {p.name: p.default is inspect.Parameter.empty for p in arguments}
