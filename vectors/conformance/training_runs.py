"""Training runs put to the accountants of other libraries, beside the certified bounds.

Each library answers in a process of its own. Opacus' accountants use numpy and scipy only and are
loaded without the rest of it, that is, without PyTorch. An answer below the certified lower end
claims more privacy than there is; the generator of the vectors is asked, too.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from importlib.util import find_spec
from typing import Any

from exactdp.accounting import pld
from exactdp.enclosure import Enclosure
from exactdp.oracle.child import Child
from vectors.conformance.confirm import recomputed

_LOOP = """
for line in sys.stdin:
    sigma, rate, steps, question, value = json.loads(line)
    try:
        answer = float(ask(sigma, rate, steps, question, value))
    except Exception as error:
        answer = f"{type(error).__name__}: {error}"[:90]
    print(json.dumps(answer), flush=True)
"""

_DP_ACCOUNTING = """
from dp_accounting.pld import privacy_loss_distribution as p
def ask(sigma, rate, steps, question, value):
    whole = p.from_gaussian_mechanism(sigma, sampling_prob=rate).self_compose(steps)
    if question == "delta":
        return whole.get_delta_for_epsilon(value)
    return whole.get_epsilon_for_delta(value)
"""

_PRV = """
from prv_accountant import PRVAccountant, PoissonSubsampledGaussianMechanism
def ask(sigma, rate, steps, question, value):
    mechanism = PoissonSubsampledGaussianMechanism(
        noise_multiplier=sigma, sampling_probability=rate)
    error = value / 1000 if question == "epsilon" else 1e-10
    accountant = PRVAccountant(
        prvs=[mechanism], max_self_compositions=[steps], eps_error=0.01, delta_error=error)
    if question == "delta":
        return accountant.compute_delta(value, [steps])[2]
    return accountant.compute_epsilon(value, [steps])[2]
"""

_OPACUS = """
import importlib.util, types
package = types.ModuleType("opacus")
package.__path__ = list(importlib.util.find_spec("opacus").submodule_search_locations)
optimizers = types.ModuleType("opacus.optimizers")
optimizers.DPOptimizer = object
sys.modules.update({"opacus": package, "opacus.optimizers": optimizers})
from opacus.accountants import GaussianAccountant, PRVAccountant, RDPAccountant
def ask(sigma, rate, steps, question, value):
    if question == "delta":
        raise ValueError("Opacus answers epsilon only")
    accountant = NAME()
    accountant.history = [(sigma, rate, steps)]
    return accountant.get_epsilon(value)
"""

_AUTODP = """
from autodp.mechanism_zoo import NoisySGD_Mechanism
def ask(sigma, rate, steps, question, value):
    if question == "delta":
        raise ValueError("autodp needs scipy.integrate.quadrature for delta")
    return NoisySGD_Mechanism(prob=rate, sigma=sigma, niter=steps).get_approxDP(value)
"""

_OPAKE = """
from opake.api.accounting.core import opake_accounting as o
def ask(sigma, rate, steps, question, value):
    settings = o.DiscretizationConfig()
    whole = o.poisson_pld(o.gaussian_pld(sigma, settings), rate).self_compose(steps)
    return whole.delta_at(value) if question == "delta" else whole.epsilon_at(value)
"""

_PLD_ACCOUNTING = """
from dp_accounting.pld.privacy_loss_distribution import from_gaussian_mechanism
from PLD_accounting import subsample_pld
def ask(sigma, rate, steps, question, value):
    step = subsample_pld(pld=from_gaussian_mechanism(sigma), sampling_probability=rate)
    whole = step.self_compose(steps)
    if question == "delta":
        return whole.get_delta_for_epsilon(value)
    return whole.get_epsilon_for_delta(value)
