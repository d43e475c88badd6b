"""Risks against closed forms and enumeration, and calibrations beside their neighbours."""

import math
from collections.abc import Callable
from fractions import Fraction

import pytest
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from exactdp.accounting import gaussian, pld, risk
from exactdp.accounting.guarantee import Guarantee
from exactdp.accounting.pld import Pld
from exactdp.accounting.risk import Risk, RiskCalibration
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
from exactdp.law import Law

_MU = 0.8


def _power(alpha: float, mu: float = _MU) -> float:
    return float(ndtr(ndtri(alpha) + mu))


def _accuracy(prior: float, mu: float = _MU) -> float:
    """The best threshold for one normal number, N(mu, 1) with the user and N(0, 1) without."""
    place = math.log((1 - prior) / prior) / mu + mu / 2
    return float(prior * ndtr(mu - place) + (1 - prior) * ndtr(place))


def _precision(prior: float, alpha: float) -> float:
    right = prior * _power(alpha)
    return right / (right + (1 - prior) * alpha)


_GAUSSIAN: list[tuple[Risk, float]] = [
    (risk.Advantage(), float(ndtr(_MU / 2) - ndtr(-_MU / 2))),
    (risk.Power(false_alarms="1e-5"), _power(1e-5)),
    (risk.Power(false_alarms="0.5"), _power(0.5)),
    (risk.Precision(prior="0.01", false_alarms="1e-3"), _precision(0.01, 1e-3)),
    (risk.Accuracy(prior="0.5"), _accuracy(0.5)),
    (risk.Accuracy(prior="0.1"), _accuracy(0.1)),
    (risk.Accuracy(prior="0.7"), _accuracy(0.7)),
    (risk.Reconstruction(baseline="0.02"), _power(0.02)),
]


@pytest.mark.parametrize(("measure", "exact"), _GAUSSIAN)
def test_risks_of_gaussian_noise(measure: Risk, exact: float) -> None:
    enclosure = measure.of(pld.gaussian(sigma=1 / Fraction(str(_MU))))
    assert enclosure.float_lower() * (1 - 1e-12) <= exact <= enclosure.float_upper() * (1 + 1e-12)
    assert enclosure.relative_width <= Fraction(1, 1000)


@pytest.mark.parametrize("prior", ["0.2", "0.5", "0.85"])
def test_accuracy_by_all_guesses(prior: str) -> None:
    """A guess for every output; the side of the user's data is the worse one of both."""
    p, q = ([Fraction(x, 10) for x in weights] for weights in ([6, 3, 1], [3, 3, 4]))
    share = Fraction(prior)
    exact = max(
        sum(max(share * a, (1 - share) * b) for a, b in zip(*pair, strict=True))
        for pair in ((p, q), (q, p))
    )
    laws = (Law(dict(enumerate(weights))) for weights in (p, q))
    enclosure = risk.Accuracy(prior=prior).of(pld.laws(*laws, neighbours=pld.ADD_REMOVE))
    assert exact in enclosure
    assert enclosure.width < Fraction(1, 1000)


@pytest.mark.parametrize("name", list(risk.MEASURES))
def test_every_measure_says_what_it_is_and_never_falls_below_a_guess(name: str) -> None:
    kind = risk.MEASURES[name]
    parameters = dict.fromkeys(kind.__dataclass_fields__, "0.3")  # type: ignore[attr-defined]
    measure = kind(**parameters)
    enclosure = measure.of(pld.randomized_response(epsilon="1e-6"))
    assert measure.least <= enclosure.lower <= measure.least + Fraction(1, 10**5)
    assert kind.name == name
    assert kind.definition
    assert kind.source


