"""A small picture of delta over epsilon, for notebooks."""

from __future__ import annotations

from collections.abc import Sequence

from exactdp.accounting.pld.questions import Questions
from exactdp.errors import ExactDPError
from exactdp.parameters import short_text

#: Digits of delta: a point of the picture for each.
_DIGITS = (2, 4, 6, 8, 10)
_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 300, 140, 48, 24


def delta_over_epsilon(loss: Questions) -> str:
    """An SVG with a point for each of five deltas; empty if one of their epsilons has no answer.

    A point is at the upper end of an enclosure of width 0.01, so the loss has at most this delta
    there; the lines between the points only guide the eye.
    """
    try:
        epsilons = [loss.epsilon(f"1e-{n}", width="0.01").upper for n in _DIGITS]
    except ExactDPError:  # a picture is no answer: the table stands alone
        return ""
    if not (most := max(epsilons)):
        return ""
    across = [_LEFT + float(e / most) * (_WIDTH - _LEFT - 12) for e in epsilons]
    down = [8 + (n - 2) / 8 * (_HEIGHT - _BOTTOM - 16) for n in _DIGITS]
    points = list(zip(across, down, strict=True))
    return _svg(points, short_text(most))


def _svg(points: Sequence[tuple[float, float]], most: str) -> str:
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5"/>' for x, y in points)
    labels = "".join(
        f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">1e-{n}</text>'
        for n, (_, y) in zip(_DIGITS, points, strict=True)
    )
    base = _HEIGHT - _BOTTOM
    return (
        f'<svg role="img" aria-label="delta over epsilon" width="{_WIDTH}" height="{_HEIGHT}" '
        'fill="currentColor" font-size="11" font-family="sans-serif">'
        f'<polyline points="{line}" fill="none" stroke="currentColor"/>{dots}{labels}'
        f'<path d="M{_LEFT} 0V{base}H{_WIDTH}" fill="none" stroke="currentColor" opacity="0.5"/>'
        f'<text x="{_LEFT}" y="{_HEIGHT - 8}">epsilon 0</text>'
        f'<text x="{_WIDTH - 4}" y="{_HEIGHT - 8}" text-anchor="end">{most}</text></svg>'
    )
