"""Batches, private choice, matrix mechanisms and shuffled reports, put to other libraries.

Every library is asked for epsilon, as its own documentation says, in a process of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec

from exactdp.accounting import pld
from exactdp.enclosure import Enclosure
from exactdp.local import RandomizedResponse, Shuffled
from vectors.conformance.training_runs import Peer, judged

_DELTA = "1e-6"


def _of(loss: Callable[[], pld.Pld]) -> Callable[[], Enclosure]:
    return lambda: loss().epsilon(_DELTA)


def _matrix() -> pld.Pld:
    roots = pld.square_root_strategy(64, bands=16)
    return pld.matrix(sigma=8, strategy=roots, steps=64, participations=4, separation=16)


#: Question -> the certified answer.
_CASES: dict[str, Callable[[], Enclosure]] = {
    "random allocation: noise 1, one of 100 steps": _of(
        lambda: pld.gaussian(sigma=1).allocated(100)
    ),
    "the same: noise 2, one of 100 steps, ten epochs": _of(
        lambda: pld.gaussian(sigma=2).allocated(100).composed(10)
    ),
    "the same: noise 0.5, one of 100 steps": _of(lambda: pld.gaussian(sigma="0.5").allocated(100)),
    "Laplace noise of scale 1, one of 50 steps": _of(lambda: pld.laplace(scale=1).allocated(50)),
    "truncated samples: noise 2, rate 0.01, 400 steps, at most 130 of 10 000": _of(
        lambda: pld.gaussian(sigma=2).sampled("0.01", batch_limit=130, users=10_000).composed(400)
    ),
    "batches of a fixed size: noise 2, 100 of 10 000, 400 steps": _of(
        lambda: pld.gaussian(sigma=2).batched("0.01").composed(400)
    ),
    "exponential mechanism: 100 times 0.1": _of(
        lambda: pld.exponential(epsilon="0.1").composed(100)
    ),
    "permute-and-flip: 100 times 0.1": _of(
        lambda: pld.noisy_max(epsilon="0.1", noise="exponential").composed(100)
    ),
    "noisy max, Laplace noise: 100 times 0.1": _of(
        lambda: pld.noisy_max(epsilon="0.1", noise="laplace").composed(100)
    ),
    "noisy max, Gaussian noise 4, 100 options": _of(
        lambda: pld.gaussian_noisy_max(sigma=4, options=100)
    ),
    "AboveThreshold, Gaussian noise 8 and 4, 1000 queries": _of(
        lambda: pld.above_threshold(sigma=8, threshold_sigma=4, queries=1000)
    ),
    "matrix mechanism: noise 8, 16 bands, 64 steps, 4 of them, 16 apart": _of(_matrix),
    "shuffled: 10 000 reports of 10 values, each of epsilon 1": lambda: Shuffled(
        RandomizedResponse(k=10, epsilon=1), n=10_000
    ).epsilon(_DELTA),
}

#: The names of these questions in the programs below, in the same order.
_NAMES = (
    *("one", "epochs", "little", "laplace", "truncated", "fixed", "exponential", "flip"),
    *("laplace_max", "gaussian_max", "threshold", "matrix", "shuffled"),
)

#: A program defines `answers`: name of a question -> a function without parameters.
_LOOP_HEAD = """
def ask(sigma, rate, steps, question, value):
    return answers[question]()
"""

_DP_ACCOUNTING = """
import dp_accounting as d
events = d.dp_event
def run(accountant, event, times):
    return accountant.compose(events.SelfComposedDpEvent(event, times)).get_epsilon(1e-6)
replaced = d.NeighboringRelation.REPLACE_ONE
# replaced vectors of norm 1 are up to 2 apart: half of the noise multiplier
fixed = events.SampledWithoutReplacementDpEvent(10_000, 100, events.GaussianDpEvent(1.0))
truncated = events.TruncatedSubsampledGaussianDpEvent(10_000, 0.01, 130, 2.0)
def pure():
    once = d.pld.common.DifferentialPrivacyParameters(0.1, 0.0)
    loss = d.pld.privacy_loss_distribution.from_privacy_parameters(once)
    return loss.self_compose(100).get_epsilon_for_delta(1e-6)
