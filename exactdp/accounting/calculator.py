"""One definition per calculator. The API, the commands, the audits and the site follow from it.

A module defines a calculator by `delta`, which makes an :class:`Instance` from the parameters and
holds the mathematics; by `calibrate`, which says what noise or threshold to look for; and by a
:class:`Calculator`, which describes these and makes `check` and `guarantee`. A line in
:data:`CALCULATORS` names the module. The options of the commands are the parameters of `delta` and
`calibrate`, and have their help in exactdp/cli/parameters.py.
tests/accounting/laplace_calculator.py is an example.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from functools import partial, wraps
from importlib import import_module
from typing import Any, Generic, ParamSpec, Protocol, TypeVar, cast

from flint import arb

from exactdp.accounting.calibration import Calibration
from exactdp.accounting.certify.checking import Check, decide
from exactdp.accounting.certify.grid import least_multiple
from exactdp.accounting.guarantee import Guarantee
from exactdp.balls import CAP_BITS, Ends, refine
from exactdp.enclosure import Enclosure
from exactdp.parameters import Real, as_decimal, choice, delta_target

_CHECK_DOC = """Whether a claimed delta is kept: proved, refuted or undecided.

    delta: the claim, > 0 and < 1. The other parameters are those of :func:`delta`. Where delta is
    only an upper bound, refuted means that this bound does not prove the claim.
    Raises InvalidParameter.
    """

_P = ParamSpec("_P")
_Answer = TypeVar("_Answer")

#: Name on the command line -> the object that defines the calculator, below exactdp.accounting.
CALCULATORS = {
    "gaussian": "gaussian.CALCULATOR",
    "gshm": "sparse_histograms.gshm.CALCULATOR",
    "csh": "sparse_histograms.csh.CALCULATOR",
    "correlated-gaussian": "correlated_gaussian.CALCULATOR",
    "discrete-gaussian": "discrete_gaussian.CALCULATOR",
    "discrete-gshm": "sparse_histograms.discrete_gshm.CALCULATOR",
    "discrete-csh": "sparse_histograms.discrete_csh.CALCULATOR",
    "top-k": "sparse_histograms.discrete_top_k.WITHOUT_BASE",
    "top-k-with-base": "sparse_histograms.discrete_top_k.CALCULATOR",
    "sums": "sparse_histograms.gshm_sums.CALCULATOR",
    "csh-sums": "sparse_histograms.csh_sums.CALCULATOR",
    "stability": "sparse_histograms.stability.CALCULATOR",
}


class WorstCase(Protocol):
    """A pair of neighbours at which delta is attained."""

    def as_dict(self) -> dict[str, object]:
        """For JSON."""

    def text(self) -> str:
        """For a table."""


@dataclass(frozen=True, kw_only=True)
class Instance(ABC):
    """A mechanism with a value for each of its parameters.

    epsilon: where delta is asked for. neighbours, source: as in the guarantee.
    tight: delta is the mechanism's exact one; otherwise it is an upper bound.
    e_epsilon: the exact e^epsilon that the mechanism keeps, where it is rational.
    worst_case: returns the neighbours with the largest delta; None if no function finds them.
    """

    epsilon: Fraction
    neighbours: str
    source: str
    tight: bool
    e_epsilon: Fraction | None = None
    worst_case: Callable[[], WorstCase] | None = None

    @abstractmethod
    def delta(self) -> Enclosure:
        """The mechanism's delta, or the upper bound."""

    @abstractmethod
    def check(self, target: Fraction) -> Check:
        """Whether delta is at most the target."""

    def guarantee(self) -> Guarantee:
        """The promise of a release."""
        return self._promise(self.delta())

    def kept(self, target: Fraction) -> Guarantee:
        """The promise of an instance that :meth:`check` has proved to keep the target."""
        return self.guarantee()

    def _promise(self, delta: Enclosure) -> Guarantee:
        return Guarantee(self.epsilon, delta, self.neighbours, self.source, self.e_epsilon)


@dataclass(frozen=True, kw_only=True)
class Evaluated(Instance):
    """An instance whose delta is computed in ball arithmetic, at any working precision.

    evaluate: returns a ball or two ends around delta. against: returns the same for a target, only
    as precise as the comparison with this target needs; None: `check` calls `evaluate`.
    relative_width: of the enclosure of delta. cap_bits: the largest working precision, in bits.
    """

    evaluate: Callable[[], arb | Ends]
    against: Callable[[Fraction], arb | Ends] | None = None
    relative_width: Fraction = Fraction(1, 10**12)
    cap_bits: int = CAP_BITS

    def delta(self) -> Enclosure:
        """An enclosure of the relative width asked for."""
        interval = refine(self.evaluate, relative_width=self.relative_width, cap_bits=self.cap_bits)
        return interval.clamped(0, 1)

    def check(self, target: Fraction) -> Check:
        """Compare delta with the target, at whatever precision that takes."""
        against = self.against
        compute = self.evaluate if against is None else partial(against, target)
        return decide(compute, target, tight=self.tight, cap_bits=self.cap_bits)

    def kept(self, target: Fraction) -> Guarantee:
        """The promise. With `against`, its delta is the enclosure that proved the target."""
        return self.guarantee() if self.against is None else self._promise(self.check(target).delta)


@dataclass(frozen=True, kw_only=True)
class Known(Instance):
    """An instance whose delta has been enclosed already."""

    enclosure: Enclosure

    def delta(self) -> Enclosure:
        """The enclosure."""
        return self.enclosure

    def check(self, target: Fraction) -> Check:
        """Compare both ends of the enclosure with the target."""
        return Check(self.enclosure, target, self.tight)


