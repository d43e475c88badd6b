"""A privacy statement in plain English, for three readers."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from exactdp.balls import ball, enclosure, precision
from exactdp.parameters import choice
from exactdp.statement.document import Statement

__all__ = ["READERS", "explain", "sentences", "summary"]

_WIDTH = 96

_RELATIONS = {
    "add-remove": "two data sets of which one has all data of one {of} and the other has none",
    "replace-one": "two data sets in which the data of one {of} are replaced by other data",
    "zero-out": "two data sets in which the data of one {of} are replaced by a null record",
    "pair": "the data sets that the first premise names",
}

_NAMES = {
    "gaussian": "Gaussian noise",
    "laplace": "Laplace noise",
    "discrete-gaussian": "discrete Gaussian noise",
    "discrete-laplace": "discrete Laplace noise",
    "randomized-response": "randomised response",
    "finite-law": "a mechanism with finitely many outcomes",
    "approximate": "a mechanism with a promise of (epsilon, delta)-differential privacy",
    "zcdp": "a mechanism with a promise of zero-concentrated differential privacy",
    "gaussian-sparse-histogram": "a Gaussian sparse histogram",
    "correlated-sparse-histogram": "a correlated sparse histogram",
}

_RULES = {
    "curve": "exact formula for the mechanism",
    "overlaps": "exact formula, in parts by the number of shared keys",
    "basic": "sums of epsilon and delta",
    "sum": "sum over the releases",
    "renyi": "sum of Renyi divergences of order {order}",
    "grid": "composition of the losses on a grid of step {step}",
}

#: Reader -> the paragraphs for them.
READERS: dict[str, Callable[[Statement], Iterator[str]]] = {}


def explain(statement: Statement, reader: str = "reviewer") -> str:
    """What a statement says, for a reader.

    reader: "subject", whose data are in the release; "reviewer", who decides whether the release
    is acceptable; or "engineer", who re-checks or composes the numbers.
    Raises InvalidParameter.
    """
    return "\n\n".join(READERS[choice("reader", reader, tuple(READERS))](statement))


def summary(statement: Statement) -> str:
    """One line for each release and each claim."""
    fields = statement.fields
    releases = [f"release: {_release(made)}" for made in fields["releases"]]
    claims = [f"claim: {_claim(claim)}" for claim in fields["claims"]]
    unit = fields["unit"]
    head = f"privacy statement, {unit['neighbours']} neighbours of one {unit['of']}"
    return "\n".join([head, *releases, *claims])


def sentences(statement: Statement) -> dict[str, list[str]]:
    """The parts of a statement, as sentences."""
    fields = statement.fields
    unit = fields["unit"]
    relation = _RELATIONS[unit["neighbours"]].format(of=unit["of"])
    parts = {
        "unit": [f"the claims compare {relation}", *map(_bound, unit["bounds"])],
        "releases": [_release(made) for made in fields["releases"]],
        "claims": [_claim(claim) for claim in fields["claims"]],
        "derivations": [_rule(claim["derivation"]) for claim in fields["claims"]],
        "premises": fields["premises"],
    }
    return {name: [_sentence(text) for text in texts] for name, texts in parts.items()}


def _for_subject(statement: Statement) -> Iterator[str]:
    """What can be learnt about one person, as a guess with a coin's chances."""
    unit, count = statement.fields["unit"], sum(r["times"] for r in statement.fields["releases"])
    times = (
        "Results were computed from data once"
        if count == 1
        else f"Results were computed {count:,} times"
    )
    yield _wrapped(
        f"{times}. Before they were given out, random noise was added, so that they say little "
        f"about any single {unit['of']}."
    )
    accuracy = _accuracy(statement)
    if accuracy is None:
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
        yield _wrapped(
            f"Suppose that somebody knows everything but one thing: {situation}. They see the "
            f"results and guess. Without the results they are right half of the time. With the "
            f"results, and the best strategy, they are right at most {accuracy} of the time."
        )
    unchecked = [bound for bound in unit["bounds"] if not bound["checked"]]
    assumed = "the noise was drawn as stated" + (
        ", and the bounds on the data hold: " + "; ".join(_bound(b) for b in unchecked)
        if unchecked
        else ""
    )
    yield _wrapped(
        f"This holds if {assumed}. It also holds for whatever is computed from the results later."
    )