def test_a_guarantee_stands_for_the_worst_mechanism() -> None:
    guarantee = Guarantee(Fraction(1), Enclosure.exact("1e-3"), pld.ADD_REMOVE, "a proof")
    enclosure = risk.Power(false_alarms="0.01").of(guarantee)
    exact = 1e-3 + math.e * 0.01
    assert enclosure.float_lower() <= exact <= enclosure.float_upper()
    noise = gaussian.calibrate(epsilon=1, delta="1e-3").sigma
    assert risk.Power(false_alarms="0.01").of(pld.gaussian(sigma=noise)).upper < enclosure.lower


def _noise(measure: Risk, target: str) -> RiskCalibration:
    return risk.calibrate_noise(measure, target, lambda noise: pld.gaussian(sigma=noise))


def _of_noise(measure: Callable[[float], float], target: float) -> float:
    return float(brentq(lambda sigma: measure(1 / sigma) - target, 1e-3, 1e4, xtol=1e-12))


@pytest.mark.parametrize(
    ("measure", "target", "exact"),
    [
        (risk.Advantage(), "0.05", lambda mu: ndtr(mu / 2) - ndtr(-mu / 2)),
        (risk.Power(false_alarms="1e-3"), "0.01", lambda mu: _power(1e-3, mu)),
        (risk.Accuracy(prior="0.1"), "0.95", lambda mu: _accuracy(0.1, mu)),
        (risk.Reconstruction(baseline="0.001"), "0.5", lambda mu: _power(1e-3, mu)),
    ],
)
def test_the_least_noise_for_a_risk(
    measure: Risk, target: str, exact: Callable[[float], float]
) -> None:
    calibration = _noise(measure, target)
    sigma = _of_noise(exact, float(target))
    assert calibration.refuted is not None
    assert calibration.refuted_risk is not None
    assert float(calibration.refuted) < sigma <= float(calibration.value)
    assert float(calibration.value) < sigma * 1.002
    assert calibration.risk.upper <= Fraction(target) < calibration.refuted_risk.lower


def test_the_most_runs_for_a_risk() -> None:
    measure = risk.Precision(prior="1/2", false_alarms="0.01")
    calibration = risk.calibrate_runs(measure, "0.9", pld.gaussian(sigma=8))

    def precision(runs: int) -> float:
        power = _power(0.01, math.sqrt(runs) / 8)
        return power / (power + 0.01)

    assert precision(int(calibration.value)) <= 0.9 < precision(int(calibration.value) + 1)
    assert calibration.refuted == int(calibration.value) + 1


def test_no_run_keeps_a_risk_below_that_of_one() -> None:
    calibration = risk.calibrate_runs(risk.Advantage(), "0.01", pld.laplace(scale=1))
    assert (calibration.value, calibration.refuted, calibration.risk) == (0, 1, 0)


@pytest.mark.parametrize("delta", ["0", "1e-3"])
def test_the_largest_epsilon_for_a_risk(delta: str) -> None:
    calibration = risk.calibrate_epsilon(risk.Power(false_alarms="0.05"), "0.2", delta=delta)
    exact = math.log((0.2 - float(delta)) / 0.05)
    assert calibration.refuted is not None
    assert float(calibration.value) <= exact < float(calibration.refuted)
    assert calibration.as_dict()["epsilon"] == str(calibration.value)


@pytest.mark.parametrize("target", ["0.01", "0.001", "1", "2"])
def test_targets_that_no_mechanism_keeps_or_every_one(target: str) -> None:
    with pytest.raises(InvalidParameter, match=r"^at_most must be > 0.01, the risk of a guess"):
        _noise(risk.Power(false_alarms="0.01"), target)


def test_a_delta_that_alone_exceeds_the_target() -> None:
    with pytest.raises(InvalidParameter, match=r"^at_most must be above the risk that delta"):
        risk.calibrate_epsilon(risk.Advantage(), "0.1", delta="0.2")


@pytest.mark.parametrize("subject", [1, "loss", None])
def test_only_losses_and_guarantees_have_risks(subject: Pld) -> None:
    with pytest.raises(InvalidParameter, match=r"^subject must be a privacy loss"):
        risk.Advantage().of(subject)