answers = {
    "truncated": lambda: run(d.pld.PLDAccountant(), truncated, 400),
    "fixed": lambda: run(d.rdp.RdpAccountant(neighboring_relation=replaced), fixed, 400),
    "exponential": pure, "flip": pure, "laplace_max": pure,
}
"""

_PLD_ACCOUNTING = """
import PLD_accounting as p
def run(**options):
    parameters = p.PrivacyParams(delta=1e-6, num_steps=100, **options)
    return p.gaussian_allocation_epsilon_configurable(
        params=parameters, config=p.AllocationSchemeConfig())
def laplace():
    law = p.laplace_distribution(scale=1.0)
    return p.general_allocation_epsilon(
        delta=1e-6, num_steps=50, num_selected=1, num_epochs=1, remove_realization=law,
        add_realization=law, config=p.AllocationSchemeConfig())
answers = {
    "one": lambda: run(sigma=1.0), "epochs": lambda: run(sigma=2.0, num_epochs=10),
    "little": lambda: run(sigma=0.5), "laplace": laplace,
}
"""

_RANDOM_ALLOCATION = """
import numpy as np
from random_allocation import random_allocation_scheme as r
from random_allocation.external_sources.shuffle_external import numericalanalysis
def run(**options):
    parameters = r.PrivacyParams(delta=1e-6, num_steps=100, **options)
    orders = list(range(2, 61))
    config = r.SchemeConfig(
        allocation_direct_alpha_orders=orders, allocation_RDP_DCO_alpha_orders=orders,
        Poisson_alpha_orders=orders)
    return r.allocation_epsilon_combined(parameters, config)
answers = {
    "one": lambda: run(sigma=1.0), "epochs": lambda: run(sigma=2.0, num_epochs=10),
    "little": lambda: run(sigma=0.5),
    "shuffled": lambda: numericalanalysis(10_000, 1.0, 1e-6, 20, 10.0, True),
}
"""

_AUTODP = """
from autodp.mechanism_zoo import ExponentialMechanism, GaussianSVT_Mechanism, PureDP_Mechanism
from autodp.transformer_zoo import Composition
def repeated(kind):
    return Composition()([kind(0.1)], [100]).get_approxDP(1e-6)
# queries may be negative: gamma 10 leaves the general bound
svt = {"sigma": 4.0, "sigma_nu": 8.0, "k": 1000, "Delta": 1.0, "gamma": 10.0}
answers = {
    "exponential": lambda: repeated(ExponentialMechanism),
    "flip": lambda: repeated(PureDP_Mechanism),
    "laplace_max": lambda: repeated(PureDP_Mechanism),
    "threshold": lambda: GaussianSVT_Mechanism(svt).get_approxDP(1e-6),
}
"""

_OPENDP = """
import opendp.prelude as dp
dp.enable_features("contrib")
space = dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int)
def hundred(once):
    # options are 1 apart and the noise has scale 20: epsilon is 2/20
    whole = dp.c.make_composition([once] * 100)
    return dp.c.make_zCDP_to_approxDP(whole).map(1).epsilon(1e-6)
def exponential():
    return hundred(dp.m.make_noisy_max(*space, dp.zero_concentrated_divergence(), scale=20.0))
def flip():
    once = dp.m.make_noisy_max(*space, dp.max_divergence(), scale=20.0)
    return hundred(dp.c.make_pureDP_to_zCDP(once))
answers = {"exponential": exponential, "flip": flip}
"""

_OPAKE = """
from opake.api.accounting.core import opake_accounting as o
settings = o.DiscretizationConfig()
def allocated(sigma, epochs=1):
    once = o.random_allocation_gaussian_pld(sigma, 100, 1, settings)
    return once.self_compose(epochs).epsilon_at(1e-6)
