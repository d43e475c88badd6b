"""Pictures: lines with labels at their ends, in colours that colour-blind people can tell apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from exactdp.cli.output import new_file, written
from exactdp.extras import optional
from exactdp.parameters import choice

#: Okabe and Ito's colours, which also differ in lightness; lighter variants for the dark theme.
_THEMES = {
    "light": ("#1c2430", "#d9dee6", ("#b35900", "#0072b2", "#00795a", "#9c4f86")),
    "dark": ("#e6e9ee", "#3a4350", ("#f0a030", "#6cc0f5", "#3fcf9f", "#e79cc4")),
}
#: Curves that differ by less than this fraction of the picture's height are drawn as one line.
_SAME = 0.002
_SIZE = (7.2, 4.4)
_LABEL_GAP = 13.0  # points between the middles of two labels
_NEAR = 0.25  # of the width: labels further apart do not touch


@dataclass(frozen=True)
class Line:
    """A line with its label.

    family: index of the colour. style: of matplotlib. marked: indices of points with a marker.
    dotted: whether all points have small markers. at: index of the point with the label.
    """

    label: str
    x: Sequence[float]
    y: Sequence[float]
    family: int = 0
    style: str = "-"
    marked: Sequence[int] = ()
    dotted: bool = False
    at: int = -1


@dataclass(frozen=True)
class _Label:
    """A label at (x, y) in axes coordinates; across and height: the position in points."""

    x: float
    y: float
    text: str
    colour: str
    across: float
    height: float


def merged(curves: Sequence[Line]) -> list[Line]:
    """The curves, where coinciding curves are one line with both labels."""
    height = max(max(c.y) for c in curves) - min(min(c.y) for c in curves)
    width = max(max(c.x) for c in curves) - min(min(c.x) for c in curves)

    def same(a: Line, b: Line) -> bool:
        pairs = ((a.x, b.x, width), (a.y, b.y, height))
        return len(a.x) == len(b.x) and all(
            abs(p - q) <= _SAME * span for u, v, span in pairs for p, q in zip(u, v, strict=True)
        )

    kept: list[Line] = []
    for curve in curves:
        twin = next((i for i, other in enumerate(kept) if same(other, curve)), None)
        if twin is None:
            kept.append(curve)
        else:
            old = kept[twin]
            kept[twin] = replace(old, label=f"{old.label} = {curve.label}")
    return kept


class Picture:
    """A picture with one pair of axes."""

    def __init__(self, theme: str | None, *, x: str, y: str, title: str) -> None:
        """theme: light (also for None) or dark."""
        self._pyplot = _pyplot()
        self._ink, grid, self._colours = _THEMES[choice("theme", theme or "light", tuple(_THEMES))]
        self._figure, self.axes = self._pyplot.subplots(figsize=_SIZE, layout="constrained")
        self.axes.set_xlabel(x, color=self._ink)
        self.axes.set_ylabel(y, color=self._ink)
        self.axes.set_title(title, color=self._ink, loc="left", fontsize=11)
        self.axes.tick_params(colors=self._ink, which="both", length=0)
        self.axes.grid(color=grid, linewidth=0.7)
        self.axes.set_axisbelow(True)
        for side in self.axes.spines.values():
            side.set_visible(False)
        self._labels: list[tuple[float, float, str, str]] = []

    def colour(self, family: int) -> str:
        """The colour of a family of curves."""
        return self._colours[family % len(self._colours)]

    def note(self, x: float, y: float, text: str, family: int) -> None:
        """A label above a point."""
        self.axes.annotate(
            text,
            (x, y),
            (0, 3),
            textcoords="offset points",
            color=self.colour(family),
            fontsize=9,
            ha="center",
        )

    def draw(self, curves: Sequence[Line]) -> None:
        """Draw the curves, each with its label at its right end."""
        for curve in merged(curves):
            colour = self.colour(curve.family)
            self.axes.plot(curve.x, curve.y, curve.style, color=colour, linewidth=1.8)
            if curve.dotted:
                self.axes.plot(curve.x, curve.y, "o", color=colour, markersize=2.5)
            for i in curve.marked:
                self.axes.plot(curve.x[i], curve.y[i], "o", color=colour, markersize=6)
            self._labels.append((curve.x[curve.at], curve.y[curve.at], curve.label, colour))

    def upright(self, x: float, label: str, family: int) -> None:
        """A thin vertical line with a label at its left."""
        colour = self.colour(family)
        self.axes.axvline(x, color=colour, linestyle=":", linewidth=1)
        self.axes.annotate(
            label,
            (x, 0.9),
            (-3, 0),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            color=colour,
            fontsize=8.5,
            rotation=90,
            ha="right",
            va="top",
        )

    def explain(self, text: str) -> None:
        """Add a line under the title that explains the marks."""
        self.axes.set_title(f"{self.axes.get_title(loc='left')}\n{text}", loc="left", fontsize=10)
        self.axes.title.set_color(self._ink)

    def save(self, path: Path) -> None:
        """Write the picture in the format of the file's ending."""
        self._place_labels()
        with written(path) as (part,):
            form = path.suffix.removeprefix(".")
            # without a date, so that equal pictures are equal files
            about = {"Date": None} if form == "svg" else {}
            self._figure.savefig(part, format=form, dpi=150, transparent=True, metadata=about)
        self._pyplot.close(self._figure)

    def _place_labels(self) -> None:
        """Place labels to the right of the ends; labels that would touch are stacked."""
        self._figure.draw_without_rendering()
        to_points = 72 / self._figure.dpi
        width = to_points * self.axes.bbox.width
        labels = []
        for label in self._labels:
            x, y = self.axes.transData.transform(label[:2]) * to_points
            labels.append(_Label(*label, across=float(x), height=float(y)))
        groups: list[list[_Label]] = []
        for new in sorted(labels, key=lambda label: label.height):
            for group in groups:
                near = abs(group[-1].across - new.across) < _NEAR * width
                if near and new.height - group[-1].height < _LABEL_GAP:
                    group.append(new)
                    break
            else:
                groups.append([new])
        for group in groups:
            self._write(group)

    def _write(self, group: Sequence[_Label]) -> None:
        """Write stacked labels beside the rightmost of their ends."""
        end = max(group, key=lambda label: label.across)
        middle = sum(label.height for label in group) / len(group)
        for i, label in enumerate(group):
            height = middle + (i - (len(group) - 1) / 2) * _LABEL_GAP
            self.axes.annotate(
                label.text,
                (end.x, end.y),
                (7, height - end.height),
                textcoords="offset points",
                color=label.colour,
                fontsize=9,
                va="center",
                annotation_clip=False,
            )


def new_picture(name: str, parameter: str = "output") -> Path:
    """The path of a picture that can be written."""
    return new_file(parameter, name, (".png", ".svg", ".pdf"))


def _pyplot() -> Any:
    matplotlib = optional("matplotlib")
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "exactdp"
    return optional("matplotlib.pyplot")
