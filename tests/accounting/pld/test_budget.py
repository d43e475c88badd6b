"""Budgets: what adaptive analysts can learn within them, and who shares them."""

from __future__ import annotations

import hashlib
import json
import math
import subprocess
import sys
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from exactdp import statement
from exactdp.accounting import gshm, pld
from exactdp.accounting.guarantee import Guarantee
from exactdp.errors import InvalidParameter
from exactdp.law import Law

LOSS = pld.gaussian(sigma=3)


def test_a_budget_pays_to_the_last_digit() -> None:
    budget = pld.Budget(epsilon="0.3", delta="1e-6")
    for _ in range(3):
        budget.spend(epsilon="0.1")
    assert budget.remaining == {"epsilon": 0, "delta": Fraction(1, 10**6)}
    with pytest.raises(
        pld.Exhausted, match="delta 1e-5 was asked for, 1e-6 of 1e-6 is left; nothing was spent"
    ):
        budget.spend(epsilon=0, delta="1e-5")
    assert budget.remaining["delta"] == Fraction(1, 10**6)


@pytest.mark.parametrize("by", ["sums", "renyi"])
def test_a_subnormal_expense_is_not_lost(by: str) -> None:
    budget = pld.Budget(epsilon=1, delta="1e-6", by=by)
    before = budget.remaining
    budget.spend(epsilon=5e-324)
    assert sum(before.values()) - sum(budget.remaining.values()) == Fraction("5e-324")


def test_currencies_do_not_mix() -> None:
    odometer = pld.Odometer()
    odometer.add(rho="0.1")
    with pytest.raises(InvalidParameter, match="costs must be"):
        odometer.add(epsilon=1)
    with pytest.raises(InvalidParameter, match="epsilon must be >= 0"):
        pld.Budget(epsilon=1).spend(epsilon=-1)


def _pair(own: str, infinite: str) -> tuple[Law[str], Law[str]]:
    """Answers of a user with a record and without; one answer tells them apart."""
    yes, lost = Fraction(own), Fraction(infinite)
    with_ = {"yes": yes, "no": 1 - yes - lost, "lost": lost}
    without = {"yes": 1 - yes - lost, "no": yes, "gone": lost}
    return tuple(  # type: ignore[return-value]
        Law({name: mass for name, mass in law.items() if mass}) for law in (with_, without)
    )


PAIRS = [_pair("0.6", "0"), _pair("0.75", "0"), _pair("0.5", "0.02"), _pair("0.65", "0")]


TERMS: list[dict[str, Any]] = [
    {"epsilon": "1.5", "delta": "0.04"},
    {"epsilon": "1.5", "delta": "0.2", "by": "renyi", "order": 3, "failures": "0.05"},
    {"epsilon": 1, "delta": "0.2", "by": "renyi", "order": 6, "failures": "0.025"},
]


@pytest.mark.parametrize("terms", TERMS)
def test_no_adaptive_analyst_learns_more_than_promised(terms: dict[str, Any]) -> None:
    """The best analyst chooses every next mechanism by all answers so far: by enumeration."""
    limits = tuple(pld.Budget(**terms).limits.values())
    costs = []
    for p, q in PAIRS:
        budget = pld.Budget(**terms)
        delta = {} if "by" in terms else {"delta": p["lost"]}
        budget.spend(pld.laws(p, q, neighbours=pld.ADD_REMOVE), **delta)
        costs.append(tuple(budget.spent.values()))
    promised = pld.Budget(**terms).guarantee
    factor = Fraction(math.nextafter(math.exp(promised.epsilon), 0))

    @cache
    def learned(a: Fraction, b: Fraction, left: tuple[Fraction, ...]) -> Fraction:
        """The most of P - e^epsilon Q that is gained after answers of these probabilities."""
        best = max(a - factor * b, Fraction(0))
        for (p, q), cost in zip(PAIRS, costs, strict=True):
            rest = tuple(x - y for x, y in zip(left, cost, strict=True))
            if min(rest) >= 0:
                gained = sum(
                    (learned(a * p[o], b * q[o], rest) for o in p.support | q.support), Fraction(0)
                )
                best = max(best, gained)
        return best

    most_learned = learned(Fraction(1), Fraction(1), limits)
    assert 0 < most_learned <= promised.delta.upper


