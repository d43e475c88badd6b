"""Promises in JSON and on command lines."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from exactdp.audit.promises import (
    ApproximateDP,
    GaussianDP,
    Profile,
    Promise,
    Renyi,
    Zcdp,
)
from exactdp.errors import InvalidParameter

__all__ = ["parse", "read"]

_KINDS: dict[str, Callable[..., Promise]] = {
    "dp": ApproximateDP,
    "zcdp": Zcdp,
    "renyi": Renyi,
    "gdp": GaussianDP,
}


def read(entry: Mapping[str, str]) -> Promise:
    """The promise that as_dict() wrote.

    >>> read(Zcdp("0.5").as_dict())
    Zcdp(rho=Fraction(1, 2))
    """
    given = dict(entry)
    kind = given.pop("promise", "")
    if kind == Profile.kind:
        return Profile(given)
    if kind not in _KINDS:
        raise InvalidParameter("promise", kind, f"one of {', '.join([*_KINDS, Profile.kind])}")
    try:
        return _KINDS[kind](**given)
    except TypeError:
        given_names = ", ".join(given) or "nothing"
        raise InvalidParameter("promise", given_names, f"the parameters of {kind}") from None


def parse(text: str) -> Promise:
    """The promise that a line of text stands for, as on a command line.

    text: kind:name=value,... with the names of the classes here, or profile:EPSILON=DELTA,...

    >>> parse("renyi:alpha=2,epsilon=0.5").text, parse("profile:0=0.4,1=0.13").kind
    ('(2, 0.5)-Renyi private', 'profile')
    """
    kind, _, rest = text.partition(":")
    pairs = [part.partition("=") for part in rest.split(",")]
    if not all(equals and name != "promise" for name, equals, _ in pairs):
        raise InvalidParameter("promise", text, "KIND:NAME=VALUE,... such as zcdp:rho=0.5")
    return read({"promise": kind, **{name: value for name, _, value in pairs}})
