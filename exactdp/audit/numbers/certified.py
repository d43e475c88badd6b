"""One certified answer per question: the least delta, epsilon, sigma or tau of a mechanism.

Every calculator of exactdp.accounting answers here. The other mechanisms are listed at the end of
this module; each is a function of its parameters, which checks them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from inspect import signature
from types import MappingProxyType
from typing import Any, TypeVar

from flint import arb

from exactdp.accounting import composition, pld, zcdp
from exactdp.accounting.calculator import CALCULATORS, Calculator, calculator
from exactdp.accounting.calculator import parameters as parameters_of
from exactdp.accounting.certify.gaussian_sums import above
from exactdp.accounting.certify.inversion import WIDTH, least, least_multiple
from exactdp.accounting.discrete_laplace import above as geometric_above
from exactdp.audit.numbers import closed_forms, local_responses
from exactdp.audit.numbers.concentrated import rho_of_noisy_max
from exactdp.audit.numbers.sequences import loss_of
from exactdp.balls import ball, refine
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter, Undecided
from exactdp.local import RandomizedResponse, Shuffled
from exactdp.normal import hockey_stick
from exactdp.parameters import Real, choice, delta_target, integer, non_negative, positive, rational
from exactdp.samplers import DiscreteGaussian, DiscreteLaplace

#: The relative width of delta for a sampled step, and for a composition on a grid. The latter is
#: also the width of epsilon.
_SAMPLED_WIDTH = Fraction(1, 10**5)
_COMPOSED_WIDTH = Fraction(1, 10**3)

_Answer = TypeVar("_Answer")
Parameters = Mapping[str, Any]
Answerer = Callable[..., Enclosure]


@dataclass(frozen=True)
class Answers:
    """How questions about one mechanism are answered.

    delta: a function of named parameters. searches: quantity -> the parameter that is searched for;
    delta does not rise with it. others: quantity -> a function of named parameters that finds it.
    step: a function of a quantity and the other parameters: the least step between two values whose
    delta may differ; 0 where there is no least step.
    """

    delta: Answerer
    searches: Mapping[str, str] = field(default_factory=dict)
    others: Mapping[str, Answerer] = field(default_factory=dict)
    step: Callable[[str, Parameters], Fraction] = lambda *_: Fraction(0)


def answer(mechanism: str, quantity: str, parameters: Parameters) -> Enclosure:
    """The certified value of a quantity.

    mechanism: one of :func:`mechanisms`, or the group of its conformance vectors.
    quantity: one of :func:`quantities` of the mechanism: "delta", or the least "epsilon", "sigma",
    "tau", "threshold", "rho" or "mu" that is enough, the largest "power" of a test, or "pmf" or
    "cdf".
    parameters: as in the conformance vectors of the mechanism, or as in its calculator. The target
    of a search is the parameter "delta".
    Returns an enclosure, of relative width about 1e-12 where delta is known that well.
    Raises InvalidParameter, Undecided.

    >>> print(answer("zcdp", "epsilon", {"rho": "0.5", "delta": "1e-5"}))
    [4.728386984, 4.728386985]
    """
    answers = _mechanism(mechanism)
    choice("quantity", quantity, quantities(mechanism))
    if quantity == "delta":
        return _call_with(answers.delta, parameters)
    if quantity in answers.others:
        return _call_with(answers.others[quantity], parameters)
    if "delta" not in parameters:
        raise InvalidParameter("parameters", ", ".join(parameters), "with a value for delta")
    target = delta_target("delta", parameters["delta"])

    def at(value: Fraction) -> Enclosure:
        return delta_at(mechanism, quantity, value, parameters)

    step = answers.step(quantity, parameters)
    return least_multiple(at, target, step) if step else least(at, target, quantity != "sigma")


def delta_at(mechanism: str, quantity: str, value: Real, parameters: Parameters) -> Enclosure:
    """delta when the quantity (such as epsilon, sigma or tau) has this value."""
    answers = _mechanism(mechanism)
    name = answers.searches[choice("quantity", quantity, tuple(answers.searches))]
    rest = {key: number for key, number in parameters.items() if key != "delta"}
    return _call_with(answers.delta, {**rest, name: value})


def mechanisms() -> tuple[str, ...]:
    """Every mechanism: the calculators, and those of the other groups of conformance vectors."""
    return (*CALCULATORS, *_OTHERS)


def named(mechanism: str) -> str:
    """The name of a mechanism, also from that of its group of conformance vectors.

    >>> named("discrete_gaussian"), named("analytic_gaussian")
    ('discrete-gaussian', 'gaussian')
    """
    name = str(mechanism).replace("_", "-").removeprefix("analytic-")
    return choice("mechanism", mechanism if name not in mechanisms() else name, mechanisms())


def quantities(mechanism: str) -> tuple[str, ...]:
    """What can be asked about a mechanism."""
    answers = _mechanism(mechanism)
    return ("delta", *answers.searches, *answers.others)


def parameter_of(mechanism: str, quantity: str) -> str:
    """The parameter whose least value a quantity is.

    >>> parameter_of("gshm", "tau"), parameter_of("thresholds", "tau")
    ('tau', 'threshold')
    """
    return _mechanism(mechanism).searches.get(quantity, quantity)


def _mechanism(name: str) -> Answers:
    own = named(name)
    if own in _OTHERS:
        return _OTHERS[own]
    kind = calculator(own)
    return Answers(
        lambda **parameters: _calculated(kind, parameters).delta(),
        {parameter: parameter for parameter in kind.falls_with},
        _PROBABILITIES.get(own, {}),
        lambda quantity, _: Fraction(kind.falls_with[quantity]),
    )


def _calculated(kind: type[Calculator], parameters: Parameters) -> Calculator:
    _require(kind.parameters(), parameters)
    return kind(**parameters)


def _call_with(function: Callable[..., _Answer], parameters: Parameters) -> _Answer:
    """The function's value; raises InvalidParameter where a parameter is missing or unknown."""
    if not any(one.kind is one.VAR_KEYWORD for one in signature(function).parameters.values()):
        _require(parameters_of(function), parameters)
    return function(**parameters)