def test_each_filter_allows_what_its_sum_says() -> None:
    # mu^2 = 1/9 each; by hand: sums of epsilon(1e-7), of order * mu^2/2, of mu^2
    sums = pld.Budget(epsilon=3, delta="1e-6")
    sums.spend(LOSS)
    assert sums.spent == {"epsilon": LOSS.epsilon("1e-7").upper, "delta": Fraction(1, 10**7)}
    renyi = pld.Budget(epsilon=3, delta="1e-6", by="renyi", order=10)
    renyi.spend(LOSS)
    assert abs(renyi.spent["divergence"] - Fraction(10, 18)) < Fraction(1, 2**100)
    # Proposition 12 of Canonne, Kamath, Steinke (2020), in floats
    log = math.log(0.9e-6) + math.log(9) - 10 * math.log(1 - 1 / 10)
    assert float(renyi.limits["divergence"]) == pytest.approx(3 + log / 9, rel=1e-12)
    exact = pld.Budget(epsilon=3, delta="1e-6", by="gaussian")
    for _ in range(3):
        exact.spend(LOSS)
    assert exact.spent == {"mu^2": Fraction(1, 3)}
    one = pld.gaussian(sigma=Fraction(1) / Fraction(math.sqrt(exact.limits["mu^2"])))
    assert float(one.delta(3).upper) == pytest.approx(1e-6, rel=1e-6)
    with pytest.raises(pld.Exhausted, match=r"mu\^2"):
        exact.spend(LOSS)
    rho = pld.Budget(rho="0.2")
    rho.spend(LOSS.composed(2))
    rho.spend(pld.laplace(scale=4))
    assert rho.spent == {"rho": Fraction(1, 9) + Fraction(1, 32)}


@pytest.mark.parametrize(
    ("terms", "spending"),
    [
        ({"by": "gaussian"}, pld.laplace(scale=1)),
        ({"by": "gaussian"}, LOSS.sampled("0.1")),
        ({"rho": 1, "epsilon": None, "delta": None}, LOSS.sampled("0.1")),
        ({"rho": 1, "epsilon": None, "delta": None}, pld.approximate(epsilon=1, delta="1e-9")),
    ],
)
def test_what_no_theorem_covers_is_refused(terms: dict[str, Any], spending: pld.Pld) -> None:
    with pytest.raises(InvalidParameter, match="spending must be"):
        pld.Budget(**{"epsilon": 3, "delta": "1e-6", **terms}).spend(spending)


def test_all_kinds_of_releases_share_one_ledger() -> None:
    budget = pld.Budget(epsilon=3, delta="1e-6", by="renyi")
    budget.spend(pld.sgd(noise_multiplier=1, rate="0.01", steps=100), note="a training run")
    budget.spend(pld.gshm(k=10, sigma=400, tau=2800), note="counters")
    budget.spend(epsilon="0.1", note="a report")
    assert [entry.note for entry in budget.expenses] == ["a training run", "counters", "a report"]
    assert 0 < budget.spent["delta"] < budget.limits["delta"] == Fraction(1, 10**7)
    with pytest.raises(InvalidParameter, match=r"'add-remove neighbours', got .replace"):
        budget.spend(LOSS.replaced())
    budget.spend(gshm.guarantee(k=10, sigma=400, tau=2800, epsilon="0.1"))
    said = "one user takes part or not; one user added or removed, changing at most k = 10 counters"
    assert budget.guarantee.neighbours == f"add-remove neighbours: {said} by one each"


def test_a_file_keeps_every_digit_and_its_terms(tmp_path: Path) -> None:
    file = tmp_path / "budget.json"
    pld.Budget(epsilon=1, delta="1e-6", by="renyi", file=file).spend(epsilon=5e-324, note="first")
    again = pld.Budget.open(file)
    assert again.spent["divergence"] == Fraction("5e-324")
    assert again.limits == pld.Budget(epsilon=1, delta="1e-6", by="renyi").limits
    with pytest.raises(InvalidParameter, match="file must be a budget with"):
        pld.Budget(epsilon=2, delta="1e-6", by="renyi", file=file)
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".tmp"] == []


