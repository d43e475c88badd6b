"""Answers of other libraries in five lines of Python, to be pasted and run."""

from __future__ import annotations

import json
from collections.abc import Mapping

from exactdp.oracle.vectors import Vector

_OPENDP = """\
import opendp.prelude as dp
dp.enable_features("contrib", "honest-but-curious")
"""

_RESPONSES = """\
import dp_accounting as dpa
accountant = dpa.pld.PLDAccountant(dpa.NeighboringRelation.REPLACE_ONE)
response = dpa.dp_event.RandomizedResponseDpEvent({noise}, {answers})
accountant.compose(dpa.SelfComposedDpEvent(response, {count}))
print(accountant.get_{question}({value}))
"""

_ATOMS = {"laplace": "T=float, nan=False", "gaussian": "T=float, nan=False"}

#: (adapter, group, question) -> at most five lines; composition also by mechanism.
_TEMPLATES = {
    ("dp_accounting", "analytic_gaussian", "delta"): """\
from dp_accounting.pld.privacy_loss_mechanism import GaussianPrivacyLoss
loss = GaussianPrivacyLoss({sigma}, sensitivity={sensitivity})
print(loss.get_delta_for_epsilon({epsilon}))
""",
    ("dp_accounting", "analytic_gaussian", "sigma"): """\
import dp_accounting
print(dp_accounting.get_sigma_gaussian({epsilon}, {delta}) * {sensitivity})
""",
    ("dp_accounting", "analytic_gaussian", "epsilon"): """\
import dp_accounting
print(dp_accounting.get_epsilon_gaussian({sigma} / {sensitivity}, {delta}))
""",
    ("dp_accounting", "discrete_gaussian", "delta"): """\
from dp_accounting.pld.privacy_loss_mechanism import DiscreteGaussianPrivacyLoss
loss = DiscreteGaussianPrivacyLoss({sigma2}**0.5, sensitivity={sensitivity})
print(loss.get_delta_for_epsilon({epsilon}))
""",
    ("dp_accounting", "discrete_gaussian", "cdf"): """\
from dp_accounting.pld.privacy_loss_mechanism import DiscreteGaussianPrivacyLoss
print(DiscreteGaussianPrivacyLoss({sigma2}**0.5).noise_cdf({z}.0))
""",
    ("dp_accounting", "discrete_laplace", "delta"): """\
from dp_accounting.pld.privacy_loss_mechanism import DiscreteLaplacePrivacyLoss
loss = DiscreteLaplacePrivacyLoss(1 / {scale}, sensitivity={sensitivity})
print(loss.get_delta_for_epsilon({epsilon}))
""",
    ("dp_accounting", "discrete_laplace", "cdf"): """\
from dp_accounting.pld.privacy_loss_mechanism import DiscreteLaplacePrivacyLoss
print(DiscreteLaplacePrivacyLoss(1 / {scale}).noise_cdf({z}.0))
""",
    ("dp_accounting", "zcdp", "delta"): """\
import dp_accounting as dpa
accountant = dpa.rdp.RdpAccountant().compose(dpa.ZCDpEvent({rho}))
print(accountant.get_delta({epsilon}))
""",
    ("dp_accounting", "composition", "delta", "pure"): """\
from dp_accounting.pld import common, privacy_loss_distribution as pld
single = pld.from_privacy_parameters(
    common.DifferentialPrivacyParameters({epsilon_each}, {delta_each}))
print(single.self_compose({k}).get_delta_for_epsilon({epsilon}))
""",
    ("dp_accounting", "composition", "epsilon", "pure"): """\
from dp_accounting.pld import common, privacy_loss_distribution as pld
single = pld.from_privacy_parameters(
    common.DifferentialPrivacyParameters({epsilon_each}, {delta_each}))
print(single.self_compose({k}).get_epsilon_for_delta({delta}))
""",
    ("diffprivlib", "analytic_gaussian", "sigma"): """\
from diffprivlib.mechanisms import GaussianAnalytic
print(GaussianAnalytic(epsilon={epsilon}, delta={delta}, sensitivity={sensitivity})._scale)
""",
    ("autodp", "analytic_gaussian", "delta"): """\
import math
from autodp.dp_bank import get_logdelta_ana_gaussian
print(math.exp(get_logdelta_ana_gaussian({sigma} / {sensitivity}, {epsilon})))
""",
    ("autodp", "analytic_gaussian", "epsilon"): """\
from autodp.mechanism_zoo import ExactGaussianMechanism
print(ExactGaussianMechanism({sigma} / {sensitivity}).get_approxDP({delta}))
""",
    ("autodp", "analytic_gaussian", "sigma"): """\
from autodp.calibrator_zoo import ana_gaussian_calibrator
from autodp.mechanism_zoo import ExactGaussianMechanism
mechanism = ana_gaussian_calibrator()(ExactGaussianMechanism, {epsilon}, {delta})
print(mechanism.params["sigma"] * {sensitivity})
""",
    ("autodp", "composition", "epsilon", "gaussian"): """\
from autodp.mechanism_zoo import ExactGaussianMechanism
from autodp.transformer_zoo import ComposeGaussian
single = ExactGaussianMechanism({sigma} / {sensitivity})
print(ComposeGaussian()([single], [{k}]).get_approxDP({delta}))
""",
    ("autodp", "composition", "epsilon", "pure"): """\
from autodp.mechanism_zoo import PureDP_Mechanism
from autodp.transformer_zoo import Composition
print(Composition()([PureDP_Mechanism({epsilon_each})], [{k}]).get_approxDP({delta}))
""",
    ("autodp", "composition", "delta", "laplace"): """\
from autodp.mechanism_zoo import LaplaceMechanism
from autodp.transformer_zoo import ComposeAFA
single = LaplaceMechanism({scale}, phi_off=False)
print(ComposeAFA()([single], [{k}]).get_approx_delta({epsilon}))
""",
    ("riskcal", "power", "power"): """\
from riskcal.accountants import CTDAccountant
accountant = CTDAccountant()
accountant.history = [({sigma}, {rate}, {k})]  # noise multiplier, rate, steps
print(1 - accountant.get_beta(alpha={false_alarms}))
""",
    ("gdpnum", "power", "power"): """\
from gdpnum import CTDAccountant
accountant = CTDAccountant()
accountant.history = [({sigma}, {rate}, {k})]  # noise multiplier, rate, steps
print(1 - accountant.get_beta({false_alarms}))
""",
    ("gdpnum", "power", "mu"): """\
from gdpnum import CTDAccountant
accountant = CTDAccountant()
accountant.history = [({sigma}, {rate}, {k})]  # noise multiplier, rate, steps
print(accountant.get_mu_and_regret()[0])
""",
    ("opake", "power", "power"): """\
from opake.api.accounting.core import opake_accounting as opake
noise = opake.gaussian_pld({sigma}, opake.DiscretizationConfig())
step = opake.poisson_pld(noise, {rate}) if {rate} < 1 else noise
print(1 - step.self_compose({k}).beta_at({false_alarms}))
""",
    ("prv_accountant", "composition", "delta", "pure"): """\
from prv_accountant import PRVAccountant, PureDPMechanism
prv = PRVAccountant(prvs=[PureDPMechanism({epsilon_each})], max_self_compositions=[{k}],
                    eps_error=0.1, delta_error=1e-10)
print(prv.compute_delta({epsilon}, [{k}])[2])
""",
}