def _require(takes: Mapping[str, bool], parameters: Parameters) -> None:
    """Raise InvalidParameter unless there is a value for each required parameter, and no other."""
    for name, required in takes.items():
        if required and name not in parameters:
            names = ", ".join(parameters)
            raise InvalidParameter("parameters", names, f"with a value for {name}")
    for name in parameters:
        if name not in takes:
            raise InvalidParameter("parameters", name, f"some of {', '.join(takes)}")


def _refined(compute: Callable[[], arb]) -> Enclosure:
    return refine(compute, relative_width=WIDTH).clamped(0, 1)


def _threshold(*, noise: str, scale: Real, threshold: Real, comparison: str, k: Real) -> Enclosure:
    kind = choice("noise", noise, closed_forms.NOISES)
    strict = choice("comparison", comparison, closed_forms.COMPARISONS)
    width, level = positive("scale", scale), rational("threshold", threshold)
    copies = integer("k", k, least=1)
    return _refined(lambda: closed_forms.threshold_delta(kind, width, level, strict, copies))


def _place(z: Real) -> int:
    return integer("z", z, least=-(10**1000))


def _below(z: Real, above: Callable[[int], arb]) -> Enclosure:
    """P(X <= z), from the tail on its own side."""
    at = _place(z)
    return _refined(lambda: above(-at - 1) if at < 0 else 1 - above(at))


def _gaussian_pmf(*, sigma2: Real, z: Real) -> Enclosure:
    return DiscreteGaussian(positive("sigma2", sigma2)).pmf(_place(z))


def _gaussian_cdf(*, sigma2: Real, z: Real) -> Enclosure:
    width = positive("sigma2", sigma2)
    return _below(z, lambda at: above(at, width))


def _laplace_pmf(*, scale: Real, z: Real) -> Enclosure:
    return DiscreteLaplace(positive("scale", scale)).pmf(_place(z))


