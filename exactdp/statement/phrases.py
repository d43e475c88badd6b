"""The parts of a privacy statement in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from exactdp.statement.releases import LAWS

_RELATIONS = {
    "add-remove": "two data sets of which one has all data of one {of} and the other has none",
    "replace-one": "two data sets in which the data of one {of} are replaced by other data",
    "zero-out": "two data sets in which the data of one {of} are replaced by a null record",
    "pair": "the data sets that the first premise names",
}

_RULES = {
    "curve": "exact formula for the mechanism",
    "overlaps": "exact formula, in parts by the number of shared keys",
    "basic": "sums of epsilon and delta",
    "sum": "sum over the releases",
    "renyi": "sum of Renyi divergences of order {order}",
    "grid": "composition of the losses on a grid of step {step}",
}


def plain(text: str) -> str:
    r"""A text of a statement, in one line that a terminal shows as it is.

    Control characters, line ends and marks that change the direction of writing become escapes.

    >>> print(plain("user\nvalid: 1 claim"))
    user\nvalid: 1 claim
    """
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def summary(fields: Mapping[str, Any]) -> str:
    """One line for each release, each claim, and what is taken on trust."""
    releases = [f"release: {release_in_words(release)}" for release in fields["releases"]]
    claims = [f"claim: {claim_in_words(claim)}" for claim in fields["claims"]]
    unit, trust = fields["unit"], trust_in_words(fields)
    head = f"privacy statement, {unit['neighbours']} neighbours of one {plain(unit['of'])}"
    return "\n".join([head, *releases, *claims, *([trust] if trust else [])])


def trust_in_words(fields: Mapping[str, Any]) -> str:
    """The releases whose guarantee is stated, as a checker names them; "" if there are none."""
    numbers = [
        str(i)
        for i, release in enumerate(fields["releases"], 1)
        if LAWS[release["mechanism"]].trusted
    ]
    if not numbers:
        return ""
    if len(numbers) == 1:
        return f"taken on trust: release {numbers[0]} (a stated guarantee)"
    return f"taken on trust: releases {', '.join(numbers)} (stated guarantees)"


def sentences(fields: Mapping[str, Any]) -> dict[str, list[str]]:
    """The parts of a statement, as sentences."""
    unit = fields["unit"]
    parts = {
        "unit": [unit_in_words(unit), *map(bound_in_words, unit["bounds"])],
        "releases": [release_in_words(release) for release in fields["releases"]],
        "claims": [claim_in_words(claim) for claim in fields["claims"]],
        "derivations": [rule_in_words(claim["derivation"]) for claim in fields["claims"]],
        "premises": [plain(text) for text in fields["premises"]],
        "trust": [text] if (text := trust_in_words(fields)) else [],
    }
    return {name: [_sentence(text) for text in texts] for name, texts in parts.items()}


def unit_in_words(unit: Mapping[str, Any]) -> str:
    """Which data sets are compared."""
    text = f"the claims compare {_RELATIONS[unit['neighbours']].format(of=plain(unit['of']))}"
    pair = "; one pair of data sets attains all runs (stated, for what is claimed at least)"
    return f"{text}{pair if unit.get('one_pair') else ''}"


def bound_in_words(bound: dict[str, Any]) -> str:
    """A bound on the data, and whether it was checked."""
    how = "checked on the data" if bound["checked"] else "not checked on the data"
    return f"{plain(bound['what'])}: at most {bound['at_most']} ({how})"


def release_in_words(release: dict[str, Any]) -> str:
    """A release with its parameters."""
    hidden = ("mechanism", "times", "outcomes")
    facts = ", ".join(f"{name} {value}" for name, value in release.items() if name not in hidden)
    name = LAWS[release["mechanism"]].words
    times = "" if release["times"] == 1 else f", {release['times']:,} times"
    return f"{name} ({facts}){times}" if facts else f"{name}{times}"


def claim_in_words(claim: dict[str, Any]) -> str:
    """The claim in words, with both directions."""
    beside = f", beside a delta of {claim['delta']}," if "delta" in claim else ""
    what = {
        "delta": "at epsilon {epsilon}, delta is",
        "type-two": "a test with type I error {type_one} has a type II error",
        "renyi": "the Renyi divergence of order {order} is",
        "rho": f"rho of zero-concentrated differential privacy{beside} is",
        "mu": "mu of Gaussian differential privacy is",
    }[claim["measure"]].format(**claim)
    sides = []
    if "at_most" in claim:
        sides.append(f"at most {claim['at_most']} for all neighbours")
    if "at_least" in claim:
        scope = " for all neighbours" if claim["measure"] == "type-two" else " for some neighbours"
        sides.append(f"at least {claim['at_least']}{scope}")
    return f"{what} {', and '.join(sides)}"


def rule_in_words(derivation: dict[str, Any]) -> str:
    """How a claim is derived."""
    return _RULES[derivation["rule"]].format(**derivation)


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:].removesuffix('.')}."
