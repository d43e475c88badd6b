"""Clients of other local privacy libraries, and the epsilon that they state."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from itertools import product
from typing import Any


@dataclass(frozen=True)
class Client:
    """One client, and the epsilon that it states.

    package: its name on PyPI. values: the user's values to try. modules: those that draw random
    numbers, the client's own first. call(module, value): one report.
    """

    package: str
    name: str
    epsilon: float
    values: tuple[Any, ...]
    modules: tuple[str, ...]
    call: Callable[[Any, Any], Any]

    def loaded(self) -> tuple[Any, ...]:
        """Import the modules."""
        return tuple(import_module(name) for name in self.modules)

    def reporting(self, value: Any) -> Callable[[], Any]:
        """A function that returns one report of a user with this value."""
        return partial(self.call, import_module(self.modules[0]), value)


_ONE = 1.0


def _turned(text: str) -> int:
    """A hash function with the values 0, 1, 2."""
    return (int(text) + 1) % 3


def _parity(text: str) -> int:
    """A hash function with the values 0, 1."""
    return int(text) % 2


def _pure() -> Iterator[Client]:
    """index_mapper: values are their own indexes."""
    for name, module, more, call in (
        ("DEClient", "direct_encoding.de_client", (),
         lambda m, x: m.DEClient(_ONE, 4, index_mapper=int).privatise(x)),
        ("UEClient", "unary_encoding.ue_client", (),
         lambda m, x: m.UEClient(_ONE, 3, index_mapper=int).privatise(x)),
        ("UEClient, use_oue", "unary_encoding.ue_client", (),
         lambda m, x: m.UEClient(_ONE, 3, use_oue=True, index_mapper=int).privatise(x)),
        ("HadamardResponseClient", "hadamard_response.hr_client",
         ("hadamard_response.internal.k2k_hadamard",),
         lambda m, x: m.HadamardResponseClient(_ONE, 3, None, index_mapper=int).privatise(x)),
        ("HadamardMechClient", "hadamard_mechanism.hadamard_mechanism_client", (),
         lambda m, x: m.HadamardMechClient(_ONE, 4, 1, index_mapper=int).privatise(x)),
        ("LHClient", "local_hashing.lh_client", (),
         lambda m, x: m.LHClient(_ONE, 4, index_mapper=int).privatise(x)),
        ("LHClient, use_olh", "local_hashing.lh_client", (),
         lambda m, x: m.LHClient(_ONE, 4, use_olh=True, index_mapper=int).privatise(x)),
        ("CMSClient", "apple_cms.cms_client", (),
         lambda m, x: m.CMSClient(_ONE, [int, _turned], 3).privatise(x)),
        ("CMSClient, is_hadamard", "apple_cms.cms_client", (),
         lambda m, x: m.CMSClient(_ONE, [int, _turned], 4, is_hadamard=True).privatise(x)),
        ("PCSClient", "priv_count_sketch.pcs_client", (),
         lambda m, x: m.PCSClient(_ONE, 2, 3, [(int, _parity), (_turned, _parity)]).privatise(x)),
    ):  # fmt: skip
        names = tuple(f"pure_ldp.frequency_oracles.{each}" for each in (module, *more))
        yield Client("pure-ldp", name, _ONE, (0, 1, 2), names, call)
    yield Client(
        "pure-ldp",
        "RAPPORClient",
        2 * math.log(3),
        (0, 1, 2),
        ("pure_ldp.frequency_oracles.rappor.rappor_client",),
        lambda m, x: m.RAPPORClient(0.5, 3, [[int]], 1, index_mapper=int).privatise(x)[0],
    )


def _multi() -> Iterator[Client]:
    frequency, longitudinal, tuples = "pure_frequency_oracles", "long_freq_est", "mdim_freq_est"
    pairs = tuple(product(range(2), repeat=2))
    for name, folder, values, arguments, more in (
        ("GRR", frequency, (0, 1, 2), (4, _ONE), ()),
        ("UE", frequency, (0, 1, 2), (3, _ONE, True), ()),
        ("SS", frequency, (0, 1, 2), (5, _ONE / 2), ()),
        ("LH", frequency, (0, 1, 2), (4, _ONE), (f"{frequency}.GRR",)),
        ("ADP", frequency, (0, 1, 2), (3, _ONE), (f"{frequency}.GRR", f"{frequency}.UE")),
        ("L_GRR", longitudinal, (0, 1, 2), (3, 2.0, _ONE), (f"{frequency}.GRR",)),
        ("L_LH", longitudinal, (0, 1, 2), (4, 2.0, _ONE),
         (f"{longitudinal}.L_GRR", f"{frequency}.GRR")),
        ("L_SUE", longitudinal, (0, 1, 2), (3, 2.0, _ONE), ()),
        ("L_OSUE", longitudinal, (0, 1, 2), (3, 2.0, _ONE), ()),
        ("L_OUE", longitudinal, (0, 1, 2), (3, 2.0, _ONE), ()),
        ("L_SOUE", longitudinal, (0, 1, 2), (3, 2.0, _ONE), ()),
        ("dBitFlipPM", longitudinal, (0, 1, 2), (3, 3, 1, _ONE), ()),
        ("RSpFD_GRR", tuples, pairs, ([2, 2], 2, _ONE), (f"{frequency}.GRR",)),
        ("RSpFD_UE_zero", tuples, pairs, ([2, 2], 2, _ONE), (f"{frequency}.UE",)),
        ("RSpFD_UE_rnd", tuples, pairs, ([2, 2], 2, _ONE), (f"{frequency}.UE",)),
        ("RSpFD_ADP", tuples, pairs, ([2, 2], 2, _ONE), (f"{frequency}.GRR", f"{frequency}.UE")),
        ("SPL_GRR", tuples, pairs, ([2, 2], 2, _ONE), (f"{frequency}.GRR",)),
        ("SPL_UE", tuples, pairs, ([2, 2], 2, _ONE), (f"{frequency}.UE",)),
        ("SMP_GRR", tuples, pairs, ([2, 2], 2, _ONE), (f"{frequency}.GRR",)),
        ("SMP_UE", tuples, pairs, ([2, 2], 2, _ONE), (f"{frequency}.UE",)),
    ):  # fmt: skip
        solution = f"{tuples}.{name.partition('_')[0]}_solution"
        module = solution if folder == tuples else f"{folder}.{name}"
        names = tuple(f"multi_freq_ldpy.{each}" for each in (module, *more))
        stated = _ONE / 2 if name == "SS" else _ONE
        call = partial(_multi_call, name, arguments)
        yield Client("multi-freq-ldpy", f"{name}_Client", stated, values, names, call)


def _multi_call(name: str, arguments: tuple[Any, ...], module: Any, value: Any) -> Any:
    return getattr(module, f"{name}_Client")(value, *arguments)


def _toolbox() -> Iterator[Client]:
    for name, module, k, epsilon, options in (
        ("GeneralizedRandomizedResponse", "grr", 4, _ONE, {}),
        ("UnaryEncoding", "ue", 3, _ONE, {}),
        ("UnaryEncoding, symmetric", "ue", 3, _ONE, {"optimal": False}),
        ("SubsetSelection", "ss", 5, _ONE / 2, {}),
        ("HistogramEncoding", "he", 3, _ONE, {}),
        ("LocalHashing", "lh", 4, _ONE, {}),
        ("LocalHashing, binary", "lh", 4, _ONE, {"optimal": False}),
    ):
        kind = name.partition(",")[0]
        call = partial(_toolbox_call, kind, k, epsilon, options)
        names = (f"ldp_toolbox.protocols.frequency.{module}",)
        yield Client("ldp-toolbox", name, epsilon, (0, 1, 2), names, call)


def _toolbox_call(
    kind: str, k: int, epsilon: float, options: dict[str, Any], module: Any, value: Any
) -> Any:
    return getattr(module, kind)(k, epsilon, **options).obfuscate(value)


CLIENTS = (*_pure(), *_multi(), *_toolbox())
