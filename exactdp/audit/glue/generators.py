"""Stand-ins for the generators of numpy and of random, in place while a pipeline is recorded."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from exactdp.audit.glue.noise import Noise, plain
from exactdp.audit.glue.tape import Diverged, RecordedCall, Replacements, Session, place
from exactdp.audit.randomness import generators, state

#: Samplers whose draws are noise, with their parameters; a location is added to the draw.
_NOISE = {
    "laplace": ("loc", "scale", "size"),
    "normal": ("loc", "scale", "size"),
    "gumbel": ("loc", "scale", "size"),
    "logistic": ("loc", "scale", "size"),
    "standard_normal": ("size", "dtype"),
    "exponential": ("scale", "size"),
    "standard_exponential": ("size", "dtype"),
    "gamma": ("shape", "scale", "size"),
    "standard_gamma": ("shape", "size"),
    "standard_cauchy": ("size",),
    "standard_t": ("df", "size"),
    "geometric": ("p", "size"),
    "multivariate_normal": ("loc", "cov", "size"),
}
#: Samplers whose draws serve sampling or noise.
_COINS = {
    "random": ("size", "dtype"),
    "uniform": ("low", "high", "size"),
    "integers": ("low", "high", "size", "dtype", "endpoint"),
    "binomial": ("n", "p", "size"),
    "poisson": ("lam", "size"),
}
#: Samplers that select rows or candidates.
_SELECTIONS = ("choice", "permutation", "shuffle", "permuted", "multinomial")
_RANDOM_SELECTIONS = ("choice", "choices", "sample", "shuffle", "getrandbits", "randbytes")


def _numpy_samplers(session: Session) -> dict[str, Callable[..., Any]]:
    """The samplers of numpy's generators, old and new."""
    samplers: dict[str, Callable[..., Any]] = {
        name: partial(_named, session, name, names) for name, names in (_NOISE | _COINS).items()
    }
    samplers |= {name: partial(_select, session, name) for name in _SELECTIONS}
    for name in ("random_sample", "ranf", "sample"):
        samplers[name] = samplers["random"]
    samplers["randint"] = samplers["integers"]
    samplers["rand"] = lambda *shape: samplers["random"](size=shape or None)
    samplers["randn"] = lambda *shape: samplers["standard_normal"](size=shape or None)
    return samplers


def _random_samplers(session: Session) -> dict[str, Callable[..., Any]]:
    """The samplers of the module random."""
    draw = partial(_draw, session)

    def integers(start: int, stop: int | None = None) -> Any:
        low, high = (0, start) if stop is None else (start, stop)
        return draw("integers", {"low": low, "high": high})

    samplers: dict[str, Callable[..., Any]] = {
        "gauss": lambda mu=0.0, sigma=1.0: draw("normal", {"loc": mu, "scale": sigma}),
        "expovariate": lambda lambd=1.0: draw("exponential", {"scale": 1 / lambd}),
        "random": lambda: draw("random", {}),
        "uniform": lambda a, b: draw("uniform", {"low": a, "high": b}),
        "randrange": integers,
        "randint": lambda a, b: integers(a, b + 1),
    }
    samplers["normalvariate"] = samplers["gauss"]
    return samplers | {name: partial(_select_python, session, name) for name in _RANDOM_SELECTIONS}


def _named(session: Session, name: str, names: tuple[str, ...], *args: Any, **options: Any) -> Any:
    parameters = dict(zip(names, args, strict=False)) | options
    for other in ("mean",):
        if other in parameters:
            parameters["loc"] = parameters.pop(other)
    if parameters.pop("out", None) is not None:
        session.tape.notes.append(f"{place()}: {name}(out=...) is not followed")
    return _draw(session, name, parameters)


def _draw(session: Session, name: str, parameters: dict[str, Any]) -> Any:
    """One draw: noise that meets its location, or plain numbers inside a primitive."""
    tape = session.tape
    parameters = {key: plain(value) for key, value in parameters.items()}
    location = parameters.pop("loc", None)
    if parameters.get("size") is None and location is not None and name != "multivariate_normal":
        parameters["size"] = np.broadcast_shapes(
            *map(np.shape, (location, parameters.get("scale", 0)))
        )
    call = RecordedCall(name, place(), coin=name in _COINS)
    call.parameters = {k: v for k, v in parameters.items() if k not in ("size", "dtype")}
    if tape.inside:
        source = tape.plain()
    else:
        call.before = tape.begin(call)
        number = len(tape.coins if call.coin else tape.calls)
        source = tape.generator(int(call.coin), number)
    if name == "multivariate_normal":
        values = source.multivariate_normal(np.zeros(np.shape(location)), **parameters)
    else:
        values = getattr(source, name)(**{k: v for k, v in parameters.items() if v is not None})
    if tape.inside:
        return values if location is None else values + location
    call.values = np.asarray(values)
    _same_shape(call)
    ids = np.arange(call.values.size).reshape(call.values.shape)
    noise = Noise(tape, call, call.values, ids, known=name != "multivariate_normal")
    return noise if location is None else noise + location


