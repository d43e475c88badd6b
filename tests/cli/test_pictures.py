from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest

from exactdp.cli.pictures import _THEMES, Line, Picture, merged

#: Grounds of the pages that the pictures stand on.
GROUNDS = {"light": "#ffffff", "dark": "#131416"}


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: str, b: str) -> float:
    bright, dim = sorted((luminance(a), luminance(b)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


@pytest.mark.parametrize("theme", GROUNDS)
def test_labels_can_be_read_on_their_ground(theme: str) -> None:
    ink, _, colours = _THEMES[theme]
    for colour in (ink, *colours):
        assert contrast(colour, GROUNDS[theme]) >= 4.5


def test_curves_that_coincide_are_one_with_both_labels() -> None:
    a = Line("a", [0, 1, 2], [5, 6, 7])
    b = Line("b", [0, 1, 2], [5, 6, 7.001], family=1)
    c = Line("c", [0, 1, 2], [5, 6, 7.5])
    d = Line("d", [0, 1, 2], [1, 2, 3])
    assert [curve.label for curve in merged([a, b, c, d])] == ["a = b", "c", "d"]


def test_labels_do_not_touch(tmp_path: Path) -> None:
    picture = Picture("light", x="x", y="y", title="t")
    ends = [1, 1.05, 1.1, 5, 9.9, 10]
    picture.draw([Line(f"curve {i}", [0, 1], [0, y], i) for i, y in enumerate(ends)])
    picture.save(tmp_path / "crowded.svg")
    boxes = [text.get_window_extent() for text in picture.axes.texts]
    assert len(boxes) == len(ends)
    assert not any(a.overlaps(b) for a, b in combinations(boxes, 2))


def picture_of(path: Path, theme: str) -> bytes:
    picture = Picture(theme, x="x", y="y", title="t")
    picture.draw([Line("a", [0, 1], [0, 1])])
    picture.save(path)
    return path.read_bytes()


@pytest.mark.slow
def test_the_same_picture_is_the_same_file(tmp_path: Path) -> None:
    light = picture_of(tmp_path / "a.svg", "light")
    assert picture_of(tmp_path / "b.svg", "light") == light
    assert picture_of(tmp_path / "c.svg", "dark") != light
