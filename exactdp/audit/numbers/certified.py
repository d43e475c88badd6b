"""One certified answer per question: the least delta, epsilon, sigma or tau of a mechanism.

Every calculator of exactdp.accounting answers here, under the name of its group of conformance
vectors. The other groups of vectors are listed at the end of this module.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb

from exactdp.accounting import composition, pld, zcdp
from exactdp.accounting.calculator import (
    CALCULATORS,
    Calculator,
    calculator,
    group_of,
)
from exactdp.accounting.calculator import parameters as parameters_of
from exactdp.audit.numbers import closed_forms, local_responses
from exactdp.audit.numbers.inversion import WIDTH, least, least_multiple
from exactdp.audit.numbers.sequences import loss_of
from exactdp.balls import ball, refine
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
from exactdp.normal import hockey_stick
from exactdp.parameters import (
    Real,
    choice,
    delta_target,
    integer,
    non_negative,
    positive,
    rational,
)
from exactdp.samplers import DiscreteGaussian, DiscreteLaplace

__all__ = ["Answerer", "answer", "delta_at", "mechanisms", "parameter_of", "quantities"]


#: The relative width of delta for a sampled step, and for a composition on a grid. The latter is
#: also the width of epsilon.
_SAMPLED_WIDTH = Fraction(1, 10**5)
_COMPOSED_WIDTH = Fraction(1, 10**3)

Parameters = Mapping[str, Real]
Delta = Callable[[Parameters], Enclosure]
Answerer = Callable[[Parameters], Enclosure]


@dataclass(frozen=True)
class Mechanism:
    """How delta is found, and which parameters can be searched for.

    searches: quantity -> the parameter that is searched for; delta does not rise with it.
    step: from a quantity and the other parameters to the step between values that
    differ; 0: any two do.
    others: quantity -> how it is found.
    """

    delta: Delta
    searches: Mapping[str, str]
    others: Mapping[str, Answerer]
    step: Callable[[str, Parameters], Fraction] = lambda *_: Fraction(0)


def answer(mechanism: str, quantity: str, parameters: Parameters) -> Enclosure:
    """The certified value of a quantity.

    mechanism: one of :func:`mechanisms`.
    quantity: one of :func:`quantities` of the mechanism: "delta", or the least "epsilon", "sigma",
    "tau" or "threshold" that is enough, or "pmf" or "cdf".
    parameters: as in the conformance vectors of the mechanism, or as in its calculator. The target
    of a search is the parameter "delta".
    Returns an enclosure, of relative width about 1e-12 where delta is known that well.
    Raises InvalidParameter, Undecided.

    >>> print(answer("zcdp", "epsilon", {"rho": "0.5", "delta": "1e-5"}))
    [4.728386984, 4.728386985]
    """
    found = _mechanism(mechanism)
    choice("quantity", quantity, quantities(mechanism))
    if quantity == "delta":
        return found.delta(parameters)
    if quantity in found.others:
        return found.others[quantity](parameters)
    name = found.searches[quantity]
    rest = {key: value for key, value in parameters.items() if key != "delta"}
    target = delta_target("delta", _need(parameters, "delta"))

    def at(value: Fraction) -> Enclosure:
        return found.delta({**rest, name: value})

    step = found.step(quantity, parameters)
    if step:
        return least_multiple(at, target, step)
    return least(at, target, zero=quantity != "sigma")


def delta_at(mechanism: str, quantity: str, value: Real, parameters: Parameters) -> Enclosure:
    """delta when the quantity (such as epsilon, sigma or tau) has this value."""
    found = _mechanism(mechanism)
    name = found.searches[choice("quantity", quantity, tuple(found.searches))]
    rest = {key: given for key, given in parameters.items() if key != "delta"}
    return found.delta({**rest, name: value})


def mechanisms() -> tuple[str, ...]:
    """Every mechanism, by the name of its group of conformance vectors."""
    return (*map(group_of, CALCULATORS), *_OTHERS)


def quantities(mechanism: str) -> tuple[str, ...]:
    """What can be asked about a mechanism."""
    found = _mechanism(mechanism)
    return ("delta", *found.searches, *found.others)


def parameter_of(mechanism: str, quantity: str) -> str:
    """The parameter whose least value a quantity is.

    >>> parameter_of("gshm", "tau"), parameter_of("thresholds", "tau")
    ('tau', 'threshold')
    """
    return _mechanism(mechanism).searches.get(quantity, quantity)


def _mechanism(name: str) -> Mechanism:
    choice("mechanism", name, mechanisms())
    if name in _OTHERS:
        return _OTHERS[name]
    return _calculated(calculator(next(x for x in CALCULATORS if group_of(x) == name)), name)


def _calculated(made: Calculator[Any], group: str) -> Mechanism:
    """A calculator's answers."""
    takes = parameters_of(made.delta)

    def delta(parameters: Parameters) -> Enclosure:
        for name, required in takes.items():
            if required:
                _need(parameters, name)
        for name in parameters:
            if name not in takes:
                raise InvalidParameter("parameters", name, f"some of {', '.join(takes)}")
        return made.delta(**parameters)

    return Mechanism(
        delta,
        {name: name for name in made.falls_with},
        _PROBABILITIES.get(group, {}),
        lambda quantity, _: Fraction(made.falls_with[quantity]),
    )


