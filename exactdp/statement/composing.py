"""One statement about the releases of several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from exactdp import __version__
from exactdp.errors import Described, InvalidParameter
from exactdp.parameters import Real, truth
from exactdp.statement.claims import claims_of
from exactdp.statement.promises import PROMISED
from exactdp.statement.releases import Release, merged, number

Fields = Mapping[str, Any]

_PAIR = ("epsilon", "delta")


def composed(
    statements: Sequence[Fields],
    *,
    epsilon: Real | None = None,
    delta: Real | None = None,
    one_pair: bool = False,
) -> Fields:
    """The fields of a statement about all releases; see :meth:`Statement.together`."""
    truth("one_pair", one_pair)
    first, *others = statements
    for other in others:
        _same_unit(first, other)
    promises = [_promise(statement) if others else [] for statement in statements]
    releases = merged(
        [
            release
            for statement, promise in zip(statements, promises, strict=True)
            for release in promise or statement["releases"]
        ]
    )
    if epsilon is None and delta is None:
        claimed = [delta_claims(statement) for statement in statements]
        if not all(claimed):
            allowed = "given, as one of the statements has no upper bound of delta"
            raise InvalidParameter("epsilon or delta", Described("neither"), allowed)
        delta = sum((min(delta for _, delta in each) for each in claimed), Fraction(0))
    relation = first["unit"]["neighbours"]
    claims = claims_of(releases, relation, one_pair=one_pair, epsilon=epsilon, delta=delta)
    joined: dict[str, list[Any]] = {
        name: _unique([item for statement in statements for item in statement.get(name, [])])
        for name in ("premises", "not_shown", "about")
    }
    if any(promises) and PROMISED not in joined["not_shown"]:
        joined["not_shown"].append(PROMISED)
    bounds = _unique([bound for statement in statements for bound in statement["unit"]["bounds"]])
    unit = {"neighbours": relation, "of": first["unit"]["of"], "bounds": bounds}
    return {
        "format": "dp-statement/1",
        "unit": {**unit, **attained(releases, one_pair)},
        "releases": releases,
        "claims": claims,
        "premises": joined["premises"],
        "not_shown": joined["not_shown"],
        "made_by": {"name": "exactdp", "version": __version__},
        **({"about": joined["about"]} if joined["about"] else {}),
    }


def attained(releases: Sequence[Fields], one_pair: bool) -> dict[str, bool]:
    """The field of a unit that says that one pair of neighbours attains several runs."""
    several = sum(release["times"] for release in releases) > 1
    return {"one_pair": True} if one_pair and several else {}


def delta_claims(fields: Fields) -> list[tuple[Fraction, Fraction]]:
    """(epsilon, delta) of every claim that bounds delta from above."""
    return [
        (Fraction(claim["epsilon"]), Fraction(claim["at_most"]))
        for claim in fields["claims"]
        if claim["measure"] == "delta" and "at_most" in claim
    ]


def _promise(statement: Fields) -> list[Release]:
    """What is claimed of a sparse histogram with discrete noise, which composes as a promise."""
    known, claims = statement["releases"], delta_claims(statement)
    if [each["mechanism"] for each in known] != ["discrete-sparse-histogram"] or not claims:
        return []
    epsilon, delta = (number(name, value) for name, value in zip(_PAIR, claims[0], strict=True))
    return [{"mechanism": "approximate", "epsilon": epsilon, "delta": delta, "times": 1}]


def _same_unit(first: Mapping[str, Any], other: Mapping[str, Any]) -> None:
    """Raises InvalidParameter for statements about neighbours that differ."""
    for name in ("neighbours", "of"):
        a, b = first["unit"][name], other["unit"][name]
        if a != b:
            raise InvalidParameter(f"unit.{name}", Described(f"{a} and {b}"), "the same in all")
    if first["unit"]["neighbours"] == "pair" and first["premises"][:1] != other["premises"][:1]:
        difference = Described("two different pairs of data sets")
        raise InvalidParameter(
            "premises", difference, "the same first premise, which names the pair"
        )


def _unique(items: list[Any]) -> list[Any]:
    return [item for i, item in enumerate(items) if item not in items[:i]]
