"""A feature as words, for reports."""

from __future__ import annotations

from typing import Any

__all__ = ["describe"]

_WORDS = {
    "absolute": "|{0} - {1}|",
    "argmax": "index of the largest coordinate",
    "argmin": "index of the smallest coordinate",
    "bit": "binary digit {1} of {0}",
    "character": "character {1} of the text at {0}",
    "coordinate": "coordinate {0}",
    "count": "number of {0} coordinates",
    "difference": "coordinate {0} - coordinate {1}",
    "first": "index of the first {0}",
    "form": "types",
    "foreign keys": "number of keys other than {0}",
    "get": "value at key {0}",
    "granularity": "exponent of the last binary digit of {0} - {1}",
    "has": "presence of key {0}",
    "is": "whether {0} is {1}",
    "key order": "order of the keys",
    "keys": "set of keys",
    "kinds": "kinds of the coordinates",
    "largest": "largest coordinate",
    "leaf": "value at {0}",
    "leaf number": "number at {0}",
    "length": "number of entries",
    "low bits": "last {1} bits of {0}",
    "negative zero": "whether {0} is -0.0",
    "norm": "sum of squares of the coordinates",
    "order": "order of the coordinates",
    "power": "({0})^{1}",
    "prefix": "first {0} coordinates",
    "ratio": "coordinate {0} / coordinate {1}",
    "reachable": "whether {0} can be {2} + noise of scale {3} ({1})",
    "residue": "{0} mod {1}",
    "signs": "signs of the coordinates",
    "smallest": "smallest coordinate",
    "spread": "largest - smallest coordinate",
    "sum": "coordinate {0} + coordinate {1}",
    "text length": "length at {0}",
    "text number": "number {1} in the text at {0}",
    "ties": "pattern of equal coordinates",
    "total": "total of the coordinates",
    "value": "coordinate {0}",
    "whole": "the output",
    "word": "presence of the word {1} in the text at {0}",
    "zero bits": "number of last bits of {0} that are zero",
}

#: Names of features whose words are others when the named argument, a shift, is zero.
_UNSHIFTED = {
    "absolute": "|{0}|",
    "granularity": "exponent of the last binary digit of {0}",
}


def describe(feature: tuple[Any, ...]) -> str:
    """A feature as words.

    >>> describe(("granularity", ("coordinate", 0), 0.0))
    'exponent of the last binary digit of coordinate 0'
    >>> describe(("combination", (("total",), ("get", "a")), (0.5, -1.25)))
    "0.5 (total of the coordinates) - 1.25 (value at key 'a')"
    """
    name, *arguments = feature
    if name == "combination":
        return _combination(*arguments)
    if name in _UNSHIFTED and not arguments[1]:
        return _UNSHIFTED[name].format(_word(arguments[0]))
    if name not in _WORDS:
        return name if not arguments else f"{name}({', '.join(map(repr, arguments))})"
    return _WORDS[name].format(*map(_word, arguments))


def _word(argument: Any) -> str:
    if isinstance(argument, tuple) and argument and argument[0] in _WORDS:
        return describe(argument)
    return f"{argument:.6g}" if isinstance(argument, float) else repr(argument)


def _combination(features: tuple[Any, ...], weights: tuple[float, ...]) -> str:
    terms = [f"{abs(w):.6g} ({describe(f)})" for f, w in zip(features, weights, strict=True)]
    signs = ["-" if weight < 0 else "+" for weight in weights]
    text = " ".join(f"{sign} {term}" for sign, term in zip(signs, terms, strict=True))
    return text.removeprefix("+ ")