def _need(parameters: Parameters, name: str) -> Real:
    if name not in parameters:
        raise InvalidParameter("parameters", ", ".join(parameters), f"with a value for {name}")
    return parameters[name]


def _word(parameters: Parameters, name: str, options: tuple[str, ...]) -> str:
    return choice(name, str(_need(parameters, name)), options)


def _count(parameters: Parameters, name: str) -> int:
    return integer(name, _need(parameters, name), least=1)


def _size(parameters: Parameters, name: str) -> Fraction:
    return positive(name, _need(parameters, name))


def _loss(parameters: Parameters) -> Fraction:
    return non_negative("epsilon", _need(parameters, "epsilon"))


def _refined(compute: Callable[[], arb]) -> Enclosure:
    return refine(compute, relative_width=WIDTH).clamped(0, 1)


def _gaussian_delta(parameters: Parameters) -> Enclosure:
    ratio = positive("sensitivity", parameters.get("sensitivity", 1)) / _size(parameters, "sigma")
    copies, epsilon = integer("k", parameters.get("k", 1), least=1), _loss(parameters)
    return _refined(lambda: hockey_stick(ball(epsilon), ball(ratio) * arb(copies).sqrt()))


def _threshold_delta(parameters: Parameters) -> Enclosure:
    noise = _word(parameters, "noise", tuple(closed_forms.NOISES))
    comparison = _word(parameters, "comparison", closed_forms.COMPARISONS)
    scale, copies = _size(parameters, "scale"), _count(parameters, "k")
    level = rational("threshold", _need(parameters, "threshold"))
    return _refined(lambda: closed_forms.threshold_delta(noise, scale, level, comparison, copies))


def _shift(parameters: Parameters) -> int:
    return integer("sensitivity", parameters.get("sensitivity", 1), least=1)


def _discrete_laplace_delta(parameters: Parameters) -> Enclosure:
    scale, epsilon, shift = _size(parameters, "scale"), _loss(parameters), _shift(parameters)
    if epsilon * scale >= shift:
        return Enclosure.exact(0)
    return _refined(lambda: closed_forms.discrete_laplace_delta(scale, epsilon, shift))


def _place(parameters: Parameters) -> int:
    return integer("z", _need(parameters, "z"), least=-(10**1000))


def _below(parameters: Parameters, above: Callable[[int], arb]) -> Enclosure:
    """P(X <= z), from the tail on its own side."""
    z = _place(parameters)
    return _refined(lambda: above(-z - 1) if z < 0 else 1 - above(z))


def _gaussian_pmf(parameters: Parameters) -> Enclosure:
    return DiscreteGaussian(_size(parameters, "sigma2")).pmf(_place(parameters))


def _gaussian_cdf(parameters: Parameters) -> Enclosure:
    sigma2 = _size(parameters, "sigma2")
    return _below(parameters, lambda z: closed_forms.discrete_gaussian_above(z, sigma2))


