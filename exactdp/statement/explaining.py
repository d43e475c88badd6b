"""A privacy statement in plain English, for three readers.

Every line that begins at the left edge is written here: texts of the statement are indented.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from exactdp.balls import ball, enclosure, precision
from exactdp.enclosure import Enclosure
from exactdp.parameters import choice, decimal_text
from exactdp.statement.checker import Verdict
from exactdp.statement.document import Statement
from exactdp.statement.phrases import (
    bound_in_words,
    claim_in_words,
    plain,
    release_in_words,
    rule_in_words,
    trust_in_words,
    unit_in_words,
)

__all__ = ["READERS", "checked", "explain"]

_WIDTH = 96

#: Reader -> the paragraphs for them.
READERS: dict[str, Callable[[Statement, Verdict | None], Iterator[str]]] = {}


def explain(statement: Statement, reader: str = "reviewer", verdict: Verdict | None = None) -> str:
    """What a statement says, for a reader.

    reader: "subject", whose data are in the release; "reviewer", who decides whether the release
    is acceptable; or "engineer", who re-checks or composes the numbers. verdict: of the checker, if
    the statement was checked: the first paragraph says so, and the second what is taken on trust.
    Raises InvalidParameter.
    """
    trust = trust_in_words(statement.fields)
    head = [checked(verdict), *([f"T{trust[1:]}."] if trust else [])]
    paragraphs = READERS[choice("reader", reader, tuple(READERS))](statement, verdict)
    return "\n\n".join([*map(_wrapped, head), *paragraphs])


def checked(verdict: Verdict | None) -> str:
    """Whether the claims of a statement were checked, and what failed."""
    if verdict is None:
        return (
            "Nothing was checked: this is what the statement says. `exactdp statement check FILE` "
            "recomputes its claims."
        )
    if verdict:
        return "The claims were recomputed, and they follow from the releases."
    return (
        f"The claims were recomputed, and they are {verdict.verdict}: {verdict.reason}. The rest "
        "is what the statement says, and nothing of it is shown."
    )


def _for_subject(statement: Statement, verdict: Verdict | None) -> Iterator[str]:
    """What can be learnt about one person, as a guess with a coin's chances."""
    unit, count = statement.fields["unit"], sum(r["times"] for r in statement.fields["releases"])
    times = (
        "Results were computed from data once"
        if count == 1
        else f"Results were computed {count:,} times"
    )
    yield _wrapped(
        f"{times}. Before they were given out, random noise was added, so that they say little "
        f"about any single {plain(unit['of'])}."
    )
    accuracy, accusations = _accuracy(statement), _accusations(statement)
    if verdict is not None and not verdict:
        yield _wrapped(
            "The claims of this statement were not proved, so it says nothing about how well "
            "somebody can guess whether your data were used."
        )
    elif accuracy is None and not accusations:
        yield _wrapped(
            "This statement claims no epsilon and delta, so it says nothing about how well "
            "somebody can guess whether your data were used."
        )
    else:
        situation = {
            "add-remove": "whether your data were used",
            "zero-out": "whether your data were used",
            "replace-one": "which of two versions of your data was used",
            "pair": "which of two data sets was used",
        }[unit["neighbours"]]
        often = (
            ""
            if accuracy is None
            else (
                " Without the results they are right half of the time. With the results, and the "
                f"best strategy, they are right at most {accuracy} of the time."
            )
        )
        yield _wrapped(
            f"Suppose that somebody knows everything but one thing: {situation}. They see the "
            f"results and guess.{often}"
        )
        yield from map(_wrapped, accusations)
    unchecked = [bound for bound in unit["bounds"] if not bound["checked"]]
    assumed = "the noise was drawn as stated" + (
        ", and the bounds on the data hold: " + "; ".join(bound_in_words(b) for b in unchecked)
        if unchecked
        else ""
    )
    yield _wrapped(
        f"This holds if {assumed}. It also holds for whatever is computed from the results later."
    )