def _for_reviewer(statement: Statement) -> Iterator[str]:
    """What is claimed, of whom, under which premises, and how to check the numbers."""
    fields = statement.fields
    relation = _RELATIONS[fields["unit"]["neighbours"]].format(of=fields["unit"]["of"])
    yield _wrapped(f"Unit of privacy: the claims compare {relation}.")
    if fields["unit"]["bounds"]:
        yield _listed("Bounds on the data of one unit", map(_bound, fields["unit"]["bounds"]))
    yield _listed("Releases", map(_release, fields["releases"]))
    yield _listed("Claims", map(_claim, fields["claims"]))
    yield _listed("Premises", fields["premises"])
    yield _listed("Not shown by this statement", fields["not_shown"])
    yield _wrapped(
        "To recompute the claims without exactdp, run: python dpcheck.py FILE. The checker is one "
        "file of 400 lines. It proves the claims for the releases above, not that these releases "
        "are what was run."
    )


def _for_engineer(statement: Statement) -> Iterator[str]:
    """Parameters, derivations and the name of the statement."""
    fields = statement.fields
    made = fields["made_by"]
    yield f"sha256 {statement.sha256}\nmade by {made['name']} {made['version']}"
    yield from list(_for_reviewer(statement))[:-1]
    rules = [
        f"claim {i}: {_rule(claim['derivation'])}" for i, claim in enumerate(fields["claims"], 1)
    ]
    yield _listed("Derivations", rules)
    if fields.get("about"):
        yield _listed("Further facts", [": ".join(fact) for fact in fields["about"]])
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


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:].removesuffix('.')}."


def _bound(bound: dict[str, Any]) -> str:
    how = "checked on the data" if bound["checked"] else "not checked on the data"
    return f"{bound['what']}: at most {bound['at_most']} ({how})"


def _release(made: dict[str, Any]) -> str:
    hidden = ("mechanism", "times", "outcomes")
    facts = ", ".join(f"{name} {value}" for name, value in made.items() if name not in hidden)
    name = _NAMES[made["mechanism"]]
    times = "" if made["times"] == 1 else f", {made['times']:,} times"
    return f"{name} ({facts}){times}" if facts else f"{name}{times}"


def _claim(claim: dict[str, Any]) -> str:
    """The claim in words, with both directions."""
    what = {
        "delta": "at epsilon {epsilon}, delta is",
        "type-two": "a test with type I error {type_one} has a type II error",
        "renyi": "the Renyi divergence of order {order} is",
        "rho": "rho of zero-concentrated differential privacy is",
        "mu": "mu of Gaussian differential privacy is",
    }[claim["measure"]].format(**claim)
    sides = []
    if "at_most" in claim:
        sides.append(f"at most {claim['at_most']} for all neighbours")
    if "at_least" in claim:
        scope = "" if claim["measure"] == "type-two" else " for some neighbours"
        sides.append(f"at least {claim['at_least']}{scope}")
    return f"{what} {', and '.join(sides)}"


def _rule(derivation: dict[str, Any]) -> str:
    return _RULES[derivation["rule"]].format(**derivation)


def _listed(title: str, lines: Any) -> str:
    rows = [
        textwrap.fill(line, _WIDTH, initial_indent="- ", subsequent_indent="  ") for line in lines
    ]
    return "\n".join([f"{title}:", *rows])


def _wrapped(text: str) -> str:
    return textwrap.fill(text, _WIDTH)
