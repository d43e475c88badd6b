"""A claim is confirmed only when its check passes and its mutant fails."""

from __future__ import annotations

import dataclasses

import pytest

from exactdp import InvalidParameter
from exactdp.proofs_check.claim import (
    Check,
    Conditional,
    Counterexample,
    Holds,
    Mutant,
    NotCheckable,
    Printed,
    Quibble,
    Refuted,
    require,
)
from exactdp.proofs_check.entries import varied
from exactdp.proofs_check.registry import select
from exactdp.proofs_check.runner import run, run_one


def passes() -> str:
    return "seen"


def fails() -> str:
    raise Counterexample("n = 3")


def crashes() -> str:
    raise ZeroDivisionError("oops")


def accepts(true: bool) -> str:
    require(true, "it is false")
    return "seen"


def holds(check: Check = passes, mutant: Check = fails) -> Holds:
    return Holds(
        paper="BV",
        item="Lemma 0",
        statement="It holds.",
        outcome="verified",
        method="enumeration",
        check=check,
        mutant=Mutant("It does not.", mutant),
    )


def refuted(check: Check = fails, example: str = ">>> 1 + 1\n2\n") -> Refuted:
    return Refuted(
        paper="BV",
        item="Lemma 1",
        statement="It holds.",
        printed=Printed("it holds", "Section 9, first sentence", 7),
        severity="unsafe",
        method="enumeration",
        check=check,
        example=example,
        extraction="no",
        corrected=holds(),
    )


def test_holds() -> None:
    result = run_one(holds())
    assert result.confirmed
    assert (result.evidence, result.claim.verdict) == ("seen", "verified")


@pytest.mark.parametrize(
    ("claim", "problem"),
    [
        (holds(check=fails), "the statement fails: n = 3"),
        (holds(mutant=passes), "also accepts a false statement: It does not."),
        (holds(check=crashes), "ZeroDivisionError: oops"),
        (holds(mutant=crashes), "ZeroDivisionError: oops"),
        (refuted(check=passes), "the printed statement passes"),
        (refuted(check=crashes), "ZeroDivisionError"),
        (refuted(example=">>> 1 + 1\n3\n"), "does not run as printed"),
    ],
)
def test_problems(claim: Holds | Refuted, problem: str) -> None:
    result = run_one(claim)
    assert not result.confirmed
    assert problem in result.problem
    assert result.as_dict()["verdict"] == "not confirmed"


def test_refuted() -> None:
    result = run_one(refuted())
    assert result.confirmed
    entry = result.as_dict()
    assert entry["verdict"] == "refuted"
    assert entry["severity"] == "unsafe"
    assert entry["evidence"] == "n = 3"
    assert entry["corrected"] == "BV-Lemma-0"


def test_not_checkable() -> None:
    claim = NotCheckable(paper="CP", item="Table 9", statement="It is fast.", reason="asymptotic")
    result = run_one(claim)
    assert result.confirmed
    assert result.as_dict()["verdict"] == "not checkable"
    assert result.evidence == "asymptotic"


def test_conditional_is_run_like_any_statement() -> None:
    claim = Conditional(
        paper="CP",
        item="Theorem 9",
        statement="It holds.",
        outcome="verified",
        method="enumeration",
        condition="n >= 2",
        rests_on="CP-Lemma-8",
        **varied(accepts, True, False, "for n = 1, too"),
    )
    entry = run_one(claim).as_dict()
    assert (entry["verdict"], entry["condition"], entry["rests_on"]) == (
        "conditional",
        "n >= 2",
        "CP-Lemma-8",
    )
    loose = dataclasses.replace(claim, mutant=Mutant("the same", lambda: accepts(True)))
    assert "also accepts a false statement: the same" in run_one(loose).problem


def test_a_note_fails_to_the_letter() -> None:
    claim = Quibble(
        paper="BV",
        item="Definition 9",
        statement="It holds to the letter.",
        printed=Printed("it holds", "Section 9, first sentence", 7),
        method="enumeration",
        check=fails,
        extraction="no",
        corrected=holds(),
    )
    entry = run_one(claim).as_dict()
    assert (entry["verdict"], entry["evidence"]) == ("note", "n = 3")
    assert entry["printed"] == {
        "words": "it holds",
        "where": "Section 9, first sentence",
        "line": 7,
    }
    assert "severity" not in entry
    assert not run_one(dataclasses.replace(claim, check=passes)).confirmed


def test_corrected_forms_are_ours() -> None:
    assert refuted().corrected.ours
    assert not holds().ours


def test_ids() -> None:
    claim = dataclasses.replace(holds(), item="Theorem 3.5, proof: term (4)")
    assert claim.id == "BV-Theorem-3.5-proof-term-4"


@pytest.mark.parametrize(
    ("name", "value"),
    [("paper", "XX"), ("item", " "), ("outcome", "refuted"), ("method", "guessing")],
)
def test_bad_claims(name: str, value: str) -> None:
    with pytest.raises(InvalidParameter, match=name):
        dataclasses.replace(holds(), **{name: value})


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("words", (" ", "Section 1", 1)), ("where", ("w", "", 1)), ("line", ("w", "Section 1", 0))],
)
def test_bad_quotations(name: str, arguments: tuple[str, str, int]) -> None:
    with pytest.raises(InvalidParameter, match=name):
        Printed(*arguments)


def test_require() -> None:
    require(True, "nothing")
    with pytest.raises(Counterexample, match="here"):
        require(False, "here")


def test_parallel_run_keeps_the_order_and_reports_progress() -> None:
    claims = select(["BV-Lemma-2.9"])
    seen: list[object] = []
    results = list(run(claims, workers=2, progress=lambda: seen.append(1)))
    assert [r.claim.id for r in results] == [c.id for c in claims]
    assert all(r.confirmed for r in results)
    assert len(seen) == len(claims)


def test_selection() -> None:
    assert [c.id for c in select(["bv-lemma-2.9"])] == ["BV-Lemma-2.9"]
    assert all(c.verdict == "refuted" for c in select(paper="BV", verdict="refuted"))
    assert len(select(["BV-Lemma-2.9", "BV-Lemma-2.9-"])) >= 3
    with pytest.raises(InvalidParameter, match=r"ID .*BV-Lemma-99"):
        select(["BV-Lemma-99"])
    with pytest.raises(InvalidParameter, match="verdict"):
        select(verdict="true")
    assert all(c.severity == "unsafe" for c in select(severity="unsafe") if isinstance(c, Refuted))
    assert 0 < len(select(severity="unsafe")) < len(select(verdict="refuted"))
    with pytest.raises(InvalidParameter, match="severity"):
        select(severity="bad")