def _laplace_pmf(parameters: Parameters) -> Enclosure:
    return DiscreteLaplace(_size(parameters, "scale")).pmf(_place(parameters))


def _laplace_cdf(parameters: Parameters) -> Enclosure:
    scale = _size(parameters, "scale")
    return _below(parameters, lambda z: closed_forms.discrete_laplace_above(z, scale))


def _zcdp_delta(parameters: Parameters) -> Enclosure:
    return zcdp.delta(rho=_size(parameters, "rho"), epsilon=_loss(parameters))


def _composed_delta(parameters: Parameters) -> Enclosure:
    kind = _word(parameters, "mechanism", ("gaussian", "pure", "laplace"))
    if kind == "gaussian":
        return _gaussian_delta(parameters)
    copies, epsilon = _count(parameters, "k"), _loss(parameters)
    if kind == "laplace":
        scale = _size(parameters, "scale")
        if epsilon * scale >= copies:
            return Enclosure.exact(0)
        return _refined(lambda: closed_forms.laplace_delta(copies, scale, epsilon))
    return composition.optimal(
        k=copies,
        epsilon=_need(parameters, "epsilon_each"),
        delta=parameters.get("delta_each", 0),
        total_epsilon=epsilon,
    )


def _sampled_delta(parameters: Parameters) -> Enclosure:
    scale = _need(parameters, "scale")
    mechanism = _word(parameters, "mechanism", ("gaussian", "laplace"))
    noise = pld.gaussian(sigma=scale) if mechanism == "gaussian" else pld.laplace(scale=scale)
    replaces = _word(parameters, "neighbours", ("add-remove", "replace-one")) == "replace-one"
    rate, group = _need(parameters, "rate"), integer("group", parameters.get("group", 1), least=1)
    if _word(parameters, "sampling", ("poisson", "batch")) == "batch":
        step = noise.batched(rate)
    else:
        step = noise.sampled(rate).replaced() if replaces else noise.sampled(rate)
    found = step if group == 1 else step.grouped(group)
    return found.delta(_need(parameters, "epsilon"), relative_width=_SAMPLED_WIDTH)


def _training(parameters: Parameters) -> pld.Pld:
    noise = pld.gaussian(sigma=_need(parameters, "sigma")).sampled(_need(parameters, "rate"))
    replaces = _word(parameters, "neighbours", ("add-remove", "replace-one")) == "replace-one"
    return (noise.replaced() if replaces else noise).composed(_count(parameters, "k"))


def _composed(made: Callable[[Parameters], pld.Pld]) -> Mechanism:
    """A composition, of which delta and epsilon can be asked."""

    def delta(parameters: Parameters) -> Enclosure:
        return made(parameters).delta(_loss(parameters), relative_width=_COMPOSED_WIDTH)

    def epsilon(parameters: Parameters) -> Enclosure:
        return made(parameters).epsilon(_need(parameters, "delta"), width=_COMPOSED_WIDTH)

    return Mechanism(delta, {}, {"epsilon": epsilon})


#: Quantities beside delta of a calculator's group.
_PROBABILITIES: dict[str, dict[str, Answerer]] = {
    "discrete_gaussian": {"pmf": _gaussian_pmf, "cdf": _gaussian_cdf},
}

#: The groups of conformance vectors that are not a calculator's.
_OTHERS: dict[str, Mechanism] = {
    "thresholds": Mechanism(
        _threshold_delta,
        {"tau": "threshold"},
        {},
        lambda _, given: Fraction(given["noise"] in ("geometric", "discrete_gaussian")),
    ),
    "discrete_laplace": Mechanism(
        _discrete_laplace_delta,
        {"epsilon": "epsilon"},
        {"pmf": _laplace_pmf, "cdf": _laplace_cdf},
    ),
    "zcdp": Mechanism(_zcdp_delta, {"epsilon": "epsilon"}, {}),
    "composition": Mechanism(_composed_delta, {"epsilon": "epsilon"}, {}),
    "sampling": Mechanism(_sampled_delta, {}, {}),
    "sampled_gaussian": _composed(_training),
    "events": _composed(loss_of),
    "local_responses": Mechanism(local_responses.delta, {}, {"pmf": local_responses.pmf}),
}
