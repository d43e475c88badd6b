"""The parts of a privacy statement in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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


def summary(fields: Mapping[str, Any]) -> str:
    """One line for each release and each claim."""
    releases = [f"release: {release_in_words(made)}" for made in fields["releases"]]
    claims = [f"claim: {claim_in_words(claim)}" for claim in fields["claims"]]
    unit = fields["unit"]
    head = f"privacy statement, {unit['neighbours']} neighbours of one {unit['of']}"
    return "\n".join([head, *releases, *claims])


def sentences(fields: Mapping[str, Any]) -> dict[str, list[str]]:
    """The parts of a statement, as sentences."""
    unit = fields["unit"]
    parts = {
        "unit": [unit_in_words(unit), *map(bound_in_words, unit["bounds"])],
        "releases": [release_in_words(made) for made in fields["releases"]],
        "claims": [claim_in_words(claim) for claim in fields["claims"]],
        "derivations": [rule_in_words(claim["derivation"]) for claim in fields["claims"]],
        "premises": fields["premises"],
    }
    return {name: [_sentence(text) for text in texts] for name, texts in parts.items()}


def unit_in_words(unit: Mapping[str, Any]) -> str:
    """Which data sets are compared."""
    return f"the claims compare {_RELATIONS[unit['neighbours']].format(of=unit['of'])}"


def bound_in_words(bound: dict[str, Any]) -> str:
    """A bound on the data, and whether it was checked."""
    how = "checked on the data" if bound["checked"] else "not checked on the data"
    return f"{bound['what']}: at most {bound['at_most']} ({how})"


def release_in_words(made: dict[str, Any]) -> str:
    """A release with its parameters."""
    hidden = ("mechanism", "times", "outcomes")
    facts = ", ".join(f"{name} {value}" for name, value in made.items() if name not in hidden)
    name = _NAMES[made["mechanism"]]
    times = "" if made["times"] == 1 else f", {made['times']:,} times"
    return f"{name} ({facts}){times}" if facts else f"{name}{times}"


def claim_in_words(claim: dict[str, Any]) -> str:
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


def rule_in_words(derivation: dict[str, Any]) -> str:
    """How a claim is derived."""
    return _RULES[derivation["rule"]].format(**derivation)


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:].removesuffix('.')}."
