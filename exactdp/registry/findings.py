"""What can be derived of a record's privacy parameters, from the record alone."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from exactdp.accounting import gaussian, zcdp
from exactdp.bisection import least
from exactdp.enclosure import Enclosure
from exactdp.parameters import decimal_text
from exactdp.registry.prose import exact, lines, stated
from exactdp.registry.record import Record
from exactdp.statement.phrases import plain

__all__ = ["DERIVABLE", "Finding", "lint"]

DERIVABLE, CONTRADICTED, MISSING = "derivable", "contradicted", "not derivable"

_PARAMETERS = ("privacy_loss", "privacy_parameters")
_DETAILS = ("privacy_loss", "privacy_parameters_details")
_MECHANISMS = ("implementation", "mechanisms")
_COMPOSITION = ("accounting", "composition")

#: Variant -> the parameters it is stated with.
_VARIANTS = {
    "Pure DP": ("epsilon",),
    "Approximate DP": ("epsilon", "delta"),
    "Zero-concentrated DP": ("rho",),
}

#: Conversions of zero-concentrated to approximate DP, the simplest first.
_CONVERSIONS = {
    "simple": "epsilon = rho + 2 sqrt(rho ln(1/delta)) (Bun, Steinke 2016)",
    "optimal": "the best Renyi order (Canonne, Kamath, Steinke 2020)",
}

#: Most digits after the point of a stated number.
_DIGITS = 12


@dataclass(frozen=True)
class Finding:
    """One claim of a record. verdict: "derivable", "contradicted" (by the record's own fields) or
    "not derivable". how: the conversion or sum that was tried. missing: the field that would help.
    """

    claim: str
    verdict: str
    how: str
    missing: str = ""

    def as_dict(self) -> dict[str, str]:
        """For JSON."""
        fields = {"claim": self.claim, "verdict": self.verdict, "how": self.how}
        return {**fields, **({"missing": self.missing} if self.missing else {})}


def lint(text: str) -> list[Finding]:
    """For each claim of a record, whether the claim follows from the record's other fields.

    text: a YAML record of the deployments registry. A claim is rho, or epsilon with its delta, in
    `privacy_parameters` or in a sentence of `privacy_parameters_details` that states all three.
    A claim is contradicted only if no mechanism could keep it together with the other fields;
    what is not derivable may well be true.
    Raises InvalidParameter, and MissingExtra without PyYAML.

    >>> from exactdp import registry
    >>> record = '''deployment:
    ...   dp_variant: {variant_name: Zero-concentrated DP}
    ...   privacy_loss: {privacy_parameters: {rho: 0.5, epsilon: 5.3, delta: 1e-5}}'''
    >>> [finding.verdict for finding in registry.lint(record)]
    ['not derivable', 'derivable']
    """
    record = Record.read(text)
    return [*_headline(record), *_in_details(record)]


def _headline(record: Record) -> Iterator[Finding]:
    """The claims of privacy_parameters."""
    variant = record.text("dp_variant", "variant_name")
    claims = {name: record.text(*_PARAMETERS, name) for name in ("epsilon", "delta", "rho")}
    claims = {name: value for name, value in claims.items() if value}
    if not claims:
        yield Finding("privacy parameters", MISSING, "none are stated", _dotted(*_PARAMETERS))
        return
    for name in [each for each in _VARIANTS.get(variant, ()) if each not in claims]:
        yield Finding(name, MISSING, f"{variant} is stated with it", _dotted(*_PARAMETERS, name))
    numbers = {name: exact(value) for name, value in claims.items()}
    for name, value in numbers.items():
        if value is None:
            yield Finding(
                f"{name} = {plain(claims[name])}", MISSING, "it is no number", "its value"
            )
    if variant == "Pure DP" and (numbers.get("delta") or 0) > 0:
        how = "Pure DP is delta = 0; with this delta the variant is Approximate DP"
        yield Finding(f"delta = {plain(claims['delta'])}", CONTRADICTED, how)
    rho, epsilon, delta = (numbers.get(name) for name in ("rho", "epsilon", "delta"))
    if rho is not None:
        yield _from_fields("rho", rho, record)
    if epsilon is not None and rho is not None and delta:
        yield _converted(rho, epsilon, delta)
    elif epsilon is not None:
        yield _from_fields("epsilon", epsilon, record, delta or Fraction(0))


def _in_details(record: Record) -> Iterator[Finding]:
    """The conversions in privacy_parameters_details: sentences with one rho, epsilon and delta."""
    for line in lines(record.text(*_DETAILS)):
        by_symbol = [stated(symbol, line) for symbol in ("rho", "epsilon", "delta")]
        if all(len(numbers) == 1 for numbers in by_symbol):
            rho, epsilon, delta = (numbers[0] for numbers in by_symbol)
            if 0 < delta < 1:
                yield _converted(rho, epsilon, delta)


def _converted(rho: Fraction, epsilon: Fraction, delta: Fraction) -> Finding:
    """Whether rho-zCDP, or Gaussian noise of this rho, has this epsilon at delta."""
    said = f"epsilon = {_short(epsilon)} at delta = {_short(delta)}, from rho = {_short(rho)}"
    if by := _conversion(rho, epsilon, delta):
        return Finding(said, DERIVABLE, f"by {by}")
    nearby = epsilon + _half_a_digit(epsilon)
    if by := _conversion(rho, nearby, delta):
        how = f"by {by}, rounded down: epsilon = {_short(nearby)} is proved"
        return Finding(said, DERIVABLE, how, "the direction of rounding")
    least = _least_epsilon(rho, delta, 2 * _half_a_digit(epsilon))
    how = f"zero-concentrated DP implies epsilon = {_short(least)}"
    if _gaussian_delta(rho, epsilon).upper <= delta:
        how += "; Gaussian noise of this rho has the smaller one"
        return Finding(said, MISSING, how, "mu of Gaussian DP, or the conversion that was used")
    how += ", and Gaussian noise of this rho more than the stated one, too"
    return Finding(said, MISSING, how, "the mechanism, or the conversion that was used")


def _least_epsilon(rho: Fraction, delta: Fraction, unit: Fraction) -> Fraction:
    """The least multiple of a unit that the best conversion proves."""

    def is_proved(units: int) -> bool:
        return zcdp.delta(rho=rho, epsilon=units * unit).upper <= delta

    return least(1, None, is_proved) * unit


def _conversion(rho: Fraction, epsilon: Fraction, delta: Fraction) -> str | None:
    """The simplest conversion that proves epsilon at delta."""
    for rule, name in _CONVERSIONS.items():
        if zcdp.delta(rho=rho, epsilon=epsilon, rule=rule).upper <= delta:
            return name
    return None


def _gaussian_delta(rho: Fraction, epsilon: Fraction) -> Enclosure:
    """delta of Gaussian noise with mu = sqrt(2 rho), which rises with mu."""
    scale = 10**20
    root = math.isqrt(int(2 * rho * scale**2))
    low, high = Fraction(root, scale), Fraction(root + 1, scale)
    above = gaussian.delta(sigma=1 / high, epsilon=epsilon)
    below = gaussian.delta(sigma=1 / low, epsilon=epsilon) if root else Enclosure.exact(0)
    return Enclosure(below.lower, above.upper)


def _from_fields(
    name: str, value: Fraction, record: Record, delta: Fraction = Fraction(0)
) -> Finding:
    """Whether the record's texts give the noise of one mechanism, or parts that add up."""
    said = f"{name} = {_short(value)}" + (f", delta = {_short(delta)}" if delta else "")
    for attempt in (_by_laplace, _by_sum):
        finding = attempt(name, value, record)
        if finding is None:
            continue
        if delta and attempt is _by_sum and not _adds_up(delta, record):
            return Finding(said, MISSING, f"epsilon: {finding[1]}", "delta of each part")
        return Finding(said, *finding)
    absent = [_dotted(*path) for path in (_MECHANISMS, _COMPOSITION) if not record.text(*path)]
    missing = "sensitivity and noise of each mechanism"
    if absent:
        missing += f" ({' and '.join(absent)}: empty)"
    return Finding(said, MISSING, "stated without the parameters of a mechanism", missing)


def _adds_up(delta: Fraction, record: Record) -> bool:
    """Whether one text states parts of delta with this sum."""
    texts = [record.text(*path) for path in (_DETAILS, _COMPOSITION)]
    return any(sum(d for d in stated("delta", text) if d < delta) == delta for text in texts)


def _by_laplace(name: str, value: Fraction, record: Record) -> tuple[str, ...] | None:
    """epsilon = sensitivity/scale of Laplace noise, if the texts state one sensitivity and one
    scale."""
    texts = " ".join(record.text(*path) for path in (_DETAILS, _MECHANISMS))
    numbers = [set(stated(symbol, texts)) for symbol in ("sensitivity", "scale")]
    if name != "epsilon" or "aplace" not in texts or [len(each) for each in numbers] != [1, 1]:
        return None
    sensitivity, scale = (each.pop() for each in numbers)
    if not scale:
        return None
    truth = sensitivity / scale
    how = f"Laplace noise of scale {_short(scale)}, sensitivity {_short(sensitivity)}"
    if truth <= value:
        return DERIVABLE, how
    lowered = "what lowers it, such as sampling"
    return MISSING, f"{how} alone has epsilon = {_short(truth)}", lowered


def _by_sum(name: str, value: Fraction, record: Record) -> tuple[str, ...] | None:
    """A claimed value as the sum of smaller values that one text states, by basic composition."""
    for path in (_DETAILS, _COMPOSITION):
        parts = [part for part in stated(name, record.text(*path)) if part < value]
        if len(parts) > 1:
            total, listed = sum(parts, Fraction(0)), " + ".join(map(_short, parts))
            if total == value:
                return DERIVABLE, f"{listed}, the parts in {_dotted(*path)} (basic composition)"
            if path == _DETAILS:
                how = f"smaller numbers in {_dotted(*path)}: {listed} = {_short(total)}"
                return MISSING, how, "which parts are composed, and by which rule"
    return None


def _half_a_digit(value: Fraction) -> Fraction:
    """Half a unit of the last digit of a decimal."""
    digits = 0
    while digits < _DIGITS and (value * 10**digits).denominator > 1:
        digits += 1
    return Fraction(1, 2 * 10**digits)


def _short(value: Fraction) -> str:
    return decimal_text(value)


def _dotted(*path: str) -> str:
    return ".".join(path)
