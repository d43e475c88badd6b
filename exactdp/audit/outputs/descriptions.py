"""Features and their values in plain English, for reports."""

from __future__ import annotations

from typing import Any

from exactdp.audit.outputs.vectors import ORDERED, SIGNED, TIED

__all__ = ["case_text", "describe"]

_NAMES = {
    "absolute": "|{0} - {1}|",
    "argmax": "index of the largest coordinate",
    "argmin": "index of the smallest coordinate",
    "bit": "binary digit {1} of {0}",
    "character": "character {1} of the text at {0}",
    "coordinate": "coordinate {0}",
    "count": "number of {0} coordinates",
    "difference": "coordinate {0} - coordinate {1}",
    "first": "index of the first {0}",
    "foreign keys": "number of keys that are not among {0}",
    "get": "value at key {0}",
    "granularity": "exponent of the last binary digit of {0} - {1}",
    "has": "presence of key {0}",
    "is": "whether {0} is {1}",
    "key order": "order of the keys",
    "keys": "set of keys",
    "kinds": "kinds of the coordinates",
    "largest": "largest coordinate",
    "length": "number of entries",
    "length inside": "length of the value at {0}",
    "low bits": "last {1} bits of {0}",
    "negative zero": "whether {0} is -0.0",
    "norm": "sum of squares of the coordinates",
    "number in text": "number {1} in the text at {0}",
    "number inside": "number at {0}",
    "order": "coordinates from smallest to largest",
    "power": "({0})^{1}",
    "prefix": "first {0} coordinates",
    "ratio": "coordinate {0} / coordinate {1}",
    "reachable": "whether {0} can be {2} + noise of scale {3} ({1})",
    "residue": "{0} mod {1}",
    "signs": "signs of the coordinates",
    "smallest": "smallest coordinate",
    "spread": "largest - smallest coordinate",
    "sum": "coordinate {0} + coordinate {1}",
    "ties": "equal coordinates",
    "total": "total of the coordinates",
    "types": "types",
    "value": "coordinate {0}",
    "value inside": "value at {0}",
    "whole": "the output",
    "word": "presence of the word {1} in the text at {0}",
    "zero bits": "number of last bits of {0} that are zero",
}

#: Names of features whose named argument, a shift, is zero.
_UNSHIFTED = {
    "absolute": "|{0}|",
    "granularity": "exponent of the last binary digit of {0}",
}
_PATHS = frozenset(
    {"character", "length inside", "number in text", "number inside", "value inside", "word"}
)
_LISTED = 6  # items of a list that are shown


def describe(feature: tuple[Any, ...]) -> str:
    """A feature in plain English.

    >>> describe(("granularity", ("coordinate", 0), 0.0))
    'exponent of the last binary digit of coordinate 0'
    >>> describe(("combination", (("total",), ("get", "a")), (0.5, -1.25)))
    "0.5 (total of the coordinates) - 1.25 (value at key 'a')"
    >>> describe(("number inside", ("users", 3)))
    "number at ['users'][3]"
    """
    name, *arguments = feature
    if name == "combination":
        return _combination(*arguments)
    if name == "likelihood ratio":
        return _likelihood_ratio(*arguments)
    if name == "foreign keys":
        return _NAMES[name].format(_list(map(repr, arguments)))
    if name in _UNSHIFTED and not arguments[1]:
        return _UNSHIFTED[name].format(_argument(arguments[0]))
    if name not in _NAMES:
        return name if not arguments else f"{name}({', '.join(map(repr, arguments))})"
    if name in _PATHS:
        path = "".join(f"[{step!r}]" for step in arguments[0]) or "the top"
        return _NAMES[name].format(path, *map(_argument, arguments[1:]))
    return _NAMES[name].format(*map(_argument, arguments))


def _argument(argument: Any) -> str:
    if isinstance(argument, tuple) and argument and argument[0] in _NAMES:
        return describe(argument)
    return f"{argument:.6g}" if isinstance(argument, float) else repr(argument)


def _list(texts: Any) -> str:
    every = [*texts]
    more = f", and {len(every) - _LISTED} more" if len(every) > _LISTED else ""
    return ", ".join(every[:_LISTED]) + more


def _combination(features: tuple[Any, ...], weights: tuple[float, ...]) -> str:
    terms = [f"{abs(w):.6g} ({describe(f)})" for f, w in zip(features, weights, strict=True)]
    signs = ["-" if weight < 0 else "+" for weight in weights]
    text = " ".join(f"{sign} {term}" for sign, term in zip(signs, terms, strict=True))
    return text.removeprefix("+ ")


def _likelihood_ratio(
    law: str, features: tuple[Any, ...], left: tuple[Any, ...], right: tuple[Any, ...]
) -> str:
    terms = [
        f"{describe(feature)} ({a:.4g} or {b:.4g}, scale {s:.3g}{f' or {t:.3g}' if s != t else ''})"
        for feature, (a, s), (b, t) in zip(features, left, right, strict=True)
    ]
    return f"log-likelihood ratio of {law} noise on {_list(terms)}"


def case_text(name: str, value: int) -> str:
    """What a number that names a case says, see vectors.py.

    >>> case_text("signs", 0b10000010 << 40 | (1 << 40) - 1)
    'coordinates 0, 3 positive, the others negative'
    """
    return {"signs": _signs, "ties": _ties, "order": _order}.get(name, str)(value)


def _digits(value: int, base: int, count: int) -> list[int]:
    return [value // base**i % base for i in range(count - 1, -1, -1)]


def _signs(value: int) -> str:
    by_sign: dict[int, list[int]] = {}
    for i, digit in enumerate(_digits(value, 4, SIGNED)):
        by_sign.setdefault(digit, []).append(i)
    by_sign.pop(3, None)  # no number there, or no coordinate
    found = sorted(by_sign.items(), key=lambda pair: len(pair[1]))
    names = {0: "negative", 1: "zero", 2: "positive"}
    if len(found) == 1:
        return f"all {names[found[0][0]]}"
    told = [f"{_coordinates(at)} {names[sign]}" for sign, at in found[:-1]]
    return ", ".join([*told, f"the others {names[found[-1][0]]}"]) if found else "undefined"


def _coordinates(at: list[int]) -> str:
    return f"coordinate{'s' if len(at) > 1 else ''} {', '.join(map(str, at))}"


def _ties(value: int) -> str:
    pairs = [(j, i) for i in range(TIED) for j in range(i)]
    bits = _digits(value, 2, len(pairs))
    equal = [f"{j} = {i}" for (j, i), bit in zip(pairs, bits, strict=True) if bit]
    return _list(equal) if equal else "none"


def _order(value: int) -> str:
    """Coordinates that an output lacks come last, in their own order, and are not told apart."""
    return ", ".join(map(str, _digits(value, ORDERED, ORDERED)))
