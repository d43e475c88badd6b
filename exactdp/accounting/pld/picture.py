"""A small picture of delta over epsilon, for notebooks."""

from __future__ import annotations

from exactdp.accounting.pld.questions import Questions
from exactdp.errors import ExactDPError
from exactdp.picture import curve

#: Digits of delta: a point of the picture for each.
_DIGITS = (2, 4, 6, 8, 10)


def delta_over_epsilon(loss: Questions) -> str:
    """An SVG with a point for each of five deltas; empty if one of their epsilons has no answer.

    A point is at the upper end of an enclosure of width 0.01, so the loss has at most this delta
    there; the lines between the points only guide the eye.
    """
    try:
        enclosures = [loss.epsilon(f"1e-{n}", width="0.01") for n in _DIGITS]
    except ExactDPError:  # a picture is no answer: the table stands alone
        return ""
    epsilons = [enclosure.upper for enclosure in enclosures]
    if not (most := max(epsilons)):
        return ""
    heights = [(10 - n) / 8 for n in _DIGITS]
    return curve(
        [(float(e / most), y) for e, y in zip(epsilons, heights, strict=True)],
        title="delta over epsilon",
        across=("epsilon 0", max(enclosures, key=lambda e: e.upper).decimal_upper(4)),
        up={f"1e-{n}": y for n, y in zip(_DIGITS, heights, strict=True)},
    )
