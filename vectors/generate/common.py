"""What all generators share: trusted values, decimal brackets around them, and documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import partial
from typing import Any

from mpmath import libmp, mp, mpf

from vectors.generate.flags import FLAGS

#: Decimal strings (lower, upper); the true value lies between.
Bounds = tuple[str, str]

#: Significant digits of both ends: the relative width is at most 1e-33.
DIGITS = 35

#: The file that describes the format of all groups.
SCHEMA = "schema.json"

#: Two evaluations of one formula, at different precisions, must agree to this relative accuracy.
AGREEMENT = Fraction(1, 10**45)

_MARGIN = Fraction(1, 10**42)
_LEAST_DOUBLE = Fraction(1, 2**1074)
_LEAST_NORMAL = Fraction(1, 2**1022)


@dataclass(frozen=True)
class Recipe:
    """One vector before it is computed."""

    question: str
    parameters: dict[str, str]
    comment: str
    flags: tuple[str, ...]
    compute: Callable[[], Bounds]
    unsafe_below: Callable[[], str] | None = None


@dataclass(frozen=True)
class Group:
    """One file of vectors before it is computed."""

    name: str
    description: str
    questions: dict[str, str]
    source: str
    methods: tuple[str, ...]
    recipes: Callable[[], Sequence[Recipe]]


def recipes_for(
    question: str,
    names: Sequence[str],
    compute: Callable[..., Bounds],
    table: Iterable[Sequence[str]],
    *more_flags: str,
) -> list[Recipe]:
    """Recipes that ask one question about every row of a table.

    Every row: the values of names, a comment, flags.
    """
    recipes = []
    for *values, comment, flags in table:
        parameters = dict(zip(names, values, strict=True))
        marks = (*more_flags, *flags.split())
        recipes.append(Recipe(question, parameters, comment, marks, partial(compute, **parameters)))
    return recipes


def both_ways(
    names: Sequence[str],
    delta: Callable[..., Bounds],
    deltas: Iterable[Sequence[str]],
    epsilon: Callable[..., Bounds],
    epsilons: Iterable[Sequence[str]],
) -> list[Recipe]:
    """Recipes that ask for delta at an epsilon, and for epsilon at a delta.

    Every row: the values of names, that epsilon or delta, a comment, flags.
    """
    return [
        *recipes_for("delta", (*names, "epsilon"), delta, deltas),
        *recipes_for("epsilon", (*names, "delta"), epsilon, epsilons, "Calibration"),
    ]


def number(text: str) -> mpf:
    """A decimal parameter at the working precision."""
    value = Fraction(text)
    return mpf(value.numerator) / value.denominator


def settled(compute: Callable[[], mpf], bits: int = 320) -> mpf:
    """The positive value of a formula on which two precisions, one twice the other, agree."""
    while bits <= 80_000:
        with mp.workprec(bits):
            coarse = compute()
        with mp.workprec(2 * bits):
            fine = compute()
        if coarse and _close(exact(coarse), exact(fine), AGREEMENT):
            return fine
        bits *= 2
    raise ArithmeticError("the formula does not settle")


def bracket(value: mpf, *others: tuple[mpf, str], most: int | None = None) -> Bounds:
    """Decimal ends around a trusted value, after comparing it with values from other methods.

    others: pairs of a value and the relative agreement asked for ("1e-30").
    """
    trusted = exact(value)
    for other, tolerance in others:
        if not _close(trusted, exact(other), Fraction(tolerance)):
            raise ArithmeticError(f"two methods disagree: {mp.nstr(value)} and {mp.nstr(other)}")
    if not trusted:
        return "0", "0"
    slack = abs(trusted) * _MARGIN
    lower, upper = trusted - slack, trusted + slack
    if most is not None:
        upper = min(upper, Fraction(most))
    return _decimal(lower, ROUND_FLOOR), _decimal(upper, ROUND_CEILING)


def root(enough: Callable[[mpf], bool], start: mpf, bits: int = 500) -> Bounds:
    """Decimal ends around the least x > 0 that is enough; enough must be monotone in x.

    The ends are short decimals at which the answers were checked to differ.
    """
    with mp.workprec(bits):
        low, high = _around(enough, mpf(start))
        while high - low > high * mpf(10) ** -44:
            middle = (low + high) / 2
            low, high = (low, middle) if enough(middle) else (middle, high)
        bounds = (_decimal(exact(low), ROUND_FLOOR), _decimal(exact(high), ROUND_CEILING))
    with mp.workprec(2 * bits):
        if enough(number(bounds[0])) or not enough(number(bounds[1])):
            raise ArithmeticError("the ends of the bracket do not answer differently")
    return bounds


def exact(value: Any) -> Fraction:
    """The rational number that an mpf is."""
    if not mp.isfinite(value):
        raise ArithmeticError(f"not a finite number: {value}")
    # not mpf(value), which rounds to the working precision
    top, bottom = libmp.to_rational(value._mpf_)
    return Fraction(int(top), int(bottom))


def document(group: Group, only: Callable[[int], bool] = lambda _: True) -> dict[str, Any]:
    """The content of a group's file; only: which vectors, by position from 1, to compute.

    Its frame is Wycheproof's: the schema's file name, the number of tests, and groups of tests of
    one type, the question; a test's tcId is its position.
    """
    tests = [
        _vector(group.name, place, recipe)
        for place, recipe in enumerate(group.recipes(), 1)
        if only(place)
    ]
    used = sorted({flag for test in tests for flag in test["flags"]})
    return {
        "group": group.name,
        "schema": SCHEMA,
        "format": 2,
        "numberOfTests": len(tests),
        "description": group.description,
        "questions": group.questions,
        "source": group.source,
        "generator": {
            "script": f"vectors/generate/{group.name}.py",
            "methods": list(group.methods),
        },
        "notes": {flag: {"description": FLAGS[flag]} for flag in used},
        "testGroups": [
            {"type": question, "tests": [t for t in tests if t["question"] == question]}
            for question in group.questions
            if any(t["question"] == question for t in tests)
        ],
    }


def _vector(group: str, place: int, recipe: Recipe) -> dict[str, Any]:
    lower, upper = recipe.compute()
    flags = [*recipe.flags]
    values = [text for text in recipe.parameters.values() if _is_number(text)]
    if any(Fraction(text) != _nearest(text) for text in values):
        flags.append("NotBinary")
    if 0 < Fraction(upper) < _LEAST_DOUBLE:
        flags.append("BelowDouble")
    elif 0 < Fraction(upper) < _LEAST_NORMAL:
        flags.append("Subnormal")
    test: dict[str, Any] = {
        "tcId": place,
        "id": f"{group}-{place:03d}",
        "comment": recipe.comment,
        "flags": flags,
        "question": recipe.question,
        "parameters": recipe.parameters,
        "expected": {"lower": lower, "upper": upper},
    }
    if recipe.unsafe_below is not None:
        test["unsafe_below"] = recipe.unsafe_below()
    return test


def _around(enough: Callable[[mpf], bool], start: mpf) -> tuple[mpf, mpf]:
    low = high = start
    factor = mpf(2)
    while enough(low):
        low /= factor
        factor *= factor
    factor = mpf(2)
    while not enough(high):
        high *= factor
        factor *= factor
        if factor > mpf(10) ** 10_000:
            raise ArithmeticError("nothing is enough")
    while high > 4 * low:
        middle = mp.sqrt(low * high)
        low, high = (low, middle) if enough(middle) else (middle, high)
    return low, high


def _is_number(text: str) -> bool:
    try:
        Fraction(text)
    except ValueError:
        return False
    return True


def _nearest(text: str) -> Fraction:
    try:
        return Fraction(float(text))
    except OverflowError:
        return Fraction(0)


def _close(a: Fraction, b: Fraction, tolerance: Fraction) -> bool:
    return abs(a - b) <= tolerance * max(abs(a), abs(b))


def _decimal(value: Fraction, rounding: str) -> str:
    context = Context(prec=DIGITS, rounding=rounding, Emin=MIN_EMIN, Emax=MAX_EMAX)
    return str(context.divide(Decimal(value.numerator), Decimal(value.denominator))).lower()
