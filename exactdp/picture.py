"""A small picture of a curve for notebooks, in the colour of the text around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 300, 140, 72, 24

#: Labels of the left axis that are closer than this, in pixels, would cover each other.
_APART = 12


def curve(
    points: Sequence[tuple[float, float]],
    *,
    title: str,
    across: tuple[str, str],
    up: Mapping[str, float],
    level: float | None = None,
    chosen: int | None = None,
) -> str:
    """An SVG with a dot for each point of a falling curve, joined by lines that guide the eye.

    points: in the unit square. title: what the picture shows, such as "delta over sigma".
    across: labels of both ends of the lower axis. up: labels of the left axis with their heights,
    the most important first. level: the height of a dashed line. chosen: the index of the point
    with a ring around it.
    """
    places = [(_across(x), _down(y)) for x, y in points]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    parts = [f'<polyline points="{line}" fill="none" stroke="currentColor"/>']
    parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5"/>' for x, y in places]
    if chosen is not None:
        x, y = places[chosen]
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6" fill="none" stroke="currentColor"/>')
    if level is not None:
        y = _down(level)
        parts.append(
            f'<path d="M{_LEFT} {y:.1f}H{_WIDTH}" stroke="currentColor" stroke-dasharray="3 3"/>'
        )
    parts += _labels(up)
    base = _HEIGHT - _BOTTOM
    parts.append(
        f'<path d="M{_LEFT} 0V{base}H{_WIDTH}" fill="none" stroke="currentColor" opacity="0.5"/>'
    )
    least, most = map(escape, across)
    parts.append(f'<text x="{_LEFT}" y="{_HEIGHT - 8}">{least}</text>')
    right = f'x="{_WIDTH - 4}" text-anchor="end"'
    parts.append(f'<text {right} y="12">{escape(title)}</text>')  # where a falling curve is not
    parts.append(f'<text {right} y="{_HEIGHT - 8}">{most}</text>')
    return (
        f'<svg role="img" aria-label="{escape(title)}" width="{_WIDTH}" height="{_HEIGHT}" '
        f'fill="currentColor" font-size="11" font-family="sans-serif">{"".join(parts)}</svg>'
    )


def _across(x: float) -> float:
    return _LEFT + x * (_WIDTH - _LEFT - 12)


def _down(y: float) -> float:
    return 8 + (1 - y) * (_HEIGHT - _BOTTOM - 16)


def _labels(up: Mapping[str, float]) -> list[str]:
    heights: list[float] = []
    texts = []
    for label, height in up.items():
        y = _down(height)
        if all(abs(y - other) >= _APART for other in heights):
            heights.append(y)
            x = _LEFT - 6
            texts.append(f'<text x="{x}" y="{y + 4:.1f}" text-anchor="end">{escape(label)}</text>')
    return texts
