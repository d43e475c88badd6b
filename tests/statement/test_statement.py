"""Privacy statements: what they claim, how they compose, and what they say to readers."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from scipy.special import ndtr, ndtri

from exactdp import frames, statement
from exactdp.accounting import discrete_gshm, pld
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter, Undecided
from exactdp.law import Law
from exactdp.registry import fields_for
from exactdp.statement import Statement, claims
from exactdp.statement.deriving import Derived, agrees
from exactdp.statement.explaining import READERS, explain
from exactdp.statement.parts import starts_of
from tests.statement.drawn import run

_NOISE = pld.gaussian(sigma=10)
_TRUST = "1 claim follows; taken on trust: release 1 (a stated guarantee)"

#: Statements that were handled wrongly once.
CASES = Path(__file__).parents[1] / "checker" / "cases"
_CLAIMS = {"epsilon": 1, "delta": "1e-5", "order": 3, "type_one": "0.05", "rho": True, "mu": True}


def _claims(document: Statement) -> list[tuple[str, str]]:
    return [(claim["measure"], claim.get("at_most", "")) for claim in document.fields["claims"]]


@pytest.mark.slow
def test_both_checkers_prove_what_is_true_alone() -> None:
    assert sum(run(12, seed=5).values()) == 12


@pytest.mark.slow
def test_many_statements() -> None:
    assert len(run(100, seed=6)) > 10


def test_every_claim_of_gaussian_noise() -> None:
    document = statement.of(_NOISE.composed(100), one_pair=True, **_CLAIMS)  # type: ignore[arg-type]
    assert document.check().verdict == "valid"
    sharp = {claim["measure"]: claim for claim in document.fields["claims"][1:]}
    # mu = 1: rho = mu^2/2, divergences a mu^2/2, errors Phi(Phi^-1(1 - 0.05) - 1) = 0.74048863...
    assert [sharp[name]["at_most"] for name in ("rho", "renyi", "mu")] == ["0.5", "1.5", "1"]
    assert [sharp[name]["at_least"] for name in ("rho", "renyi", "mu")] == ["0.5", "1.5", "1"]
    assert 0.7404 < float(sharp["type-two"]["at_least"]) < 0.740489


@pytest.mark.parametrize("alpha", [1e-9, 1e-6, 0.01, 0.4])
def test_type_two_errors_are_sharp_at_every_level(alpha: float) -> None:
    document = statement.of(pld.gaussian(sigma=1), type_one=Fraction(alpha))
    (claim,) = document.fields["claims"]
    power = float(ndtr(ndtri(alpha) + 1))
    assert power <= 1 - float(claim["at_least"]) + 1e-15
    assert 1 - float(claim["at_least"]) <= power * 1.001


@pytest.mark.slow
def test_a_claimed_epsilon_is_about_the_least() -> None:
    document = statement.of(pld.sgd(noise_multiplier=1, rate="0.1", steps=20), delta="1e-5")
    claim = document.fields["claims"][0]
    truth = pld.sgd(noise_multiplier=1, rate="0.1", steps=20).epsilon("1e-5")
    assert claim["at_most"] == "1e-5"
    assert truth.upper <= Fraction(claim["epsilon"]) <= truth.upper * Fraction(101, 100)


@pytest.mark.parametrize(
    "loss",
    [
        _NOISE.allocated(10),
        _NOISE.sampled("0.1").replaced(),
        pld.gaussian_mixture(sigma=2, sensitivities=[1, 2], weights=["0.7", "0.3"]),
        pld.noisy_max(epsilon=1, noise="exponential").sampled("0.1"),
        pld.gaussian_noisy_max(sigma=2, options=3),
        _NOISE.sampled("0.1", batch_limit=3, users=9),
    ],
)
def test_what_a_statement_cannot_name_is_refused(loss: pld.Pld) -> None:
    with pytest.raises(InvalidParameter, match=r"mechanism|neighbours"):
        statement.of(loss, epsilon=1)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("loss", "kind"),
    [
        (pld.noisy_max(epsilon="0.1", noise="laplace").composed(50), "approximate"),
        (pld.exponential(epsilon="0.1"), "approximate"),
        (pld.exponential(epsilon="0.1").composed(50), "zcdp"),
        (pld.matrix(sigma=4, strategy=[1, "0.5"], steps=9), "zcdp"),  # sqrt(5)/2
        (pld.matrix(sigma=4, strategy=[3, 4], steps=9), "gaussian"),  # sqrt(25)
    ],
)
def test_a_mechanism_without_a_rule_is_stated_by_its_promise(loss: pld.Pld, kind: str) -> None:
    document = statement.of(loss, epsilon="1.5")
    (release,), (claim,) = document.fields["releases"], document.fields["claims"]
    assert release["mechanism"] == kind
    assert loss.delta("1.5").lower <= Fraction(claim["at_most"])
    assert kind == "gaussian" or "at_least" not in claim
    assert document.check().verdict == "valid"


def test_a_claim_is_needed_and_of_a_guarantee_none() -> None:
    with pytest.raises(InvalidParameter, match="at least one of epsilon, delta"):
        statement.of(_NOISE)
    with pytest.raises(InvalidParameter, match="a Guarantee and another claim"):
        statement.of(_NOISE.guarantee(1), epsilon=2)
    with pytest.raises(Undecided, match="no mu of one of the releases"):
        statement.of(pld.laplace(scale=2), mu=True)


def test_a_checker_that_contradicts_the_library_stops_the_statement() -> None:
    truth: Enclosure = _NOISE.delta("0.1")
    agrees(_NOISE, Fraction(1, 10), truth.upper, truth.lower)
    for most, least in ((truth.lower / 2, None), (None, truth.upper * 2)):
        with pytest.raises(Undecided, match="one of both is wrong"):
            agrees(_NOISE, Fraction(1, 10), most, least)


def test_sums_are_derived_anew() -> None:
    both = statement.of(_NOISE.composed(3), delta="1e-6") + statement.of(
        _NOISE.composed(2), delta="1e-6"
    )
    assert both.fields["releases"] == statement.of(_NOISE.composed(5), epsilon=1).fields["releases"]
    assert both.check().verdict == "valid"
    truth = _NOISE.composed(5).epsilon("2e-6")  # which is less than the sum of both
    assert truth.upper <= Fraction(both.fields["claims"][0]["epsilon"]) < truth.upper * 1001 / 1000


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("loss", "claim"),
    [
        (pld.discrete_gaussian(sigma2=Fraction(1, 3), sensitivity=50), {"epsilon": 1}),
        (pld.laplace(scale=2).sampled("1/3"), {"delta": 0}),
        (pld.laplace(scale=2).composed(3), {"delta": 0}),
        (pld.discrete_gaussian(sigma2=3).composed(2), {"type_one": 0}),
        (pld.gaussian(sigma=1), {"type_one": 1}),
    ],
)
def test_claims_at_the_ends_of_their_range(loss: pld.Pld, claim: dict[str, int]) -> None:
    """A statement is valid, or there is none."""
    try:
        document = statement.of(loss, **claim)
    except Undecided:
        return
    assert document.check().verdict == "valid"


def test_a_bound_above_one_proves_delta_1() -> None:
    document = statement.of(pld.approximate(epsilon=3, delta=0), epsilon=0)
    claim = {"measure": "delta", "epsilon": "0", "derivation": {"rule": "renyi", "order": "2"}}
    fields = {**document.fields, "claims": [{**claim, "at_most": "1"}]}
    assert statement.check(json.dumps(fields)).verdict == "valid"
    fields = {**document.fields, "claims": [{**claim, "at_most": "0.99"}]}
    assert statement.check(json.dumps(fields)).verdict == "not proved"


def test_no_epsilon_is_claimed_that_is_not_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    bad = Derived({"rule": "basic"}, Fraction(1, 10), None)
    monkeypatch.setattr(claims, "least_epsilon", lambda *_: (Fraction(1), [bad]))
    with pytest.raises(Undecided, match=r"proves delta <= 0\.1 at epsilon = 1"):
        statement.of(_NOISE, delta="0.01")


def test_different_units_do_not_compose() -> None:
    document = statement.of(_NOISE, epsilon=1)
    response = pld.randomized_response(epsilon=1, neighbours=pld.REPLACE_ONE)
    for other, said in (
        (statement.of(_NOISE, epsilon=1, unit="household"), "unit.of .*user and household"),
        (statement.of(response, epsilon=1), "add-remove and replace-one"),
    ):
        with pytest.raises(InvalidParameter, match=said):
            document + other


def test_a_sum_claims_nothing_at_least_unless_one_pair_is_stated() -> None:
    """Two counts of disjoint groups, sigma 1, epsilon 1: delta is .1269, and not .2862 or more."""
    women, men = (statement.of(pld.gaussian(sigma=1), epsilon=1) for _ in range(2))
    assert women.fields["claims"][0]["at_least"] == "0.1269367375"
    both = women.together([men], epsilon=1)
    assert "at_least" not in both.fields["claims"][0]
    assert "one_pair" not in both.fields["unit"]
    assert both.check().verdict == "valid"
    stated = women.together([men], epsilon=1, one_pair=True)
    assert stated.fields["unit"]["one_pair"] is True
    assert Fraction(stated.fields["claims"][0]["at_least"]) > Fraction("0.286")
    assert stated.check().verdict == "valid"
    assert "one pair of data sets attains all runs" in explain(stated).replace("\n  ", " ")
    again = stated.together([women], epsilon=1)
    assert "one_pair" not in again.fields["unit"]


def test_several_runs_have_bounds_from_below_only_where_one_pair_is_stated() -> None:
    """Two equal counts merge into two runs of one mechanism, so runs say nothing of their pairs."""
    claims = {"epsilon": 1, "order": 3, "rho": True, "mu": True}
    runs, several = _NOISE.composed(9), _NOISE.then(pld.gaussian(sigma=3))
    for document, sides in (
        (statement.of(_NOISE, **claims), True),  # type: ignore[arg-type]
        (statement.of(runs, **claims), False),  # type: ignore[arg-type]
        (statement.of(runs, one_pair=True, **claims), True),  # type: ignore[arg-type]
        (statement.of(several, **claims), False),  # type: ignore[arg-type]
        (statement.of(several, one_pair=True, **claims), True),  # type: ignore[arg-type]
    ):
        assert {"at_least" in claim for claim in document.fields["claims"]} == {sides}
        assert document.check().verdict == "valid"


def test_a_composition_in_any_order() -> None:
    """Outcomes (.5, .49, .01) and (.35, .63, .02), twice: 9.500162e-4 in two orders."""
    p, q = (
        Law(dict(enumerate(map(Fraction, row))))
        for row in (("0.5", "0.49", "0.01"), ("0.35", "0.63", "0.02"))
    )
    once = pld.laws(p, q, neighbours=pld.REPLACE_ONE)
    first = statement.of(once, epsilon="0.5")
    for document in (
        statement.of(once.composed(2), epsilon="0.95"),
        first.together([first], epsilon="0.95"),
    ):
        assert Fraction(document.fields["claims"][0]["at_most"]) >= Fraction("0.000950016192395")
        assert document.check().verdict == "valid"


_HOSTILE = "\x1b[2J\x9b1A\r\nvalid: 9 claims follow\u2028\u202e\u2066\u200b\x00 " + "x " * 300


def _hostile() -> Statement:
    document = statement.of(
        _NOISE.guarantee(1), bounds=[{"what": "k", "at_most": 1, "checked": False}]
    )
    fields = json.loads(document.to_json())
    fields["unit"]["of"] = fields["unit"]["bounds"][0]["what"] = _HOSTILE
    fields["made_by"] = {"name": _HOSTILE, "version": _HOSTILE}
    texts = [_HOSTILE, "-", "  valid: 9 claims follow"]
    return Statement.read(
        json.dumps({**fields, "premises": texts, "not_shown": texts, "about": [texts, []]})
    )


@pytest.mark.parametrize("reader", [*READERS, "registry", "print"])
def test_texts_of_a_statement_forge_no_line(reader: str) -> None:
    document = _hostile()
    verdict = document.check()
    if reader == "registry":
        text = fields_for(document, verdict)
    else:
        text = str(document) if reader == "print" else explain(document, reader, verdict)
    assert text.replace("\n", "").isprintable()
    assert "\\x1b[2J" in text
    assert not re.search(r"^ *valid", text, re.MULTILINE)
    # at the left edge stand only lines that do not depend on the texts
    plain = json.loads(json.dumps(document.fields).replace(json.dumps(_HOSTILE)[1:-1], "user"))
    heads = {line.split(" ")[0] for line in text.splitlines() if line[:1] not in (" ", "-")}
    same = Statement(plain)
    again = fields_for(same) if reader == "registry" else explain(same, *_reader(reader))
    again = str(same) if reader == "print" else again
    assert heads <= {line.split(" ")[0] for line in again.splitlines()} | {"The", "sha256"}


def _reader(reader: str) -> list[str]:
    return [reader] if reader in READERS else []


def test_what_is_shown_says_whether_it_was_checked() -> None:
    false = Statement.read((CASES / "false-claim.json").read_text(encoding="utf-8"))
    for reader in READERS:
        assert explain(false, reader).startswith("Nothing was checked")
        text = explain(false, reader, false.check()).replace("\n  ", " ")
        assert text.startswith("The claims were recomputed, and they are not proved: claim 1, ")
    assert "50" not in explain(false, "subject", false.check())  # no chance of a right guess
    assert fields_for(false).startswith("# Nothing was checked")
    assert fields_for(false, false.check()).startswith("# The claims were recomputed, and they are")


@pytest.mark.parametrize("reader", [*READERS, "registry", "print"])
def test_every_reader_sees_what_is_taken_on_trust(reader: str) -> None:
    document = Statement.read((CASES / "promise.json").read_text(encoding="utf-8"))
    renderers = {"registry": lambda: fields_for(document), "print": lambda: str(document)}
    text = renderers.get(reader, lambda: explain(document, reader))()
    assert "aken on trust: release 1 (a stated guarantee)" in text
    noise = statement.of(_NOISE, epsilon=1)
    assert "on trust" not in explain(noise, "reviewer") + str(noise) + fields_for(noise)


def test_budgets() -> None:
    budget = pld.Budget(epsilon=3, delta="1e-6")
    budget.spend(epsilon="0.5")
    budget.spend(epsilon="0.5", delta="1e-7")
    document = statement.of(budget)
    left = {"mechanism": "approximate", "epsilon": "2", "delta": "9e-7", "times": 1}
    assert document.fields["releases"][-1] == left
    assert document.delta_claims() == [(3, Fraction(1, 10**6))]
    assert document.check().verdict == "valid"
    budget = pld.Budget(rho="0.5")
    budget.spend(_NOISE)
    assert _claims(statement.of(budget)) == [("rho", "0.5")]
    assert statement.of(budget).check().verdict == "valid"
    budget = pld.Budget(epsilon=3, delta="1e-6", by="renyi")
    assert statement.of(budget).delta_claims() == [(3, Fraction(1, 10**6))]


@pytest.mark.slow
def test_histories_of_opacus() -> None:
    document = statement.imported([(2.0, 0.1, 3), (1.5, 0.1, 2)], epsilon=1)
    assert [(r["sigma"], r["rate"], r["times"]) for r in document.fields["releases"]] == [
        ("2", "0.1", 3),
        ("1.5", "0.1", 2),
    ]
    assert document.check().verdict == "valid"


@pytest.mark.peers
def test_events_of_dp_accounting() -> None:
    events = pytest.importorskip("dp_accounting")
    event = events.ComposedDpEvent(
        [
            events.SelfComposedDpEvent(events.GaussianDpEvent(10.0), 4),
            events.PoissonSampledDpEvent(0.5, events.LaplaceDpEvent(3.0)),
        ]
    )
    document = statement.imported(event, epsilon="0.5")
    assert [r["mechanism"] for r in document.fields["releases"]] == ["gaussian", "laplace"]
    assert document.check().verdict == "valid"
    with pytest.raises(InvalidParameter, match="leaks nothing"):
        statement.imported(events.NoOpDpEvent(), epsilon=1)


def test_a_release_of_a_frame_says_what_was_checked() -> None:
    visits = pl.DataFrame({"uid": range(9000), "url": ["a", "b", "c"] * 3000, "n": [1] * 9000})
    out = frames.release(
        visits,
        user="uid",
        by="url",
        k=2,
        epsilon=1,
        delta="1e-6",
        sums={"n": frames.Sum(-5, 5, of="sums")},
    )
    document = out.statement
    assert document.fields["unit"]["bounds"] == [
        {"what": "keys of one user", "at_most": "2", "checked": True},
        {"what": "absolute sum of n of one user for one key", "at_most": "5", "checked": True},
    ]
    assert ["mechanism", "GSHMWithSums"] in document.fields["about"]
    assert document.check().verdict == "valid"


def test_files(tmp_path: Path) -> None:
    document = statement.of(_NOISE, epsilon="0.1")
    document.save(tmp_path / "s.json")
    text = (tmp_path / "s.json").read_text(encoding="utf-8")
    assert Statement.read(text) == document
    assert json.loads(text) == document.fields
    assert document.sha256 == document.check().sha256
    with pytest.raises(FileExistsError):
        document.save(tmp_path / "s.json")
    with pytest.raises(TypeError):
        Statement({"format": object()}).save(tmp_path / "half.json")
    assert not (tmp_path / "half.json").exists()
    with pytest.raises(InvalidParameter, match="the mechanism is unknown"):
        Statement.read(text.replace('"gaussian"', '"magic"'))


def test_readers() -> None:
    bounds = [{"what": "keys of one user", "at_most": 3, "checked": False}]
    loss, about = _NOISE.composed(100), {"file": "x.csv"}
    document = statement.of(loss, epsilon=1, one_pair=True, bounds=bounds, about=about)
    said = {reader: re.sub(r"\s+", " ", explain(document, reader)) for reader in READERS}
    # mu = 1 has (1, 0.12694): a guess is right at most (e + 0.12694)/(e + 1) = 76.5201...%
    assert "right at most 76.6 % of the time" in said["subject"]
    assert "keys of one user: at most 3 (not checked on the data)" in said["subject"]
    assert "Gaussian noise (sigma 10, sensitivity 1), 100 times" in said["reviewer"]
    assert "at least 0.1269367375 for some neighbours" in said["reviewer"]
    assert document.sha256 in said["engineer"]
    assert "file: x.csv" in said["engineer"]
    with pytest.raises(InvalidParameter, match="reader"):
        explain(document, "nobody")


def test_a_subject_reads_the_power_of_an_attack() -> None:
    """For Gaussian noise, mu = 1/2: power Phi(mu + Phi^-1(alpha)), rounded up."""
    document = statement.of(pld.gaussian(sigma=2), type_one="0.0125")
    said = " ".join(explain(document, "subject", document.check()).split())
    power = float(ndtr(0.5 + ndtri(0.0125)))
    assert "wrong with probability 1.25 % in one of the two cases" in said
    (percent,) = re.findall(r"right with probability ([0-9.]+) % at most", said)
    assert power <= float(percent) / 100 <= power + 1e-4
    assert "half of the time" not in said  # no delta is claimed
    assert "says nothing" not in said


_DISCRETE: dict[str, Any] = {"k": 51914, "sigma": "2222.636399", "tau": "13913", "epsilon": "0.35"}


@pytest.mark.parametrize(
    "parameters",
    [
        _DISCRETE,
        pytest.param({"k": 10, "sigma": 31, "tau": 150, "epsilon": "0.35"}, marks=pytest.mark.slow),
        {"k": 1, "sigma": 10, "tau": "50.9", "epsilon": 1},
        {"k": 10**9, "sigma": 10**7, "tau": 10**8, "epsilon": "0.5"},
    ],
)
def test_a_sparse_histogram_with_discrete_noise_is_recomputed(parameters: dict[str, Any]) -> None:
    document = statement.calculated("discrete-gshm", **parameters)
    truth = discrete_gshm.delta(**parameters)
    (claim,) = document.fields["claims"]
    assert document.check().reason == "1 claim follows"  # and nothing is taken on trust
    assert truth.lower <= Fraction(claim["at_most"]) <= truth.upper * Fraction(1001, 1000)
    assert len(claim["derivation"]["starts"]) < 30


@pytest.mark.parametrize(
    "changes", [{"epsilon": 0}, {"sigma": "0.9", "tau": 9}, {"analysis": "add-the-deltas"}]
)
def test_other_sparse_histograms_are_promises(changes: dict[str, Any]) -> None:
    document = statement.calculated("discrete-gshm", **{**_DISCRETE, "k": 10, **changes})
    assert document.check().reason == _TRUST


def test_a_sparse_histogram_composes_as_a_promise() -> None:
    one = statement.calculated("discrete-gshm", **_DISCRETE)
    two = one.together([one], epsilon="0.7")
    assert two.fields["claims"][0]["at_most"] == "1.999989995e-5"  # 1 - (1 - 9.999999971e-6)^2
    assert two.check().reason == _TRUST
    assert any("taken from its proof" in text for text in two.fields["not_shown"])


@pytest.mark.parametrize("sigma2", ["1e-999", "1e999", "1e-300"])
def test_parts_of_histograms_beyond_floats(sigma2: str) -> None:
    release = {"mechanism": "discrete-sparse-histogram", "k": 3, "sigma2": sigma2, "tau": "1e999"}
    assert starts_of(release, Fraction(10) ** 999) == [0, 1, 2, 3]
