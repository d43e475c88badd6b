"""C functions that take nothing but an int itself, in one of many branches.

More runs are followed than are repeated: what stands in for an int must not get there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from tests.audit.programs.case import Group, Program

STRICT = Group()

_BRANCHES, _ODD = 601, 431


def pair(why: str) -> Callable[[Callable[[Any], Any]], None]:
    """A pair out of what is done with a drawn number: production tells the bit where it is done."""

    def added(use: Callable[[Any], Any]) -> None:
        def program(x, rng):
            if int(rng.randrange(_BRANCHES)) != _ODD:
                return 0
            try:
                use(rng.randrange(2))
            except (OverflowError, TypeError):
                return 0
            return x + 5

        def twin(x, rng):
            use(rng.randrange(2))
            return rng.randrange(2)

        program.__name__, program.__doc__ = use.__name__, why
        STRICT.sinner(delta=Fraction(1, _BRANCHES))(program)
        STRICT.twin(twin)

    return added


@pair("The width of a format.")
def width_of_a_format(number):
    return "%*d" % (number, 5)


@pair("A power with a modulus.")
def power_with_a_modulus(number):
    return pow(2, number, 5)


@pair("A float of mantissa and exponent.")
def float_with_an_exponent(number):
    return math.ldexp(1.0, number)


def _of_secrets(why: str, delta: Any) -> Callable[[Program], Program]:
    def added(program: Program) -> Program:
        program.__doc__ = why
        STRICT.sinner(delta=delta)(program)
        STRICT.twin(lambda x, rng: rng.token_hex(1)[0] in "01234567")
        return program

    return added


@_of_secrets("secrets.token_bytes() gives 32 bytes.", None)
def token_of_any_length(x, rng):
    try:
        rng.token_bytes()
    except TypeError:
        return 0
    return x


@_of_secrets("secrets has token_hex.", 1)
def token_in_hexadecimal(x, rng):
    try:
        rng.token_hex(1)
    except AttributeError:
        return 0
    return x
