"""The releases of a privacy statement: from a privacy loss to their fields, and back.

A law that a statement can name has one function here (see :func:`fields_of`), and an entry in
:data:`LAWS`. checker/SPECIFICATION.md, section 3, defines the fields.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import singledispatch
from typing import Any

from exactdp.accounting import pld
from exactdp.accounting.neighbours import relation
from exactdp.accounting.pld.losses.base import LossLaw, Step
from exactdp.accounting.pld.losses.contest import BoundedRange
from exactdp.accounting.pld.losses.curves import CurveLaw
from exactdp.accounting.pld.losses.finite import FiniteLaws, Response
from exactdp.accounting.pld.losses.integers import DiscreteGaussian, DiscreteLaplace
from exactdp.accounting.pld.losses.laplace import Laplace
from exactdp.accounting.pld.losses.listed import SampledListed
from exactdp.accounting.pld.losses.normal import Gaussian, SampledNormal
from exactdp.enclosure import Enclosure
from exactdp.errors import Described, InvalidParameter
from exactdp.parameters import decimal_text, integer

Release = dict[str, Any]

#: Relations in a statement, and in the library.
NEIGHBOURS = {
    "add-remove": pld.ADD_REMOVE,
    "replace-one": pld.REPLACE_ONE,
    "zero-out": pld.REPLACE_SPECIAL,
}

#: Digits of a claimed number, which is rounded away from the truth.
DIGITS = 10

#: Up to this number of runs, epsilons of bounded range add up to less than rho gives at delta 1e-6:
#: n w < n w^2/8 + 2 sqrt(n w^2/8 ln 10^6) for n < 6.9.
_PURE = 6

_MOST_TIMES, _MOST_RELEASES, _MOST_OUTCOMES, _LONGEST = 10**9, 500, 5000, 60

_NAMED = (
    "a mechanism that a privacy statement can name: Gaussian, Laplace, discrete Gaussian or "
    "discrete Laplace noise, with or without Poisson sampling, an exact law, the exponential "
    "mechanism, a noisy maximum, or an (epsilon, delta)-DP mechanism; for others (random "
    "allocation, batches, truncated samples, Gaussian selection) the checker has no rule: state "
    "their promise, statement.of(loss.guarantee(epsilon))"
)


@dataclass(frozen=True)
class StatedLaw:
    """A mechanism of statements.

    words: what it is, for readers. loss: the loss of one run without sampling, from its fields and
    the neighbours; None where a loss is not known. trusted: a statement holds a promise of the
    mechanism, and no parameters of noise.
    """

    words: str
    loss: Callable[[Release, str], pld.Pld] | None
    trusted: bool = False


def number(name: str, value: Fraction) -> str:
    """The exact text of a number in a statement: a decimal if there is one, else a fraction."""
    whole = value.denominator == 1 and value < 10**20
    text = str(value.numerator) if whole else decimal_text(value).replace("E", "e")
    if len(text) > _LONGEST:
        text = str(value)
    if len(text) > _LONGEST:
        allowed = f"a number of at most {_LONGEST} characters, as a decimal or a fraction"
        raise InvalidParameter(name, value, allowed)
    return text


def rounded_up(value: Fraction) -> str:
    """The number with a few digits, not below it, as a statement writes it."""
    text = Enclosure.exact(value).decimal_upper(DIGITS)
    return small(text, "1e-999")


def small(text: str, otherwise: str) -> str:
    """The text, or another one for numbers that are too small for a statement."""
    exponent = text.partition("e")[2]
    return otherwise if exponent and int(exponent) < -999 else text


def neighbours_of(text: str) -> str:
    """The name of a relation in a statement; "pair" for a relation that only words describe."""
    named = {relation(value): name for name, value in NEIGHBOURS.items()}
    return named.get(relation(text), "pair")


def releases_of(loss: pld.Pld) -> list[Release]:
    """The releases that a loss composes. Raises InvalidParameter for a mechanism without a name."""
    if len(loss.steps) > _MOST_RELEASES or max(n for _, n in loss.steps) > _MOST_TIMES:
        size = Described(f"{len(loss.steps)} mechanisms, run {loss.count} times")
        allowed = f"at most {_MOST_RELEASES} mechanisms, each run at most 1e9 times"
        raise InvalidParameter("loss", size, allowed)
    releases = [{**_fields(step, n), "times": n} for step, n in loss.steps]
    if (
        any("rate" in release for release in releases)
        and neighbours_of(loss.neighbours) != "add-remove"
    ):
        raise InvalidParameter("neighbours", loss.neighbours, "add-remove neighbours, for samples")
    return releases


def _fields(step: Step, times: int) -> Release:
    """The fields of a step; for a mechanism that is known only by a bound, its promise.

    The promise is epsilon (noisy maximum) or rho (Gaussian noise with an irrational distance); for
    bounded range epsilon, or rho if many runs are composed.
    """
    law = step.removed
    if isinstance(law, CurveLaw) and isinstance(law.curve_of_one, BoundedRange):
        width = law.curve_of_one.width  # rho: the proof is in exactdp.audit.numbers.concentrated
        return (
            _pure(width)
            if times <= _PURE
            else {"mechanism": "zcdp", "rho": rounded_up(width**2 / 8)}
        )
    if not step.real or isinstance(law, CurveLaw):
        return fields_of(law)
    if all(step.real) and isinstance(law, Laplace):
        return _pure(law.mu)
    if all(step.real) and isinstance(law, Gaussian):
        return {"mechanism": "zcdp", "rho": rounded_up(law.mu**2 / 2)}
    raise InvalidParameter("mechanism", Described("one known by a bound"), _NAMED)


def _pure(epsilon: Fraction) -> Release:
    return {"mechanism": "approximate", "epsilon": number("epsilon", epsilon), "delta": "0"}


@singledispatch
def fields_of(law: LossLaw) -> Release:
    """The mechanism and its parameters, of the law of a loss with the user against without."""
    raise InvalidParameter("mechanism", Described(type(law).__name__), _NAMED)


@fields_of.register
def _(law: Gaussian) -> Release:
    return {"mechanism": "gaussian", **_scaled("sigma", law.mu)}


@fields_of.register
def _(law: Laplace) -> Release:
    return {"mechanism": "laplace", **_scaled("scale", law.mu)}


@fields_of.register
def _(law: DiscreteGaussian) -> Release:
    return {
        "mechanism": "discrete-gaussian",
        "sigma2": number("sigma2", law.sigma2),
        "sensitivity": str(law.shift),
    }


@fields_of.register
def _(law: DiscreteLaplace) -> Release:
    return {
        "mechanism": "discrete-laplace",
        "scale": number("scale", 1 / law.rate),
        "sensitivity": str(law.shift),
    }


@fields_of.register
def _(law: Response) -> Release:
    return {
        "mechanism": "approximate",
        "epsilon": number("epsilon", law.epsilon),
        "delta": number("delta", law.delta),
    }


@fields_of.register
def _(law: FiniteLaws) -> Release:
    pairs = sorted(law.masses().values(), reverse=True)
    if len(pairs) > _MOST_OUTCOMES:
        allowed = f"at most {_MOST_OUTCOMES} outcomes of different ratios"
        raise InvalidParameter("laws", Described(f"{len(pairs)} outcomes"), allowed)
    texts = [[number("p", p), number("q", q)] for p, q in pairs]
    return {"mechanism": "finite-law", "outcomes": texts}


@fields_of.register
def _(law: CurveLaw) -> Release:
    curve: Any = law.curve_of_one
    names = {"_Gshm": "gaussian-sparse-histogram", "_Csh": "correlated-sparse-histogram"}
    if type(curve).__name__ not in names:
        raise InvalidParameter("mechanism", Described(type(curve).__name__), _NAMED)
    bound = "k" if type(curve).__name__ == "_Gshm" else "sparsity"
    size = getattr(curve, bound)
    kappa, most = getattr(curve, "correlation", None), getattr(curve, "contributions", size)
    if kappa is not None or most != size:
        allowed = "left out: statements have the default correlation and contributions"
        raise InvalidParameter("correlation", Described("another"), allowed)
    return {
        "mechanism": names[type(curve).__name__],
        bound: size,
        "sigma": number("sigma", curve.sigma),
        "tau": number("tau", curve.tau),
    }


@fields_of.register(SampledNormal)
@fields_of.register(SampledListed)
def _(law: Any) -> Release:
    fields = fields_of(law.base)
    if "delta" in fields:
        raise InvalidParameter("mechanism", Described("a sampled (epsilon, delta) promise"), _NAMED)
    return {**fields, "rate": number("rate", law.rate)}


def _scaled(noise: str, distance: Fraction) -> Release:
    """The noise for sensitivity 1 if this is a decimal, else with a whole sensitivity."""
    scale = 1 / distance
    if "/" not in decimal_text(scale) and len(decimal_text(scale)) <= _LONGEST:
        return {noise: number(noise, scale), "sensitivity": "1"}
    return {
        noise: number(noise, Fraction(scale.numerator)),
        "sensitivity": number("sensitivity", Fraction(scale.denominator)),
    }


#: Mechanism of a statement -> what it is.
LAWS = {
    "gaussian": StatedLaw(
        "Gaussian noise", lambda r, _: pld.gaussian(sigma=r["sigma"], sensitivity=r["sensitivity"])
    ),
    "laplace": StatedLaw(
        "Laplace noise", lambda r, _: pld.laplace(scale=r["scale"], sensitivity=r["sensitivity"])
    ),
    "discrete-gaussian": StatedLaw(
        "discrete Gaussian noise",
        lambda r, _: pld.discrete_gaussian(sigma2=r["sigma2"], sensitivity=int(r["sensitivity"])),
    ),
    "discrete-laplace": StatedLaw(
        "discrete Laplace noise",
        lambda r, _: pld.discrete_laplace(
            epsilon=Fraction(r["sensitivity"]) / Fraction(r["scale"]),
            sensitivity=int(r["sensitivity"]),
        ),
    ),
    "randomized-response": StatedLaw(
        "randomised response",
        lambda r, text: pld.randomized_response(epsilon=r["epsilon"], neighbours=text),
    ),
    "finite-law": StatedLaw(
        "a mechanism with finitely many outcomes", lambda r, text: _finite(r["outcomes"], text)
    ),
    "approximate": StatedLaw(
        "a mechanism with a promise of (epsilon, delta)-differential privacy",
        lambda r, text: pld.approximate(epsilon=r["epsilon"], delta=r["delta"], neighbours=text),
        trusted=True,
    ),
    "zcdp": StatedLaw(
        "a mechanism with a promise of zero-concentrated differential privacy", None, trusted=True
    ),
    "gaussian-sparse-histogram": StatedLaw(
        "a Gaussian sparse histogram",
        lambda r, _: pld.gshm(k=r["k"], sigma=r["sigma"], tau=r["tau"]),
    ),
    "correlated-sparse-histogram": StatedLaw(
        "a correlated sparse histogram",
        lambda r, _: pld.csh(sparsity=r["sparsity"], sigma=r["sigma"], tau=r["tau"]),
    ),
    "discrete-sparse-histogram": StatedLaw("a sparse histogram with discrete Gaussian noise", None),
}


def loss_of(releases: list[Release], neighbours: str) -> pld.Pld | None:
    """The privacy loss of releases; None if one of them is known only by its rho.

    neighbours: the relation, as in a statement. Like replaced data, a pair has no named side.
    """
    text = NEIGHBOURS.get(neighbours, pld.REPLACE_ONE)
    total: pld.Pld | None = None
    for release in releases:
        law = LAWS.get(release["mechanism"])
        if law is None or law.loss is None:
            return None
        loss = law.loss(release, text)
        if "rate" in release:
            loss = loss.sampled(release["rate"])
        loss = pld.Pld(loss.steps, text, loss.source).composed(release["times"])
        total = loss if total is None else total.then(loss)
    return total


def merged(releases: list[Release]) -> list[Release]:
    """The releases; equal releases become one, with the sum of their times."""
    by_fields: dict[str, Release] = {}
    for release in releases:
        own = {name: value for name, value in release.items() if name != "times"}
        times = by_fields[repr(own)]["times"] if repr(own) in by_fields else 0
        by_fields[repr(own)] = {**own, "times": integer("times", times + release["times"], least=1)}
    return list(by_fields.values())


def _finite(outcomes: list[list[str]], text: str) -> pld.Pld:
    from exactdp.law import Law

    laws = [
        Law({i: Fraction(pair[side]) for i, pair in enumerate(outcomes) if Fraction(pair[side])})
        for side in (0, 1)
    ]
    return pld.laws(*laws, neighbours=text)
