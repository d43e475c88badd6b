"""Functions that add noise: what enters them, and the sensitivity that they are told."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

from exactdp.audit.glue.distance import NORMS
from exactdp.audit.glue.noise import plain, released
from exactdp.audit.glue.tape import RecordedCall, Replacements, Session, place
from exactdp.errors import InvalidParameter
from exactdp.parameters import choice

Read = Callable[[dict[str, Any]], Any]


@dataclass(frozen=True)
class Primitive:
    """A function or method that adds noise.

    owner, name: the module or class, and its attribute. value: the parameter that is noised, or a
    function of the arguments (a dict). sensitivity: a parameter, a function of the arguments, or a
    number; None if the caller of the audit declares it. norm: "l1", "l2" or "linf"; None for the
    norm of the audit. epsilon: like sensitivity, for audits of a total epsilon. public: parameters
    that must not depend on the data, such as the scale (sensitivity and epsilon never may).
    save, restore: if the function stores its result instead of returning it, save reads the result
    from the arguments after a call, and restore(arguments, result) stores it again.
    Raises InvalidParameter if the owner has no such function.
    """

    owner: Any
    name: str
    value: str | Read
    sensitivity: Any = None
    norm: str | None = None
    epsilon: Any = None
    public: tuple[str, ...] = ()
    save: Read | None = None
    restore: Callable[[dict[str, Any], Any], None] | None = None

    def __post_init__(self) -> None:
        if not callable(getattr(self.owner, self.name, None)):
            raise InvalidParameter("name", self.name, f"a function of {self.owner!r}")
        if self.norm is not None:
            choice("norm", self.norm, tuple(NORMS))

    def recorded(self, session: Session) -> Callable[..., Any]:
        """The function, recorded and replayed."""
        function = getattr(self.owner, self.name)
        signature = inspect.signature(function)
        title = f"{self.owner.__name__}.{self.name}" if inspect.isclass(self.owner) else self.name

        @wraps(function)
        def call(*args: Any, **options: Any) -> Any:
            tape = session.tape
            if tape.inside:
                return function(*args, **options)
            bound = signature.bind(*args, **options)
            bound.apply_defaults()
            arguments = {name: released(plain(value)) for name, value in bound.arguments.items()}
            entry = RecordedCall(
                title,
                place(),
                primitive=True,
                value=_read(self.value, arguments),
                declared=_read(self.sensitivity, arguments),
                norm=self.norm,
                epsilon=_read(self.epsilon, arguments),
            )
            entry.parameters = {name: arguments[name] for name in self.public} | {
                "sensitivity": entry.declared,
                "epsilon": entry.epsilon,
            }

            def run() -> Any:
                returned = function(*args, **options)
                return returned if self.save is None else self.save(arguments)

            result = tape.through(entry, run, session.look)
            if self.restore is None:
                return result
            self.restore(arguments, result)
            return None

        return call


def _read(what: Any, arguments: dict[str, Any]) -> Any:
    if callable(what):
        return what(arguments)
    return arguments[what] if isinstance(what, str) and what in arguments else what


def recorded(primitives: tuple[Primitive, ...], session: Session) -> Replacements:
    """The recorded functions, for every global name that holds them."""
    replacements: Replacements = []
    for each in primitives:
        old, new = getattr(each.owner, each.name), each.recorded(session)
        replacements.append((each.owner, each.name, new))
        for module in list(sys.modules.values()):
            for name, value in list(getattr(module, "__dict__", {}).items()):
                if value is old and module is not each.owner:
                    replacements.append((module, name, new))
    return replacements


def known() -> tuple[Primitive, ...]:
    """The primitives of diffprivlib, OpenDP and Opacus, if the libraries are loaded."""
    primitives: list[Primitive] = []
    if "diffprivlib" in sys.modules:
        primitives += _diffprivlib(sys.modules["diffprivlib"])
    if "opendp.mod" in sys.modules:
        # measurements; the audit declares the largest distance between their arguments
        primitives.append(Primitive(sys.modules["opendp.mod"].Measurement, "__call__", "arg"))
    if "opacus.optimizers.optimizer" in sys.modules:
        primitives += _opacus(sys.modules["opacus.optimizers.optimizer"])
    return tuple(primitives)


def _diffprivlib(library: Any) -> list[Primitive]:
    """Every mechanism with a sensitivity, and the exponential mechanism's utilities."""
    primitives = []
    for mechanism in vars(library.mechanisms).values():
        if not inspect.isclass(mechanism) or "randomise" not in vars(mechanism):
            continue
        takes = inspect.signature(vars(mechanism)["randomise"]).parameters
        noised = "value" in takes and takes["value"].default is not None
        if noised and "sensitivity" not in inspect.signature(mechanism).parameters:
            continue
        value = "value" if noised else (lambda arguments: arguments["self"].utility)
        norm = "l1" if noised else "linf"
        primitives.append(Primitive(mechanism, "randomise", value, _sensitivity, norm, _epsilon))
    return primitives


def _sensitivity(arguments: dict[str, Any]) -> Any:
    return arguments["self"].sensitivity


def _epsilon(arguments: dict[str, Any]) -> Any:
    return arguments["self"].epsilon


def _opacus(module: Any) -> list[Primitive]:
    """The noise of one step: the sum of clipped gradients, whose sensitivity is the clip."""

    def restore(arguments: dict[str, Any], gradients: list[Any]) -> None:
        for parameter, gradient in zip(arguments["self"].params, gradients, strict=True):
            parameter.grad = gradient

    return [
        Primitive(
            module.DPOptimizer,
            "add_noise",
            lambda arguments: [p.summed_grad for p in arguments["self"].params],
            lambda arguments: arguments["self"].max_grad_norm,
            "l2",
            save=lambda arguments: [p.grad for p in arguments["self"].params],
            restore=restore,
        )
    ]