"""

#: How a library is asked: (package, program).
PROGRAMS = {
    "dp_accounting, PLD": ("dp_accounting", _DP_ACCOUNTING),
    "prv_accountant": ("prv_accountant", _PRV),
    "autodp": ("autodp", _AUTODP),
    "opake": ("opake", _OPAKE),
    "PLD_accounting": ("PLD_accounting", _PLD_ACCOUNTING),
    "Opacus, rdp": ("opacus", _OPACUS.replace("NAME", "RDPAccountant")),
    "Opacus, prv": ("opacus", _OPACUS.replace("NAME", "PRVAccountant")),
    "Opacus, gdp": ("opacus", _OPACUS.replace("NAME", "GaussianAccountant")),
}

#: (noise multiplier, rate, steps, delta)
_RUNS = [
    (1.0, 0.05, 1, 1e-6),
    (2.0, 0.01, 1, 1e-8),
    (0.6, 0.01, 100, 1e-5),
    (1.0, 0.01, 1000, 1e-5),
    (1.0, 0.01, 10_000, 1e-5),
    (4.0, 0.1, 100, 1e-12),
]

_SECONDS = 60


class Peer:
    """A process that answers questions, started anew when it dies or takes too long.

    program: Python that defines ask(sigma, rate, steps, question, value). seconds: per question.
    """

    def __init__(self, program: str, seconds: float = _SECONDS) -> None:
        code = "import json, sys\n" + program + _LOOP
        self._child, self._seconds = Child("-W", "ignore", "-c", code), seconds

    def ask(self, question: Sequence[Any]) -> Any:
        """The answer: a number, or the reason why there is none."""
        line = self._child.ask(json.dumps(question), self._seconds)
        if not line:
            self.stop()
            return f"none in {self._seconds:g} s, or died"
        return json.loads(line)

    def stop(self) -> None:
        """End the process."""
        self._child.stop()


def judged(answer: Any, certified: Enclosure) -> tuple[str, float]:
    """The verdict on an answer, and its relative distance below the certified lower bound."""
    if isinstance(answer, str):
        return "no answer", 0.0
    if math.isnan(answer):
        return "nan", 0.0
    if answer < 0:
        return "negative", math.inf
    if math.isinf(answer) or Fraction(answer) >= certified.lower:
        return "safe", 0.0
    return "unsafe", float(1 - Fraction(answer) / certified.lower)


def delta_at(epsilon: float, sigma: float, rate: float, steps: int) -> str:
    """A decimal below delta(epsilon), by the generator of the vectors: to 33 digits."""
    run = {"k": str(steps), "sigma": str(sigma), "rate": str(rate), "neighbours": "add-remove"}
    lower, _ = recomputed("sampled_gaussian", "delta", {**run, "epsilon": str(epsilon)})
    return lower


def section() -> str:
    """The section of the conformance page, as Markdown."""
    programs = {
        n: code for n, (package, code) in PROGRAMS.items() if find_spec(package) is not None
    }
    return "\n".join(["## Training runs", "", *_text(), *_rows(programs)]) + "\n"


def _text() -> Iterator[str]:
    yield "The epsilon of DP-SGD (noise multiplier, sampling rate, steps, delta), as each library"
    yield "answers it, beside both certified ends. **Bold**: below the lower one: more privacy is"
    yield "claimed than there is; in brackets delta at that epsilon, by mpmath. Opacus"
    yield "warns itself that its gdp accountant can underestimate: here is by how much."
    yield "`python -m lab.benchmarks.pld_peers` asks random runs."
    yield ""


def _rows(programs: dict[str, str]) -> Iterator[str]:
    yield "| run | certified | " + " | ".join(programs) + " |"
    yield "|---|---|" + "---:|" * len(programs)
    peers = [Peer(program) for program in programs.values()]
    for sigma, rate, steps, delta in _RUNS:
        certified = pld.sgd(noise_multiplier=sigma, rate=rate, steps=steps).epsilon(delta)
        ends = f"[{certified.decimal_lower(6)}, {certified.decimal_upper(6)}]"
        question = [sigma, rate, steps, "epsilon", delta]
        cells = [_cell(peer.ask(question), certified, sigma, rate, steps) for peer in peers]
        yield f"| {sigma}, {rate}, {steps}, {delta} | {ends} | {' | '.join(cells)} |"
    for peer in peers:
        peer.stop()
    yield ""
    if any("Opacus" in name for name in programs):
        yield from ("```python", *_REPRODUCTION, "```")


_REPRODUCTION = (
    "from opacus.accountants import GaussianAccountant",
    "",
    "accountant = GaussianAccountant()",
    "accountant.history = [(1.0, 0.05, 1)]  # noise multiplier, rate, steps",
    "print(accountant.get_epsilon(1e-6))  # about a sixth of what one step leaks",
)


def _cell(answer: Any, certified: Enclosure, sigma: float, rate: float, steps: int) -> str:
    verdict, _ = judged(answer, certified)
    if verdict in ("no answer", "nan"):
        return "none"
    number = f"{answer:.5g}"
    if verdict == "safe":
        return number
    try:
        leaked = f"delta {float(delta_at(answer, sigma, rate, steps)):.4g}"
    except ArithmeticError:  # of few steps the integral may not settle
        leaked = "not asked of mpmath"
    return f"**{number}** ({leaked})"