def reproduction(adapter: str, vector: Vector) -> str | None:
    """Code that prints the library's answer to a question, or None where there is none here."""
    parameters = vector.parameters
    if adapter == "opendp" and vector.group == "thresholds" and vector.question == "delta":
        return _opendp_threshold(parameters)
    if (adapter, vector.group) == ("dp_accounting", "events"):
        return _responses(vector)
    key: tuple[str, ...] = (adapter, vector.group, vector.question)
    if vector.group == "composition":
        key = (*key, parameters["mechanism"])
    template = _TEMPLATES.get(key)
    return None if template is None else template.format(**parameters)


def _responses(vector: Vector) -> str | None:
    """Code for events that are one randomised response, repeated; None for other events."""
    event, *others = json.loads(vector.parameters["events"])
    if others or event["mechanism"] != "randomized-response":
        return None
    parameter = "epsilon" if vector.question == "delta" else "delta"
    return _RESPONSES.format(**event, question=vector.question, value=vector.parameters[parameter])


def _opendp_threshold(parameters: Mapping[str, str]) -> str:
    laplace = parameters["noise"] in ("laplace", "geometric")
    atom = _ATOMS.get(parameters["noise"], "T=int")
    kind = "float" if parameters["noise"] in _ATOMS else "int"
    metric = "l01inf_distance" if laplace else "l02inf_distance"
    make = "make_laplace_threshold" if laplace else "make_gaussian_threshold"
    domain = f"dp.map_domain(dp.atom_domain(T=str), dp.atom_domain({atom}))"
    distance = f"dp.{metric}(dp.absolute_distance(T={kind}))"
    total = parameters["k"] if laplace else f"{int(parameters['k'])}**0.5"
    scale, threshold = float(parameters["scale"]), parameters["threshold"]
    call = f"noise = dp.m.{make}(space[0], space[1], {scale}, {threshold})"
    return (
        f"{_OPENDP}space = {domain}, {distance}\n{call}\n"
        f"print(noise.map(({parameters['k']}, {kind}({total}), {kind}(1)))[1])\n"
    )
