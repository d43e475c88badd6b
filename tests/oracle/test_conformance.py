"""Verdicts on answers, from adapters in Python and from lines of JSON."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from exactdp.errors import InvalidParameter
from exactdp.oracle import conformance, vectors
from exactdp.oracle.adapter import make
from exactdp.oracle.conformance import Unsupported, beyond_doubles, exact_value, judge
from exactdp.oracle.isolated import run_isolated
from exactdp.oracle.jsonl import check_jsonl

DELTA = vectors.find("analytic_gaussian-001")
ZERO = vectors.find("composition-021")
TINY = vectors.find("analytic_gaussian-030")
PMF = vectors.find("discrete_gaussian-001")
ZCDP = vectors.find("zcdp-001")


@dataclass(frozen=True)
class Fake:
    reply: Callable[[str, str, Mapping[str, str]], Any]
    name: str = "fake"
    version: str = "1"

    def answer(self, question: str, group: str, parameters: Mapping[str, str]) -> Any:
        return self.reply(question, group, parameters)


@pytest.mark.parametrize(
    ("answer", "verdict", "bucket"),
    [
        (DELTA.most, "safe", None),
        (DELTA.least, "safe", None),
        (DELTA.most * (1 + Fraction(1, 10**10)), "safe", None),
        (DELTA.most * (1 + Fraction(1, 10**8)), "loose", None),
        (1, "loose", None),
        (DELTA.least * (1 - Fraction(1, 10**40)), "unsafe", "rounding"),
        (DELTA.least * (1 - Fraction(1, 10**11)), "unsafe", "material"),
        (0.0, "unsafe", "material"),
        (-1, "unsafe", "material"),
        (str(DELTA.upper), "safe", None),
        (Decimal("0.2"), "loose", None),
        (Unsupported("no"), "unsupported", None),
        (math.nan, "crash", None),
        (math.inf, "crash", None),
        ("nan", "crash", None),
        ("nonsense", "crash", None),
        (None, "crash", None),
        (True, "crash", None),
    ],
)
def test_judging_a_delta(answer: object, verdict: str, bucket: str | None) -> None:
    judgement = judge(DELTA, answer)
    assert (judgement.verdict, judgement.bucket) == (verdict, bucket)


def test_floats_count_as_they_are() -> None:
    nearest = float(DELTA.least)
    expected = "safe" if Fraction(nearest) >= DELTA.least else "unsafe"
    assert judge(DELTA, nearest).verdict == expected
    assert judge(DELTA, math.nextafter(nearest, 1)).verdict == "safe"
    assert judge(DELTA, math.nextafter(nearest, 0)).bucket == "rounding"


def test_a_true_value_of_zero() -> None:
    assert judge(ZERO, 0.0).verdict == "safe"
    assert judge(ZERO, 1e-300).verdict == "loose"
    assert judge(ZERO, -1e-20).bucket == "rounding"
    assert judge(ZERO, -1.0).bucket == "material"


def test_below_every_double() -> None:
    assert judge(TINY, 0.0).bucket == "underflow"
    assert judge(TINY, 5e-324).verdict == "loose"


def test_probabilities_are_right_or_wrong() -> None:
    assert judge(PMF, float(PMF.least)).verdict == "safe"
    assert judge(PMF, float(PMF.least) * (1 + 1e-8)).verdict == "wrong"
    assert judge(PMF, float(PMF.least) * (1 - 1e-8)).verdict == "wrong"
    assert judge(PMF, 0.4, tolerance=Fraction(1, 10)).verdict == "safe"


def test_only_what_is_provably_unsafe_is_called_unsafe() -> None:
    between = (ZCDP.safe_from + ZCDP.least) / 2
    assert judge(ZCDP, between).verdict == "safe"
    assert judge(ZCDP, ZCDP.safe_from * Fraction(99, 100)).verdict == "unsafe"


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ("0x1.8p+1", Fraction(3)),
        ("1e-400", Fraction(1, 10**400)),
        ("1/3", Fraction(1, 3)),
        (0.5, Fraction(1, 2)),
        (7, Fraction(7)),
    ],
)
def test_exact_values(answer: object, value: Fraction) -> None:
    assert exact_value(answer) == value


def test_a_run() -> None:
    chosen = vectors.load("zcdp").tests[:3]
    replies: dict[str, Callable[[], Any]] = {
        chosen[0].parameters["epsilon"]: lambda: 1.0,
        chosen[1].parameters["epsilon"]: lambda: Unsupported(),
    }

    def reply(question: str, group: str, parameters: Mapping[str, str]) -> Any:
        if parameters == dict(chosen[2].parameters):
            raise ZeroDivisionError("oh")
        return replies[parameters["epsilon"]]()

    report = conformance.run(Fake(reply), chosen)
    assert [r.verdict for r in report.results] == ["loose", "unsupported", "crash"]
    assert report.counts("zcdp") == {"loose": 1, "unsupported": 1, "crash": 1}
    assert "ZeroDivisionError: oh" in report.text()
    assert not report.clean
    assert json.loads(json.dumps(report.as_dict()))["counts"]["crash"] == 1


def test_a_question_that_takes_too_long() -> None:
    def slow(*_: object) -> float:
        try:
            time.sleep(30)
        except Exception:
            return 0.0
        return 1.0

    start = time.perf_counter()
    report = conformance.run(Fake(slow), [DELTA], timeout=0.2)
    assert report.results[0].detail == "no answer within 0.2 s"
    assert time.perf_counter() - start < 5


def test_lines_of_json() -> None:
    chosen = vectors.load("zcdp").tests[:5]
    lines = [
        json.dumps({"id": chosen[0].id, "value": "1"}),
        "",
        json.dumps({"id": chosen[2].id, "unsupported": True}),
        json.dumps({"id": chosen[1].id, "value": float(chosen[1].most).hex()}),
        json.dumps({"id": chosen[3].id, "error": "overflow"}),
    ]
    report = check_jsonl(lines, chosen, name="mine", version="2")
    verdicts = [r.verdict for r in report.results]
    assert verdicts[0] == "loose"
    assert verdicts[1] in ("safe", "unsafe")
    assert verdicts[2:] == ["unsupported", "crash", "crash"]
    assert report.results[4].detail == "no answer"


@pytest.mark.parametrize(
    "line",
    [
        "not json",
        "[1]",
        '{"value": 1}',
        '{"id": "gshm-001", "value": 1}',
        '{"id": "zcdp-001"}',
        '{"id": "zcdp-001", "value": 1}\n{"id": "zcdp-001", "value": 1}',
    ],
)
def test_lines_that_are_not_understood(line: str) -> None:
    with pytest.raises(InvalidParameter, match="line"):
        check_jsonl(line.split("\n"), vectors.load("zcdp").tests)


def test_parameters_beyond_doubles() -> None:
    assert beyond_doubles({"delta": "1e-400"})
    assert beyond_doubles({"k": "1e400"})
    assert not beyond_doubles({"delta": "1e-300", "noise": "laplace", "sigma": "0"})


def test_this_library_conforms() -> None:
    """Compositions on grids are as loose as was asked for: tests of agreement judge those."""
    grids = {"sampled_gaussian", "sampled_matrix", "events", "allocation", "shuffled", "power"}
    chosen = [v for v in vectors.select() if int(v.id[-3:]) % 5 == 0 and v.group not in grids]
    report = conformance.run(make("exactdp"), chosen)
    assert set(report.counts()) == {"safe"}


def fake() -> Fake:
    return Fake(lambda *_: "1")


@pytest.mark.slow
def test_an_adapter_of_ones_own() -> None:
    report = run_isolated("tests.oracle.test_conformance:fake", [DELTA], timeout=20)
    assert (report.name, report.version) == ("fake", "1")
    assert report.results == conformance.run(fake(), [DELTA]).results


@pytest.mark.parametrize(
    "where", ["numpy", "", ":", "numpy:", ":make", "nothing_here:make", "json:make"]
)
def test_unknown_adapter(where: str) -> None:
    with pytest.raises(InvalidParameter, match="adapter must be exactdp, or package"):
        make(where)
