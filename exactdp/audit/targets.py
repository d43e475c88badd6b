"""What can be audited by name: noise of other libraries and of this one, or a function of yours.

A target is a function run(dataset, n) that returns n independent outputs of a mechanism. The data
set of a noise target is the number the noise is added to.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from importlib import import_module
from typing import Any

from exactdp.errors import InvalidParameter
from exactdp.extras import optional
from exactdp.parameters import positive

Run = Callable[[Any, int], Any]

#: Largest absolute value of the number that discrete noise is added to.
_LARGEST = 1 << 53


@dataclass(frozen=True)
class Target:
    """A mechanism of a library: what it needs, and how to make its run(dataset, n).

    package: the library. parameters: names of the numbers it takes.
    """

    package: str
    parameters: tuple[str, ...]
    make: Callable[..., Run]


@dataclass(frozen=True)
class NamedRun:
    """run(dataset, n) of a target; it can be sent to another process, which makes its own."""

    name: str
    parameters: tuple[tuple[str, str], ...]

    def __call__(self, dataset: Any, n: int) -> Any:
        return _build(self)(dataset, n)


def target(name: str, **parameters: str) -> NamedRun:
    """run(dataset, n) of a named target, or of "package.module:function" found on the path.

    parameters: exact numbers, as named by the target. Raises InvalidParameter, and MissingExtra if
    the library of the target is not installed.
    """
    run = NamedRun(name, tuple(sorted(parameters.items())))
    _build(run)
    return run


@lru_cache(maxsize=8)
def _build(run: NamedRun) -> Run:
    name, parameters = run.name, dict(run.parameters)
    if name not in TARGETS:
        return _function(name, parameters)
    entry = TARGETS[name]
    if set(parameters) != set(entry.parameters):
        names = ", ".join(sorted(parameters)) or "nothing"
        allowed = f"{', '.join(entry.parameters)} for {name}"
        raise InvalidParameter("parameters", names, allowed)
    checked = {key: positive(key, value) for key, value in parameters.items()}
    return entry.make(**checked)


def _function(name: str, parameters: dict[str, str]) -> Run:
    module, colon, function = name.partition(":")
    allowed = "package.module:function, or one of " + ", ".join(TARGETS)
    if not colon or not module or not function:
        raise InvalidParameter("target", name, allowed)
    if parameters:
        raise InvalidParameter("parameters", ", ".join(parameters), f"nothing for {name}")
    try:
        run: Run = getattr(import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise InvalidParameter("target", name, f"{allowed} ({error})") from None
    if not callable(run):
        raise InvalidParameter("target", name, "a function run(dataset, n)")
    return run


def _discrete_laplace(scale: Fraction) -> Run:
    from exactdp.samplers import DiscreteLaplace, SystemSource

    noise, source = DiscreteLaplace(scale=scale), SystemSource()
    return lambda value, n: _whole(value) + noise.sample_many(n, source)


def _discrete_gaussian(sigma: Fraction) -> Run:
    from exactdp.samplers import DiscreteGaussian, SystemSource

    noise, source = DiscreteGaussian(sigma2=sigma**2), SystemSource()
    return lambda value, n: _whole(value) + noise.sample_many(n, source)


def _whole(value: Any) -> int:
    """A data set of these mechanisms: the number they add noise to."""
    if not isinstance(value, int) or abs(value) > _LARGEST:
        raise InvalidParameter("data set", value, "an integer of at most 2^53")
    return value


def _opendp(measurement: str, integers: bool) -> Callable[[Fraction], Run]:
    def make(scale: Fraction) -> Run:
        import numpy as np

        dp = optional("opendp.prelude")
        dp.enable_features("contrib")
        kind, type_ = (int, "i64") if integers else (float, "f64")
        metric = {"make_laplace": dp.l1_distance, "make_gaussian": dp.l2_distance}[measurement]
        space = dp.vector_domain(dp.atom_domain(T=type_, nan=False)), metric(T=type_)
        noise = getattr(dp.m, measurement)(*space, scale=float(scale))
        return lambda value, n: np.array(noise([kind(value)] * n))

    return make


def _opendp_scale(measurement: str, integers: bool = False) -> Target:
    return Target("opendp", ("scale",), _opendp(measurement, integers))


def _diffprivlib(name: str, *names: str) -> Target:
    def make(**parameters: Fraction) -> Run:
        import numpy as np

        mechanisms = optional("diffprivlib.mechanisms")
        integers = name.startswith("Geometric")
        kind = int if integers else float
        arguments = {key: float(value) for key, value in parameters.items()}
        if integers:
            arguments["sensitivity"] = int(parameters["sensitivity"])
        noise = getattr(mechanisms, name)(**arguments)
        return lambda value, n: np.array([noise.randomise(kind(value)) for _ in range(n)])

    return Target("diffprivlib", names, make)


#: Name -> target. The parameters are those of the library's own documentation.
TARGETS = {
    "exactdp:discrete-laplace": Target("exactdp", ("scale",), _discrete_laplace),
    "exactdp:discrete-gaussian": Target("exactdp", ("sigma",), _discrete_gaussian),
    "opendp:laplace": _opendp_scale("make_laplace"),
    "opendp:gaussian": _opendp_scale("make_gaussian"),
    "opendp:discrete-laplace": _opendp_scale("make_laplace", integers=True),
    "opendp:discrete-gaussian": _opendp_scale("make_gaussian", integers=True),
    "diffprivlib:laplace": _diffprivlib("Laplace", "epsilon", "sensitivity"),
    "diffprivlib:geometric": _diffprivlib("Geometric", "epsilon", "sensitivity"),
    "diffprivlib:gaussian": _diffprivlib("Gaussian", "epsilon", "delta", "sensitivity"),
    "diffprivlib:gaussian-analytic": _diffprivlib(
        "GaussianAnalytic", "epsilon", "delta", "sensitivity"
    ),
}
