"""exactdp figure alp: the exact error of the estimate of one value."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from exactdp.cli.figure import figure
from exactdp.cli.options import options
from exactdp.cli.pictures import Line, Picture, new_picture, theme_option
from exactdp.errors import InvalidParameter
from exactdp.parameters import positive, rational

#: Number of levels; the value is in the middle.
_LEVELS = 300
#: Smallest epsilon and price that can be drawn; the largest is its inverse.
_LEAST = Fraction(1, 10**6)


def _drawable(name: str, text: str) -> Fraction:
    """A number > 0 within the range in which matplotlib's floats suffice."""
    number = positive(name, text)
    if not _LEAST <= number <= 1 / _LEAST:
        raise InvalidParameter(name, text, f"a number from {_LEAST} to {1 / _LEAST} in a picture")
    return number


@figure.command(epilog="Example: exactdp figure alp --epsilon 1 --collision 0.1 --output alp.svg")
@options("epsilon output", "collision price")
@theme_option
def alp(epsilon: str, output: str, collision: str | None, price: str | None, theme: str) -> None:
    """Draw the probability that the error of an estimate exceeds t (ALP paper, Figure 4).

    ALP is the sketch of sparse vectors by Aumüller, Lebeda and Pagh.
    """
    from exactdp.mechanisms.projections.error_law import estimate_law

    path = new_picture(output)
    loss, alpha = _drawable("epsilon", epsilon), _drawable("price", price or "3")
    chance = rational("collision", collision or "1/10")
    picture = Picture(
        theme,
        x="t",
        y="probability of an error above t",
        title=f"\u03b5 = {epsilon}, \u03b1 = {price or 3}",
    )
    picture.explain("Exact, in the middle of many levels; collisions at every level.")
    curves = []
    for family, c in enumerate(sorted({Fraction(0), chance})):
        law = estimate_law(Fraction(_LEVELS // 2), _LEVELS, 1 / (alpha + 2), c)
        law = law.scaled(float(alpha / loss))
        t = np.linspace(0, 40 / float(loss), 161)
        beyond = [law.beyond(x).float_upper() for x in t.tolist()]
        curves.append(Line(f"ALP, collisions {float(c):.3g}", t.tolist(), beyond, family))
    laplace = np.exp(-t * float(loss)).tolist()
    curves.append(Line("Laplace noise", t.tolist(), laplace, 2, "--"))
    picture.finish(curves, path)
