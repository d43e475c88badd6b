"""Statements for every rule of the checker, with numbers whose truth comes from elsewhere."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from mpmath import mp, mpf

from exactdp.accounting import (
    composition,
    csh,
    discrete_gaussian,
    discrete_gshm,
    gaussian,
    gshm,
    pld,
    zcdp,
)
from exactdp.law import Law
from tests import reference

FOLDER = Path(__file__).parents[2] / "checker"
sys.path.insert(0, str(FOLDER))

import dpcheck  # noqa: E402

Statement = dict[str, Any]
Ends = tuple[Fraction, Fraction]


@dataclass(frozen=True)
class Example:
    """One claim. slack: how far beyond the truth it has to go before the rule proves it.

    truth: the ends of an enclosure of the claimed quantity. sides: the directions that the rule
    proves. slack: relative, of at_most and at_least alike.
    """

    name: str
    releases: list[Statement]
    claim: Statement
    truth: Callable[[], Ends]
    sides: str = "both"
    slack: Fraction = Fraction(1, 10**12)

    def statement(self, at_most: Fraction | None, at_least: Fraction | None) -> Statement:
        """The statement with these claims."""
        sides = {"at_most": at_most, "at_least": at_least}
        claimed = {side: text(value) for side, value in sides.items() if value is not None}
        return {
            "format": "dp-statement/1",
            "unit": {
                "neighbours": "add-remove",
                "of": "user",
                "bounds": [{"what": "keys of one user", "at_most": "10", "checked": True}],
                "one_pair": True,
            },
            "releases": deepcopy(self.releases),
            "claims": [{**deepcopy(self.claim), **claimed}],
            "premises": ["the noise is drawn as stated"],
            "not_shown": ["that the program does what is stated"],
            "made_by": {"name": "exactdp", "version": "0"},
        }

    def honest(self) -> Statement:
        """As sharp as the rule is said to be."""
        low, high = self.truth()
        return self.statement(
            high * (1 + self.slack) if self.sides != "at_least" else None,
            low * (1 - self.slack) if self.sides != "at_most" else None,
        )


def text(value: Fraction) -> str:
    """A number in a statement, rounded to 50 digits after the point."""
    scaled = round(value * 10**50)
    return f"{scaled}e-50" if scaled else "0"


def verdict(statement: Statement) -> str:
    """The verdict of the checker in Python."""
    return dpcheck.check(json.dumps(statement).encode())[0]


def verdicts_in_node(texts: list[str]) -> list[list[str]]:
    """The verdict and the hash of each text by the checker in JavaScript."""
    program = Path(__file__).with_name("batch.mjs")
    done = subprocess.run(
        ["node", str(program)], input=json.dumps(texts), capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def _delta(rule: str, epsilon: str, **choices: Any) -> Statement:
    return {"measure": "delta", "epsilon": epsilon, "derivation": {"rule": rule, **choices}}


def _ends(enclosure: Any) -> Ends:
    return enclosure.lower, enclosure.upper


def _mp(formula: Callable[[], mpf]) -> Callable[[], Ends]:
    """A formula at 60 digits, of which 40 are taken for good."""

    def ends() -> Ends:
        with mp.workdps(60):
            value = formula()
            scaled = int(mp.floor(value * mpf(10) ** 58))
        return Fraction(scaled - 10**15, 10**58), Fraction(scaled + 10**15, 10**58)

    return ends


def _release(mechanism: str, times: int = 1, **parameters: Any) -> Statement:
    return {"mechanism": mechanism, "times": times, **parameters}


def _grid(step: str, nodes: list[list[int]], window: list[int], bits: int = 100) -> Statement:
    return {"step": step, "mass_bits": bits, "nodes": nodes, "window": window}


_SAMPLED = _release("gaussian", 40, sigma="1", sensitivity="1", rate="0.1")
_CSH = _release("correlated-sparse-histogram", sparsity=10, sigma="17.6955", tau="131.946")

EXAMPLES = [
    Example(
        "gaussian",
        [_release("gaussian", sigma="3.8", sensitivity="1")],
        _delta("curve", "1"),
        lambda: _ends(gaussian.delta(sigma="3.8", epsilon=1)),
    ),
    Example(
        "gaussians-composed",
        [
            _release("gaussian", 3, sigma="10", sensitivity="1"),
            _release("gaussian", 2, sigma="20", sensitivity="3"),
        ],
        _delta("curve", "0.5"),
        # 3/100 + 2 (9/400) = 0.075 is the square of 1/sigma
        _mp(lambda: reference.gaussian(mp.mpf("0.5"), mp.sqrt(mpf("0.075")))),
    ),
    Example(
        "laplace",
        [_release("laplace", scale="2", sensitivity="1")],
        _delta("curve", "0.25"),
        _mp(lambda: 1 - mp.exp((mpf("0.25") - mpf("0.5")) / 2)),
    ),
    Example(
        "laplace-sampled",
        [_release("laplace", scale="1", sensitivity="1", rate="0.25")],
        _delta("curve", "0.1"),
        # rate G(u), u = 1 + (e^epsilon - 1)/rate, G(u) = 1 - sqrt(u/e)
        _mp(lambda: (1 - mp.sqrt((1 + (mp.exp(mpf("0.1")) - 1) * 4) / mp.e)) / 4),
    ),
    Example(
        "randomized-response",
        [_release("randomized-response", epsilon="1")],
        _delta("curve", "0.5"),
        _mp(lambda: (mp.e - mp.exp(mpf("0.5"))) / (1 + mp.e)),
    ),
    Example(
        "discrete-gaussian",
        [_release("discrete-gaussian", sigma2="4", sensitivity="1")],
        _delta("curve", "0.5"),
        lambda: _ends(discrete_gaussian.delta(sigma2=4, epsilon="0.5")),
    ),
    Example(
        "discrete-laplace",
        [_release("discrete-laplace", scale="2", sensitivity="3")],
        _delta("curve", "0.7"),
        lambda: _ends(pld.discrete_laplace(epsilon="1.5", sensitivity=3).delta("0.7")),
        slack=Fraction(1, 10**8),
    ),
    Example(
        "finite-law",
        [_release("finite-law", outcomes=[["1/2", "1/4"], ["0.3", "0.25"], ["0.2", "1/2"]])],
        _delta("curve", "0"),
        lambda: (Fraction(3, 10), Fraction(3, 10)),
    ),
    Example(
        "event",  # that refutes (0.5, 0.1)-DP
        [_release("finite-law", outcomes=[["0.3", "0.01"], ["0.7", "0.99"]])],
        _delta("curve", "0.5"),
        _mp(lambda: mpf("0.3") - mpf("0.01") * mp.exp(mpf("0.5"))),
        sides="at_least",
    ),
    Example(
        "sparse-histogram-noise",
        [_release("gaussian-sparse-histogram", k=51914, sigma="2222.7", tau="13914")],
        _delta("curve", "0.35"),
        lambda: _ends(gshm.delta(k=51914, sigma="2222.7", tau="13914", epsilon="0.35")),
    ),
    Example(
        "sparse-histogram-threshold",
        [_release("gaussian-sparse-histogram", k=10, sigma="31", tau="140")],
        _delta("curve", "0.35"),
        lambda: _ends(gshm.delta(k=10, sigma=31, tau=140, epsilon="0.35")),
    ),
    Example(
        "sparse-histograms-composed",
        [_release("gaussian-sparse-histogram", 3, k=10, sigma="40", tau="180")],
        _delta("grid", "0.3", **_grid("1/1024", [[-250, 250]], [-1474, 1465])),
        lambda: _ends(pld.gshm(k=10, sigma=40, tau=180).composed(3).delta("0.3")),
        slack=Fraction(1, 10),
    ),
    Example(
        "correlated-histogram",
        [_CSH],
        _delta("overlaps", "0.35", starts=list(range(11))),
        lambda: _ends(csh.delta(sparsity=10, sigma="17.6955", tau="131.946", epsilon="0.35")),
        slack=Fraction(1, 5),
    ),
    Example(  # README's question
        "sparse-histogram-discrete",
        [
            _release(
                "discrete-sparse-histogram", k=51914, sigma2="4940112.562159687201", tau="13913.5"
            )
        ],
        _delta("overlaps", "0.35", starts=[0, 1371, 34048, 49013, 51501, 51857, 51907, 51914]),
        lambda: _ends(discrete_gshm.delta(k=51914, sigma="2222.636399", tau=13913, epsilon="0.35")),
        sides="at_most",
        slack=Fraction(1, 10**9),
    ),
    Example(  # the probabilities of sums are listed
        "discrete-histogram",
        [_release("discrete-sparse-histogram", k=10, sigma2="961", tau="150")],
        _delta("overlaps", "0.35", starts=[0, 2, 10]),
        lambda: _ends(discrete_gshm.delta(k=10, sigma=31, tau=150, epsilon="0.35")),
        sides="at_most",
        slack=Fraction(1, 10**8),
    ),
    Example(
        "basic",
        [
            _release("laplace", 2, scale="10", sensitivity="1"),
            _release("approximate", 3, epsilon="0.1", delta="1e-6"),
        ],
        _delta("basic", "0.5"),
        lambda: (Fraction(3, 10**6), Fraction(3, 10**6)),
        sides="at_most",
        slack=Fraction(0),
    ),
    Example(
        "zcdp-to-delta",
        [_release("zcdp", 5, rho="0.01")],
        _delta("renyi", "1", order="11.4"),
        lambda: _ends(zcdp.delta(rho="0.05", epsilon=1, rule="optimal")),
        sides="at_most",
        slack=Fraction(1, 10**4),
    ),
    Example(
        "renyi-sampled",
        [_SAMPLED],
        _delta("renyi", "5", order="4"),  # no order of fuzz.damage is better
        lambda: _renyi_sampled(),
        sides="at_most",
    ),
    Example(
        "rho",
        [
            _release("gaussian", 2, sigma="10", sensitivity="1"),
            _release("gaussian", sigma="5", sensitivity="2"),
        ],
        {"measure": "rho", "derivation": {"rule": "sum"}},
        lambda: (Fraction(9, 100), Fraction(9, 100)),
        slack=Fraction(0),
    ),
    Example(
        "mu",
        [_release("gaussian", 4, sigma="10", sensitivity="1")],
        {"measure": "mu", "derivation": {"rule": "sum"}},
        lambda: (Fraction(1, 5), Fraction(1, 5)),
        slack=Fraction(0),
    ),
    Example(
        "renyi",
        [_SAMPLED],
        {"measure": "renyi", "order": "4", "derivation": {"rule": "sum"}},
        lambda: _renyi(),
    ),
    Example(
        "type-two",
        [_release("gaussian", sigma="1", sensitivity="1")],
        # the line at epsilon touches the curve where the first error is Q(p/q > e^epsilon)
        {
            "measure": "type-two",
            "type_one": "0.30853753872598689636",
            "epsilon": "0",
            "derivation": {"rule": "curve"},
        },
        _mp(lambda: mp.ncdf(mpf("-0.5"))),
        sides="at_least",
    ),
    Example(
        "grid-sampled",
        [_SAMPLED],
        _delta("grid", "1.5", **_grid("1/128", [[-14, 400]], [-500, 1000])),
        lambda: _ends(pld.sgd(noise_multiplier=1, rate="0.1", steps=40).delta("1.5")),
        slack=Fraction(1, 50),
    ),
    Example(
        "grid-gaussian",
        [_release("gaussian", 16, sigma="8", sensitivity="1")],
        _delta("grid", "1", **_grid("1/64", [[-100, 100]], [-300, 450])),
        lambda: _ends(gaussian.delta(sigma=2, epsilon=1)),
        slack=Fraction(1, 50),
    ),
    Example(
        "grid-response",  # losses on the grid: exact
        [_release("randomized-response", 100, epsilon="0.1")],
        _delta("grid", "4", **_grid("0.1", [[-1, 1]], [-100, 100])),
        lambda: _ends(composition.optimal(k=100, epsilon="0.1", total_epsilon=4)),
        slack=Fraction(1, 10**11),
    ),
    Example(
        "grid-together",
        [
            _release("discrete-laplace", 2, scale="2", sensitivity="1"),
            _release("finite-law", 3, outcomes=[["3/4", "1/2"], ["1/4", "1/2"]]),
            _release("laplace", scale="2", sensitivity="1"),
        ],
        _delta("grid", "1", **_grid("1/128", [[-66, 66], [-100, 100], [-64, 64]], [-600, 600])),
        lambda: _ends(_together().delta(1)),
        slack=Fraction(1, 30),
    ),
]


def _mp_renyi() -> mpf:
    """The divergence of order 4 of 40 sampled steps, from E_Q[(1 - q + q r)^4] by hand."""
    q, e = mpf("0.1"), mp.e
    moment = (1 - q) ** 4 + 4 * (1 - q) ** 3 * q + 6 * (1 - q) ** 2 * q**2 * e
    moment += 4 * (1 - q) * q**3 * e**3 + q**4 * e**6
    return 40 * mp.log(moment) / 3


def _renyi() -> Ends:
    return _mp(_mp_renyi)()


def _renyi_sampled() -> Ends:
    return _mp(lambda: mp.exp(3 * (_mp_renyi() - 5)) / 4 * (mpf(3) / 4) ** 3)()


def _together() -> pld.Pld:
    half = Fraction(1, 2)
    law = pld.laws(
        Law({0: Fraction(3, 4), 1: Fraction(1, 4)}),
        Law({0: half, 1: half}),
        neighbours=pld.ADD_REMOVE,
    )
    noise = pld.discrete_laplace(epsilon="0.5").composed(2)
    return noise.then(law.composed(3)).then(pld.laplace(scale=2))