def truncated():
    once = o.truncated_poisson_gaussian_pld(2.0, 0.01, 130, 10_000, settings)
    return once.self_compose(400).epsilon_at(1e-6)
answers = {
    "one": lambda: allocated(1.0), "epochs": lambda: allocated(2.0, 10),
    "little": lambda: allocated(0.5), "truncated": truncated,
}
"""

_JAX_PRIVACY = """
from dp_accounting import get_epsilon_gaussian
from jax_privacy.matrix_factorization import toeplitz
def matrix():
    roots = toeplitz.optimal_max_error_strategy_coefs(64)[:16]
    square = toeplitz.minsep_sensitivity_squared(roots, min_sep=16, max_participations=4, n=64)
    return get_epsilon_gaussian(8 / float(square) ** 0.5, 1e-6)
answers = {"matrix": matrix}
"""

#: Library -> (package, program).
_PROGRAMS = {
    "dp_accounting": ("dp_accounting", _DP_ACCOUNTING),
    "PLD_accounting": ("PLD_accounting", _PLD_ACCOUNTING),
    "random_allocation": ("random_allocation", _RANDOM_ALLOCATION),
    "autodp": ("autodp", _AUTODP),
    "opendp": ("opendp", _OPENDP),
    "jax_privacy": ("jax_privacy", _JAX_PRIVACY),
    "opake": ("opake", _OPAKE),
}

_SECONDS = 300


def section() -> str:
    """The section of the conformance page, as Markdown."""
    programs = {name: code for name, (package, code) in _PROGRAMS.items() if find_spec(package)}
    return "\n".join([*_text(), *_rows(programs)]) + "\n"


def _text() -> Iterator[str]:
    yield "## Batches, private choice, correlated noise, shuffled reports"
    yield ""
    yield f"Epsilon at delta = {_DELTA} of each library that answers, beside both certified ends."
    yield "**Bold**: below the lower one. A dash: the library does not offer it. `none`: an error,"
    yield f"or no answer in {_SECONDS} seconds. A user adds at most 1 to a sum; batches of a"
    yield "fixed size are for replace-one neighbours, and dp_accounting is told that sums differ by"
    yield "2. Version 0.6.0 of dp_accounting has no private choice (its repository has): it answers"
    yield "for any pure mechanism, as does autodp for permute-and-flip; opendp turns the pure"
    yield "guarantee of permute-and-flip into zCDP by `make_pureDP_to_zCDP`. random_allocation's"
    yield "bound of shuffled reports is for *any* mechanism of that epsilon, so it is above what is"
    yield "certified of one of them, randomized response of 10 values. Noise is in units of the"
    yield "clipping norm, or of the sensitivity."
    yield ""


def _rows(programs: Mapping[str, str]) -> Iterator[str]:
    yield "| question | certified | " + " | ".join(programs) + " |"
    yield "|---|---|" + "---:|" * len(programs)
    peers = {name: Peer(code + _LOOP_HEAD, _SECONDS) for name, code in programs.items()}
    for name, (label, certified) in zip(_NAMES, _CASES.items(), strict=True):
        enclosure = certified()
        cells = [
            _cell(peers[library].ask([0, 0, 0, name, 0]), enclosure)
            if f'"{name}": ' in code
            else "-"
            for library, code in programs.items()
        ]
        ends = f"[{enclosure.decimal_lower(5)}, {enclosure.decimal_upper(5)}]"
        yield f"| {label} | {ends} | {' | '.join(cells)} |"
    for peer in peers.values():
        peer.stop()
    yield ""


def _cell(answer: object, certified: Enclosure) -> str:
    verdict, _ = judged(answer, certified)
    if verdict in ("no answer", "nan"):
        return "none"
    number = f"{answer:.5g}"
    return number if verdict == "safe" else f"**{number}**"