@pytest.mark.parametrize("damage", ["cut", "changed", "empty"])
def test_a_damaged_file_is_refused(tmp_path: Path, damage: str) -> None:
    file = tmp_path / "budget.json"
    pld.Budget(epsilon=1, file=file).spend(epsilon="0.5")
    text = file.read_text(encoding="utf-8")
    spared = {"cut": text[:-20], "changed": text.replace('"1/2"', '"1/9"'), "empty": ""}[damage]
    assert spared != text
    file.write_text(spared, encoding="utf-8")
    with pytest.raises(InvalidParameter, match="that exactdp wrote, unchanged"):
        pld.Budget.open(file)


def test_a_crash_while_writing_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "budget.json"
    budget = pld.Budget(epsilon=1, file=file)

    def broken(*_: Any) -> None:
        raise OSError("no space left")

    monkeypatch.setattr("os.replace", broken)
    with pytest.raises(OSError, match="no space"):
        budget.spend(epsilon="0.5")
    monkeypatch.undo()
    assert budget.spent == {"epsilon": 0}
    assert json.loads(file.read_text(encoding="utf-8"))["spent"] == []


def test_processes_together_cannot_overspend(tmp_path: Path) -> None:
    file = tmp_path / "budget.json"
    pld.Budget(epsilon=1, file=file)
    program = (
        "import sys; from exactdp.accounting import pld\n"
        "budget, paid = pld.Budget.open(sys.argv[1]), 0\n"
        "try:\n"
        "    while True: budget.spend(epsilon='0.02'); paid += 1\n"
        "except pld.Exhausted: print(paid)\n"
    )
    command = [sys.executable, "-c", program, str(file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as other:
        budget, paid = pld.Budget.open(file), 0
        with pytest.raises(pld.Exhausted):
            while True:
                budget.spend(epsilon="0.02")
                paid += 1
        output, _ = other.communicate(timeout=60)
    assert paid + int(output) == 50
    assert pld.Budget.open(file).remaining == {"epsilon": 0}


def test_the_first_of_a_series_pays_for_all(tmp_path: Path) -> None:
    budget = pld.Budget(epsilon=1, delta="1e-6", file=tmp_path / "b.json")
    for _ in range(3):
        budget.spend(epsilon="0.7", note="daily", times=3)
    assert budget.spent["epsilon"] == Fraction(7, 10)
    with pytest.raises(pld.Exhausted, match="all 3 expenses of the series 'daily'"):
        budget.spend(epsilon="0.7", note="daily", times=3)
    assert len(budget.expenses) == 3


_NAMED: dict[str, Any] = {"note": "daily", "times": 3}


@pytest.mark.parametrize("filed", [False, True])
def test_no_earlier_expense_makes_a_series_free_but_its_own(tmp_path: Path, filed: bool) -> None:
    """Each pair of expenses differs in one thing; the second one must pay."""
    series = {"epsilon": "0.4", "delta": 0} | _NAMED
    named = {"spending": Guarantee("0.4", 0, pld.ADD_REMOVE, "a proof")} | _NAMED
    again = {"spending": Guarantee("0.4", 0, pld.ADD_REMOVE, "another proof")} | _NAMED
    pairs: list[tuple[dict[str, Any], dict[str, Any]]] = [
        (series | {"times": 1}, series),
        (series | {"times": 2}, series),
        (series, series | {"times": 4}),
        (series, series | {"note": "daily "}),
        (series, series | {"epsilon": "0.3"}),
        (series, series | {"epsilon": "0.5"}),
        (series, series | {"times": 1}),
        (series, named),
        (named, again),
    ]
    for number, (first, second) in enumerate(pairs):
        file = tmp_path / f"{number}.json" if filed else None
        budget = pld.Budget(epsilon=2, delta="1e-6", file=file)
        budget.spend(**first)
        before = budget.spent["epsilon"]
        if file:
            budget = pld.Budget.open(file)
        budget.spend(**second)
        cost = Fraction(second.get("epsilon", "0.4"))
        assert budget.spent["epsilon"] == before + cost, (first, second)


def test_a_loss_of_the_same_cost_is_no_part_of_a_series() -> None:
    budget = pld.Budget(epsilon=3, delta=0)
    for loss in (pld.laplace(scale=1), pld.randomized_response(epsilon=1)):
        for _ in range(2):
            budget.spend(loss, note="daily", times=2)
    assert budget.spent["epsilon"] == 2


def test_a_series_has_a_name_and_a_length() -> None:
    budget = pld.Budget(epsilon=2, delta=0)
    budget.spend(epsilon="1.5")
    for note in ("", "  "):
        with pytest.raises(InvalidParameter, match="note must be"):
            budget.spend(epsilon="0.1", note=note, times=2)
    for times in (0, -1, 2.5):
        with pytest.raises(InvalidParameter, match="times must be"):
            budget.spend(epsilon="0.1", note="daily", times=times)  # type: ignore[arg-type]
    assert budget.spent["epsilon"] == Fraction(3, 2)


def test_series_that_take_turns_are_counted_apart() -> None:
    budget = pld.Budget(epsilon=1)
    for _ in range(2):
        budget.spend(epsilon="0.3", note="daily", times=2)
        budget.spend(epsilon="0.2", note="daily", times=2)
    assert budget.spent["epsilon"] == Fraction(1, 2)
    for epsilon in ("0.3", "0.2"):
        with pytest.raises(pld.Exhausted, match="all 2 expenses of the series 'daily'"):
            budget.spend(epsilon=epsilon, note="daily", times=2)


def test_a_series_that_cannot_be_paid_does_not_begin() -> None:
    budget = pld.Budget(epsilon=1)
    for _ in range(2):
        with pytest.raises(pld.Exhausted, match="2 was asked for"):
            budget.spend(epsilon=2, note="daily", times=2)
    assert budget.expenses == []


def test_an_older_file_is_read_and_makes_nothing_free(tmp_path: Path) -> None:
    file = tmp_path / "budget.json"
    state = {
        "format": "exactdp-budget/1",
        "terms": {"by": "sums", "epsilon": "1"},
        "spent": [{"cost": {"epsilon": "2/5"}, "note": "daily", "neighbours": None}],
    }
    checksum = hashlib.sha256(json.dumps(state).encode()).hexdigest()
    file.write_text(json.dumps({**state, "checksum": checksum}), encoding="utf-8")
    assert pld.Budget.open(file).spent == {"epsilon": Fraction(2, 5)}
    for _ in range(3):
        pld.Budget.open(file).spend(epsilon="0.4", note="daily", times=3)
    assert pld.Budget.open(file).spent == {"epsilon": Fraction(4, 5)}
    assert [entry.note for entry in pld.Budget.open(file).expenses] == ["daily"] * 4


def test_processes_share_one_series(tmp_path: Path) -> None:
    file = tmp_path / "budget.json"
    pld.Budget(epsilon=1, file=file)
    program = (
        "import sys; from exactdp.accounting import pld\n"
        "budget, paid = pld.Budget.open(sys.argv[1]), 0\n"
        "try:\n"
        "    while True: budget.spend(pld.laplace(scale=2), note='daily', times=20); paid += 1\n"
        "except pld.Exhausted: print(paid)\n"
    )
    command = [sys.executable, "-c", program, str(file)]
    runs = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(2)]
    assert sum(int(run.communicate(timeout=60)[0]) for run in runs) == 20
    assert pld.Budget.open(file).spent == {"epsilon": Fraction(1, 2)}


def test_a_statement_lists_a_series_as_one_release() -> None:
    budget = pld.Budget(epsilon=1, delta=0)
    for _ in range(3):
        budget.spend(epsilon="0.4", delta=0, note="daily", times=3)
    listed = statement.of(budget)
    assert listed.check().verdict == "valid"
    assert [r["epsilon"] for r in listed.fields["releases"]] == ["0.4", "0.6"]


def test_an_odometer_refuses_neighbours_that_do_not_cover_the_others() -> None:
    odometer = pld.Odometer()
    odometer.add(pld.laplace(scale=1))
    odometer.add(epsilon="0.1")
    with pytest.raises(InvalidParameter, match="neighbours must be"):
        odometer.add(pld.laplace(scale=1).replaced())
    assert odometer.spent["epsilon"] == Fraction(11, 10)