def _laplace_cdf(*, scale: Real, z: Real) -> Enclosure:
    width = positive("scale", scale)
    return _below(z, lambda at: geometric_above(at, width))


def _zcdp(*, rho: Real, epsilon: Real) -> Enclosure:
    return zcdp.delta(rho=positive("rho", rho), epsilon=epsilon)


def _copies(
    *, mechanism: str, epsilon: Real, k: Real, sigma: Real = 0, sensitivity: Real = 1,
    scale: Real = 0, epsilon_each: Real = 0, delta_each: Real = 0,
) -> Enclosure:  # fmt: skip
    """k times the same mechanism; each kind has parameters of its own."""
    kind = choice("mechanism", mechanism, ("gaussian", "pure", "laplace"))
    copies, loss = integer("k", k, least=1), non_negative("epsilon", epsilon)
    if kind == "gaussian":
        ratio = positive("sensitivity", sensitivity) / positive("sigma", sigma)
        return _refined(lambda: hockey_stick(ball(loss), ball(ratio) * arb(copies).sqrt()))
    if kind == "laplace":
        width = positive("scale", scale)
        if loss * width >= copies:
            return Enclosure.exact(0)
        return _refined(lambda: closed_forms.laplace_delta(copies, width, loss))
    each = positive("epsilon_each", epsilon_each)
    return composition.optimal(k=copies, epsilon=each, delta=delta_each, total_epsilon=loss)


def _replaced(loss: pld.Pld, neighbours: str) -> pld.Pld:
    replaces = choice("neighbours", neighbours, ("add-remove", "replace-one")) == "replace-one"
    return loss.replaced() if replaces else loss


def _sampled(
    *, mechanism: str, scale: Real, rate: Real, epsilon: Real, neighbours: str,
    sampling: str, group: Real = 1,
) -> Enclosure:  # fmt: skip
    kind = choice("mechanism", mechanism, ("gaussian", "laplace"))
    noise = pld.gaussian(sigma=scale) if kind == "gaussian" else pld.laplace(scale=scale)
    if choice("sampling", sampling, ("poisson", "batch")) == "batch":
        step = noise.batched(rate)
    else:
        step = _replaced(noise.sampled(rate), neighbours)
    size = integer("group", group, least=1)
    loss = step if size == 1 else step.grouped(size)
    return loss.delta(epsilon, relative_width=_SAMPLED_WIDTH)


def _training(*, sigma: Real, rate: Real, k: Real, neighbours: str) -> pld.Pld:
    step = _replaced(pld.gaussian(sigma=sigma).sampled(rate), neighbours)
    return step.composed(integer("k", k, least=1))


def _noisy_max(*, noise: str, budget: Real, k: Real = 1) -> pld.Pld:
    """Private choice: with "gumbel" the exponential mechanism, "exponential" permute-and-flip."""
    return pld.noisy_max(epsilon=positive("budget", budget), noise=noise).composed(
        integer("k", k, least=1)
    )


def _allocated(*, mechanism: str, steps: Real, sigma: Real = 0, epsilon_each: Real = 0) -> pld.Pld:
    kind = choice("mechanism", mechanism, ("gaussian", "randomized_response"))
    if kind == "gaussian":
        noise = pld.gaussian(sigma=sigma)
    else:
        noise = pld.randomized_response(epsilon=epsilon_each)
    return noise.allocated(integer("steps", steps, least=1))


def _matrix(
    *, strategy: str, steps: Real, participations: Real, separation: Real, sigma: Real
) -> pld.Pld:
    """strategy: the coefficients of a Toeplitz matrix, separated by spaces."""
    return pld.matrix(
        sigma=sigma,
        strategy=strategy.split(),
        steps=integer("steps", steps, least=1),
        participations=integer("participations", participations, least=1),
        separation=integer("separation", separation, least=1),
    )