def _for_reviewer(statement: Statement, _: Verdict | None) -> Iterator[str]:
    """What is claimed, of whom, under which premises, and how to check the numbers."""
    fields = statement.fields
    yield _wrapped(f"Unit of privacy: {unit_in_words(fields['unit'])}.")
    if fields["unit"]["bounds"]:
        yield _listed(
            "Bounds on the data of one unit", map(bound_in_words, fields["unit"]["bounds"])
        )
    yield _listed("Releases", map(release_in_words, fields["releases"]))
    yield _listed("Claims", map(claim_in_words, fields["claims"]))
    yield _listed("Premises", map(plain, fields["premises"]))
    yield _listed("Not shown by this statement", map(plain, fields["not_shown"]))
    yield _wrapped(
        "To recompute the claims without exactdp, run: python checker/dpcheck.py FILE. The checker "
        "is four files of 920 lines. It proves the claims for the releases above, not that these "
        "releases are what was run."
    )


def _for_engineer(statement: Statement, verdict: Verdict | None) -> Iterator[str]:
    """Parameters, derivations and the name of the statement."""
    fields = statement.fields
    maker = fields["made_by"]
    by = _wrapped(f"made by {plain(maker['name'])} {plain(maker['version'])}")
    yield f"sha256 {statement.sha256}\n{by}"
    yield from list(_for_reviewer(statement, verdict))[:-1]
    rules = [
        f"claim {i}: {rule_in_words(claim['derivation'])}"
        for i, claim in enumerate(fields["claims"], 1)
    ]
    yield _listed("Derivations", rules)
    if fields.get("about"):
        yield _listed("Further facts", [plain(": ".join(fact)) for fact in fields["about"]])
    yield _wrapped(
        "Composition: `exactdp statement add A.json B.json --delta DELTA`, for statements about "
        "the same unit and the same data."
    )


READERS |= {"subject": _for_subject, "reviewer": _for_reviewer, "engineer": _for_engineer}


def _accuracy(statement: Statement) -> str | None:
    """How often a guess between neighbours is right at most, after a fair coin; in percent.

    With TV = sup P(S) - Q(S), this is (1 + TV)/2. From P(S) <= e^epsilon Q(S) + delta, and from the
    same for Q, P and the complement of S, follows TV <= (e^epsilon - 1 + 2 delta)/(e^epsilon + 1);
    so the share is at most (e^epsilon + delta)/(e^epsilon + 1).
    """
    with precision(64):
        shares = [
            enclosure((x + ball(delta)) / (x + 1)).upper
            for epsilon, delta in statement.delta_claims()
            for x in [ball(min(epsilon, Fraction(100))).exp()]
            if epsilon <= 100
        ]
    if not statement.delta_claims():
        return None
    percent = min([100 * share for share in shares], default=Fraction(100))
    tenths = math.ceil(percent * 10)
    return f"{min(tenths, 1000) / 10:g} %"


def _accusations(statement: Statement) -> list[str]:
    """A sentence for every claim of a type II error: 1 minus the error bounds the power."""
    claims = [c for c in statement.fields["claims"] if c["measure"] == "type-two"]
    return [
        "A guess that is wrong with probability "
        f"{decimal_text(100 * Fraction(claim['type_one']))} % in one of the two cases is right "
        f"with probability {_percent(1 - Fraction(claim['at_least']))} % at most in the other case."
        for claim in claims
        if "at_least" in claim
    ]


def _percent(share: Fraction) -> str:
    """Rounded up to three digits."""
    return Enclosure.exact(100 * share).decimal_upper(3)


def _listed(title: str, lines: Any) -> str:
    rows = [
        textwrap.fill(line, _WIDTH, initial_indent="- ", subsequent_indent="  ") for line in lines
    ]
    return "\n".join([f"{title}:", *rows])


def _wrapped(text: str) -> str:
    return textwrap.fill(text, _WIDTH, subsequent_indent="  ")