def _same_shape(call: RecordedCall) -> None:
    """Noise has one shape in both runs; coins of sampling may differ, and are then not followed."""
    before = call.before
    if before is None or before.values.shape == call.values.shape:
        return
    if not call.coin:
        raise Diverged(
            "structure",
            call.where,
            f"{call.name} noise has shape {before.values.shape} on the left, "
            f"{call.values.shape} on the right",
        )
    call.before, before.resized = None, True


def _select(session: Session, name: str, *args: Any, **options: Any) -> Any:
    args, options = tuple(map(plain, args)), {k: plain(v) for k, v in options.items()}
    sampler = getattr(session.tape.plain(), name)
    p = options.get("p", args[3] if name == "choice" and len(args) > 3 else None)
    if p is None or session.tape.inside:
        return sampler(*args, **options)
    call = RecordedCall("choice", place(), coin=True, parameters={"p": np.asarray(p)})
    before = session.tape.begin(call)
    call.output = sampler(*args, **options) if before is None else before.output
    return call.output


def _select_python(session: Session, name: str, *args: Any, **options: Any) -> Any:
    return getattr(session.tape.python(), name)(*args, **options)


def _stand_in(
    session: Session, base: type, samplers: dict[str, Callable[..., Any]], *seed: Any
) -> type:
    """A subclass whose samplers are recorded; other objects of the base are its instances, too."""

    class Meta(type):
        def __instancecheck__(cls, instance: Any) -> bool:
            return isinstance(instance, base)

    def start(self: Any, *args: Any, **options: Any) -> None:
        session.tape.seeded(*args, *options.values())
        base.__init__(self, *seed)  # type: ignore[misc]

    methods = {name: staticmethod(each) for name, each in samplers.items() if hasattr(base, name)}
    methods["seed"] = staticmethod(lambda *args, **_: session.tape.seeded(*args))

    def new(cls: Any, *args: Any, **options: Any) -> Any:
        return base.__new__(cls)  # type: ignore[call-overload]

    return Meta(base.__name__, (base,), {"__init__": start, "__new__": new} | methods)


def stand_ins(session: Session) -> Replacements:
    """The stand-ins for every generator and sampler that a loaded module holds."""
    of_numpy, of_random = _numpy_samplers(session), _random_samplers(session)
    modern = _stand_in(session, np.random.Generator, of_numpy, np.random.PCG64(0))
    kinds = {
        np.random.Generator: modern,
        np.random.RandomState: _stand_in(session, np.random.RandomState, of_numpy, 0),
        random.Random: _stand_in(session, random.Random, of_random, 0),
        random.SystemRandom: _stand_in(session, random.SystemRandom, of_random),
    }
    swaps: dict[int, tuple[Any, Any]] = {id(old): (old, new) for old, new in kinds.items()}
    for old in (np.random.seed, random.seed):
        swaps[id(old)] = (old, lambda *seed: session.tape.seeded(*seed))
    swaps[id(np.random.default_rng)] = (np.random.default_rng, lambda *seed: modern(*seed))
    for module, samplers in ((np.random, of_numpy), (random, of_random)):
        for name, sampler in samplers.items():
            if hasattr(module, name):
                swaps[id(getattr(module, name))] = (getattr(module, name), sampler)
    replacements: Replacements = []
    for module, name, value in _globals():
        if id(value) in swaps and swaps[id(value)][0] is value:
            replacements.append((module, name, swaps[id(value)][1]))
        elif type(value) in kinds and module is not random:
            replacements.append((module, name, kinds[type(value)]()))
    return replacements


def _globals() -> Iterator[tuple[ModuleType, str, Any]]:
    """The global names of every module that may hold code of a pipeline."""
    for title, module in list(sys.modules.items()):
        room = title.partition(".")[0]
        if room in ("exactdp", "hypothesis", "_pytest", "tempfile", "unittest") or (
            room == "numpy" and title != "numpy.random"
        ):
            continue
        if isinstance(module, ModuleType):
            for name, value in list(vars(module).items()):
                if not name.startswith("__"):
                    yield module, name, value


class Outsiders:
    """Generators that no module holds: drawing from them is not recorded, but noticed.

    used: what was drawn from, in words.
    """

    def __init__(self) -> None:
        existing = generators()  # a bit generator changes with its generator
        self._all = [one for one in existing if not isinstance(one, np.random.BitGenerator)]
        self._states = self._now()
        self.used: set[str] = set()

    def _now(self) -> list[str]:
        return [*map(state, self._all), _torch_state()]

    def look(self, *, allowed: bool = False) -> None:
        """Note what was drawn from since the last look, unless that is allowed (in a primitive)."""
        before, self._states = self._states, self._now()
        names = [*(type(each).__name__ for each in self._all), "generator of torch"]
        changed = zip(names, before, self._states, strict=True)
        if not allowed:
            self.used |= {name for name, one, two in changed if one != two}


def _torch_state() -> str:
    torch = sys.modules.get("torch")
    return "" if torch is None else str(hash(torch.random.get_rng_state().numpy().tobytes()))
