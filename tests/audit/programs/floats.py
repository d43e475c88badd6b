"""Programs that live by the last bit of a float."""

from __future__ import annotations

import decimal
import math
from fractions import Fraction

import numpy as np

from tests.audit.programs.case import Group, coin

FLOATS = Group()

#: Values of random(): k * 2^-53 for 0 <= k < GRID.
GRID = 1 << 53


def below(cut: Fraction) -> Fraction:
    """P(k 2^-53 < cut)."""
    return Fraction(math.ceil(cut * GRID), GRID)


@FLOATS.sinner(delta=Fraction(1, GRID))
def one_float(x, rng):
    """One value in 2^53 gives the bit away."""
    return x if rng.random() == 0.5 else 0


@FLOATS.twin
def one_float_twin(x, rng):
    return x if rng.random() == 1.0 else 0


@FLOATS.sinner(delta=Fraction(1, GRID))
def logarithm_of_zero(x, rng):
    """random() may be 0."""
    return x if rng.random() <= 0 else 0


@FLOATS.twin
def logarithm_of_zero_twin(x, rng):
    return x if 1 - rng.random() <= 0 else 0


@FLOATS.sinner(delta=Fraction(1, GRID))
def rounded_up(x, rng):
    """u < 1, yet u * n + n can round up to 2n where n is large."""
    return x if rng.random() * GRID + GRID >= 2 * GRID else 0


@FLOATS.twin
def rounded_up_twin(x, rng):
    return x if rng.randrange(10**6) + 10**6 >= 2 * 10**6 else 0


@FLOATS.sinner(apart=0.5)
def exponential_by_inversion(x, rng):
    """-log(u) is nobody's exact law."""
    return x + round(-math.log(1 - rng.random()) / 50)


@FLOATS.twin
def exponential_by_inversion_twin(x, rng):
    return coin(x, rng) if rng.random() < math.exp(-1) else coin(x, rng)


@FLOATS.sinner(delta=Fraction(1, 7), apart=0.1)
def zero_times_infinity(x, rng):
    """Between -inf and inf lies a NaN."""
    product = (rng.randrange(7) - 3) * math.inf
    return x if product != product else 0


@FLOATS.twin
def zero_times_infinity_twin(x, rng):
    product = (rng.randrange(7) - 3) * 1e308
    return x if product != product else 0


@FLOATS.sinner(delta=Fraction(1, 2), apart=0.4)
def folded(x, rng):
    """A square is not monotone."""
    y = rng.random() - 0.5
    return x if y * y < 0.0625 else 0


@FLOATS.twin
def folded_twin(x, rng):
    y = rng.randrange(9) - 4
    return coin(x, rng) if y * y < 4 else coin(x, rng)


@FLOATS.sinner(delta=Fraction(1, 4), apart=0.2)
def modulo_of_a_float(x, rng):
    """u % 0.5 goes up and down again."""
    return x if rng.random() % 0.5 < 0.125 else 0


@FLOATS.twin
def modulo_of_a_float_twin(x, rng):
    return x if rng.randrange(8) / 8 % 0.5 > 0.5 else 0


@FLOATS.sinner(delta=Fraction(1, 2), apart=0.4)
def lowest_bit(x, rng):
    """The lowest bit of random()."""
    return x if int(rng.random() * GRID) % 2 else 0


@FLOATS.twin
def lowest_bit_twin(x, rng):
    return x if int(rng.random() * 4) % 8 > 3 else 0


@FLOATS.sinner(delta=Fraction(1, 2) - Fraction(1, GRID), apart=0.4)
def absorbed(x, rng):
    """2u + 2^53 is 2^53 or 2^53 + 2, and the half-way case goes to the even one."""
    return x if rng.random() * 2 + GRID > GRID else 0


@FLOATS.twin
def absorbed_twin(x, rng):
    return x if rng.random() / 4 + GRID > GRID else 0


@FLOATS.sinner(delta=Fraction(1, 4), apart=0.2)
def written_out(x, rng):
    """The text of a float."""
    return x if f"{rng.randrange(4) / 4:.1f}" == "0.2" else 0


@FLOATS.twin
def written_out_twin(x, rng):
    return x if f"{rng.randrange(4) / 4:.1f}" == "0.3" else 0


@FLOATS.sinner(delta=Fraction(1, 8), apart=0.06)
def exponent(x, rng):
    """frexp takes the exponent of a wide float."""
    return x if math.frexp(rng.random())[1] == -2 else 0


@FLOATS.twin
def exponent_twin(x, rng):
    return x if math.frexp(rng.randrange(8) / 8)[1] > 0 else 0


@FLOATS.sinner(delta=1, apart=0.9)
def decimal_precision(x, rng):
    """Arithmetic kept for later is done in another decimal context."""
    with decimal.localcontext() as context:
        context.prec = 3
        total = decimal.Decimal(100_000) + rng.randrange(10)
    return x if total == 100_000 else coin(x, rng)


@FLOATS.twin
def decimal_precision_twin(x, rng):
    total = decimal.Decimal(100_000) + rng.randrange(10)
    return coin(x, rng) if total < 100_010 else x


@FLOATS.sinner(delta=Fraction(1, 2), apart=0.4)
def changed_constant(x, rng):
    """A number whose value changes between the addition and the comparison."""

    class Scale(float):
        factor = 1.0

        def __rmul__(self, other):
            return float(other) * self.factor

    scale = Scale(1)
    y = rng.randrange(2) * scale
    scale.factor = 0.0
    return x if y > 0.5 else 0


@FLOATS.twin
def changed_constant_twin(x, rng):
    y = rng.randrange(2) * 0.0
    return x if y > 0.5 else 0


@FLOATS.sinner(delta=Fraction(1, 2), apart=0.4)
def single(x, rng):
    """numpy.float32(1) + u keeps 23 bits."""
    u = rng.randrange(1, 3) * 2.0**-25
    return x if np.float32(1) + np.float32(u) == 1 and u < 2.0**-24 else 0


@FLOATS.twin
def single_twin(x, rng):
    u = rng.randrange(1, 3) * 2.0**-25
    return x if np.float32(1) + np.float32(u) > 1 else 0


@FLOATS.sinner(delta=1 - below(Fraction(1, 3)), apart=0.5)
def negated_comparison(x, rng):
    """`not u < p` and `u >= p` differ for a NaN alone."""
    return x if not rng.random() < Fraction(1, 3) else 0


@FLOATS.twin
def negated_comparison_twin(x, rng):
    return x if not rng.random() < Fraction(4, 3) else 0