def _sampled_matrix(*, strategy: str, steps: Real, rate: Real, sigma: Real) -> pld.Pld:
    """strategy: as in :func:`_matrix`; it has as many bands as coefficients."""
    return pld.sampled_matrix(
        sigma=sigma,
        strategy=strategy.split(),
        steps=integer("steps", steps, least=1),
        rate=rate,
    )


def _repeated(*, budget: Real, mean: Real, shape: Real) -> pld.Pld:
    """The best of many runs of any mechanism of a pure budget."""
    run = pld.randomized_response(epsilon=budget)
    return pld.repeat_and_select(run, mean=mean, shape=shape)


def _repeated_delta(*, epsilon: Real, **parameters: Real) -> Enclosure:
    return _call_with(_repeated, parameters).delta(epsilon)


def _repeated_epsilon(**parameters: Real) -> Enclosure:
    largest = _call_with(_repeated, parameters).largest_loss()
    if largest is None:
        raise Undecided("the largest loss is not known")
    return largest


def _shuffled(*, k: Real, n: Real, budget: Real, epsilon: Real) -> Enclosure:
    values, users = integer("k", k, least=2), integer("n", n, least=1)

    def delta_of(budget: Fraction) -> Enclosure:
        return Shuffled(RandomizedResponse(k=values, epsilon=budget), users).delta(epsilon)

    # e^epsilon - 1 is rounded down to twelve digits, by a share below 1e-11 < 2^-36
    each = positive("budget", budget)
    return Enclosure(delta_of(each).lower, delta_of(each + Fraction(1, 2**36)).upper)


def _of_loss(
    make_loss: Callable[..., pld.Pld], others: Mapping[str, Answerer] = MappingProxyType({})
) -> Answers:
    """Answers about a privacy loss: its delta, its epsilon, and what an attacker can do."""

    def delta(*, epsilon: Real, **parameters: Real) -> Enclosure:
        return _call_with(make_loss, parameters).delta(epsilon, relative_width=_COMPOSED_WIDTH)

    def epsilon(*, delta: Real, **parameters: Real) -> Enclosure:
        return _call_with(make_loss, parameters).epsilon(delta, width=_COMPOSED_WIDTH)

    def power(*, false_alarms: Real, **parameters: Real) -> Enclosure:
        return _call_with(make_loss, parameters).power(false_alarms)

    def mu(*, least_delta: Real, **parameters: Real) -> Enclosure:
        return _call_with(make_loss, parameters).mu(least_delta=least_delta)

    return Answers(delta, others={"epsilon": epsilon, "power": power, "mu": mu, **others})


#: Quantities beside delta of a calculator's group.
_PROBABILITIES: dict[str, dict[str, Answerer]] = {
    "discrete-gaussian": {"pmf": _gaussian_pmf, "cdf": _gaussian_cdf},
    "discrete-laplace": {"pmf": _laplace_pmf, "cdf": _laplace_cdf},
}

#: The mechanisms that are not a calculator's: groups of conformance vectors, and private choice.
_OTHERS: dict[str, Answers] = {
    "thresholds": Answers(
        _threshold,
        {"tau": "threshold"},
        step=lambda _, parameters: Fraction(
            parameters.get("noise") in ("geometric", "discrete_gaussian")
        ),
    ),
    "zcdp": Answers(_zcdp, {"epsilon": "epsilon"}),
    "composition": Answers(_copies, {"epsilon": "epsilon"}),
    "sampling": Answers(_sampled),
    "sampled-gaussian": _of_loss(_training),
    "events": _of_loss(loss_of),
    "local-responses": Answers(local_responses.delta, others={"pmf": local_responses.pmf}),
    "allocation": _of_loss(_allocated),
    "matrix": _of_loss(_matrix),
    "sampled-matrix": _of_loss(_sampled_matrix),
    "repeated": Answers(_repeated_delta, others={"epsilon": _repeated_epsilon}),
    "shuffled": Answers(_shuffled),
    "noisy-max": _of_loss(_noisy_max, {"rho": rho_of_noisy_max}),
    "power": _of_loss(_training),
}