def delta_of(define: Callable[_P, Instance]) -> Callable[_P, Enclosure]:
    """The public function `delta` of a calculator, from the function that makes its instances."""
    return _asking(define, lambda instance: instance.delta(), Enclosure)


@dataclass(frozen=True)
class Calculator(Generic[_P]):
    """One mechanism: how its delta is computed, and how its noise or threshold is found.

    delta: made by :func:`delta_of`.
    calibrate: takes epsilon, delta and some parameters of the mechanism, by the same names.
    title: what the mechanism is, in words that can follow "for".
    example: values for the required parameters of delta.
    analyses: the ways to bound delta, the default first.
    falls_with: the parameters in which delta does not increase, each with the step between values
    that differ (0: any two values differ). Audits search for their least value.
    vectors: the group of conformance vectors, where its name differs from the calculator's.
    compared: the analyses with a line in `exactdp calibrate sparse-histograms`, for mechanisms with
    k or sparsity, sigma and tau.
    total_noise: the standard deviation of all noise on one counter, from sparsity and sigma; None:
    sigma.
    """

    delta: Callable[_P, Enclosure]
    calibrate: Callable[..., Calibration]
    _: KW_ONLY
    title: str
    example: Mapping[str, str]
    analyses: tuple[str, ...] = ("exact",)
    falls_with: Mapping[str, Fraction | int]
    vectors: str | None = None
    compared: tuple[str, ...] = ()
    total_noise: Callable[..., Enclosure] | None = None

    @property
    def instance(self) -> Callable[_P, Instance]:
        """From parameters to an instance. Raises InvalidParameter."""
        return cast("Callable[_P, Instance]", inspect.unwrap(self.delta))

    @property
    def check(self) -> Callable[..., Check]:
        """The public function `check`: takes the parameters of `delta`, and `delta`, a claim."""

        def check(*, delta: Real, **parameters: Any) -> Check:
            target = delta_target("delta", delta)
            return self.instance(**parameters).check(target)  # type: ignore[call-arg]

        signature = inspect.signature(self.delta)
        claimed = inspect.Parameter("delta", inspect.Parameter.KEYWORD_ONLY, annotation="Real")
        arguments = [*signature.parameters.values(), claimed]
        check.__signature__ = signature.replace(  # type: ignore[attr-defined]  # for help()
            parameters=sorted(arguments, key=lambda p: p.default is not inspect.Parameter.empty),
            return_annotation="Check",
        )
        check.__qualname__, check.__module__ = "check", self.instance.__module__
        check.__doc__ = _CHECK_DOC
        return check

    @property
    def guarantee(self) -> Callable[_P, Guarantee]:
        """The public function `guarantee`."""
        function = _asking(self.instance, lambda instance: instance.guarantee(), Guarantee)
        function.__name__ = function.__qualname__ = "guarantee"
        function.__doc__ = "The guarantee of a release; parameters as in :func:`delta`."
        return function

    def noise(self, *, sigma: Real, **bound: int) -> Enclosure:
        """The standard deviation of all noise on one counter. bound: k or sparsity."""
        return (
            self.total_noise(**bound, sigma=sigma) if self.total_noise else Enclosure.exact(sigma)
        )


def calibrated(
    mechanism: str,
    analysis: str,
    at: Callable[[Fraction], Instance],
    *,
    target: Fraction,
    name: str,
    start: Fraction,
    step: Fraction,
    given: Mapping[str, Fraction],
    chosen: Mapping[str, Fraction] | None = None,
    lowest: int = 0,
    stride: int = 1,
) -> Calibration:
    """The least value of one parameter on a grid, by :func:`least_multiple`.

    at: the mechanism with a value of this parameter; some value must be enough.
    name: the name of this parameter. chosen: parameters whose values are fixed already.
    mechanism, analysis, given: are copied into the Calibration.
    """
    value, refuted = least_multiple(
        lambda value: at(value).check(target),
        start,
        step,
        lowest=lowest,
        stride=stride,
        name=name,
    )
    values = {n: as_decimal(v) for n, v in {**(chosen or {}), name: value}.items()}
    return Calibration(mechanism, analysis, given, values, target, refuted, at(value).kept(target))


def calculator(name: str) -> Calculator[Any]:
    """A calculator by its name on the command line. Raises InvalidParameter.

    >>> calculator("discrete-gaussian").title
    'an integer answer with discrete Gaussian noise'
    """
    module, _, attribute = CALCULATORS[choice("name", name, tuple(CALCULATORS))].rpartition(".")
    mechanism: Calculator[Any] = getattr(import_module(f"exactdp.accounting.{module}"), attribute)
    return mechanism


def group_of(name: str) -> str:
    """The group of conformance vectors of a calculator, which is its name in audits of numbers.

    >>> group_of("gaussian"), group_of("discrete-gshm")
    ('analytic_gaussian', 'discrete_gshm')
    """
    return calculator(name).vectors or name.replace("-", "_")


def parameters(function: Callable[..., Any]) -> dict[str, bool]:
    """The names of a function's parameters, and whether each is required."""
    arguments = inspect.signature(function).parameters.values()
    return {p.name: p.default is inspect.Parameter.empty for p in arguments}


def _asking(
    define: Callable[_P, Instance], ask: Callable[[Instance], _Answer], kind: type[_Answer]
) -> Callable[_P, _Answer]:
    """A function that makes an instance by `define` and returns `ask(instance)`."""

    @wraps(define)
    def answer(*args: _P.args, **kwargs: _P.kwargs) -> _Answer:
        return ask(define(*args, **kwargs))

    answer.__annotations__ = {**define.__annotations__, "return": kind.__name__}
    signature = inspect.signature(define).replace(return_annotation=kind.__name__)
    answer.__signature__ = signature  # type: ignore[attr-defined]  # what help() shows
    return answer
