"""exactdp figure: pictures of thresholds, release probabilities and privacy loss."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from exactdp.cli.options import json_option, options
from exactdp.cli.output import print_json, print_table
from exactdp.cli.pictures import Line, Picture, new_picture, theme_option
from exactdp.parameters import integer
from exactdp.progress import counted

if TYPE_CHECKING:
    from exactdp.accounting.sparse_histograms.threshold_curves import Saving

_SPARSITIES = "1,10,100,1000,10000,100000,1000000"
_FAMILIES = {"gshm": 0, "csh": 1}
_STYLES = {"add-the-deltas": ":", "published": "--", "exact": "-"}


@click.group(no_args_is_help=True)
def figure() -> None:
    """Draw certified curves as pictures, or print tables."""


@figure.command(
    epilog="Example: exactdp figure csh --k 51914 --epsilon 0.35 --delta 1e-5 --output csh.svg"
)
@options("k epsilon delta output", "points")
@theme_option
def csh(k: str, epsilon: str, delta: str, output: str, points: str | None, theme: str) -> None:
    """Draw threshold against total noise for each analysis (CSH paper, Figure 3, and exact).

    CSH is the correlated Gaussian sparse histogram, GSHM the Gaussian sparse histogram mechanism.
    Every dot is the smallest threshold for its noise, with certified lower and upper bounds. More
    dots are computed where a curve bends. The lines between the dots are not certified.
    """
    from tqdm import tqdm

    from exactdp.accounting.sparse_histograms.threshold_curves import CURVES, threshold_curve

    path = new_picture(output)
    count = integer("points", points or 24, least=2)
    sparsity = integer("k", k, least=1)
    picture = Picture(
        theme,
        x="standard deviation of all noise on one counter",
        y="threshold \u03c4",
        title=f"k = {sparsity}, \u03b5 = {epsilon}, \u03b4 = {delta}",
    )
    picture.explain("Lower is better. Dots are certified, the large one the least \u03c4.")
    curves = []
    with tqdm(total=count * len(CURVES), desc="points", disable=None, delay=1) as bar:
        for mechanism, analysis in CURVES:
            found = []
            for point in threshold_curve(
                mechanism, analysis, k=sparsity, epsilon=epsilon, delta=delta, points=count
            ):
                found.append((point.noise.float_upper(), float(point.calibration.tau or 0)))
                bar.update()
            bar.update(count - len(found))  # fewer points sufficed
            noise, tau = zip(*sorted(found), strict=True)
            label = f"{mechanism.upper()}, {analysis}"
            curves.append(
                Line(
                    label,
                    noise,
                    tau,
                    _FAMILIES[mechanism],
                    _STYLES[analysis],
                    marked=(0,),
                    dotted=True,
                )
            )
    picture.finish(curves, path)


@figure.command(
    epilog="Example: exactdp figure seen --k 10 --epsilon 0.35 --delta 1e-5 --output seen.svg"
)
@options("k epsilon delta output", "points")
@theme_option
def seen(k: str, epsilon: str, delta: str, output: str, points: str | None, theme: str) -> None:
    """Draw the exact probability that a counter is released, against its true count."""
    from exactdp.mechanisms import CSH, GSHM

    path = new_picture(output)
    count, sparsity = integer("points", points or 40, least=2), integer("k", k, least=1)
    picture = Picture(
        theme,
        x="true count",
        y="probability of release",
        title=f"k = {sparsity}, \u03b5 = {epsilon}, \u03b4 = {delta}",
    )
    picture.explain("Dotted: the threshold, at which a count is seen half of the time.")
    curves = []
    with counted("calibrating"):
        made = [kind.for_target(k=sparsity, epsilon=epsilon, delta=delta) for kind in (GSHM, CSH)]
    most = 2 * max(int(1 + m.tau) for m in made)
    counts = sorted({most * i // (count - 1) for i in range(count)})
    for family, (mechanism, label) in enumerate(zip(made, ("GSHM", "CSH"), strict=True)):
        with counted("probabilities"):
            chances = [mechanism.chance(c).float_lower() for c in counts]
        later = next(i for i, chance in enumerate(chances) if chance > 0.75)
        curves.append(Line(label, counts, chances, family, at=later))
        threshold = float(1 + mechanism.tau)
        picture.upright(threshold, f"above {threshold:g}", family)
    picture.finish(curves, path)


@figure.command(
    "epsilon-over-steps",
    epilog="Example: exactdp figure epsilon-over-steps --noise-multiplier 1 --rate 0.01 --steps "
    "10000 --delta 1e-5 --output epsilon.svg",
)
@options("noise_multiplier rate steps delta output", "points")
@theme_option
def epsilon_over_steps(
    noise_multiplier: str,
    rate: str,
    steps: str,
    delta: str,
    output: str,
    points: str | None,
    theme: str,
) -> None:
    """Draw certified lower and upper bounds of the epsilon of DP-SGD over the number of steps."""
    from tqdm import tqdm

    from exactdp.accounting import pld

    path = new_picture(output)
    count, most = integer("points", points or 16, least=2), integer("steps", steps, least=1)
    taken = sorted({max(1, most * i // count) for i in range(1, count + 1)})
    picture = Picture(
        theme,
        x="steps",
        y="\u03b5",
        title=f"noise {noise_multiplier}, rate {rate}, \u03b4 = {delta}",
    )
    picture.explain("Two certified ends of \u03b5, closer than the line is wide.")
    one = pld.sgd(noise_multiplier=noise_multiplier, rate=rate, steps=1)
    found = [
        one.composed(n).epsilon(delta, width="1e-2")
        for n in tqdm(taken, desc="points", disable=None, delay=1)
    ]
    lower = Line("at least", taken, [e.float_lower() for e in found])
    upper = Line("at most", taken, [e.float_upper() for e in found])
    picture.finish([lower, upper], path)


@figure.command(epilog="Example: exactdp figure savings --epsilon 0.35 --delta 1e-5")
@options("epsilon delta", "sparsities output")
@theme_option
@json_option
def savings(
    epsilon: str,
    delta: str,
    sparsities: str | None,
    output: str | None,
    theme: str,
    as_json: bool,
) -> None:
    """Print a table of the smallest thresholds over the sparsity k; --output draws a picture."""
    from exactdp.accounting.sparse_histograms.threshold_curves import CURVES
    from exactdp.accounting.sparse_histograms.threshold_curves import savings as compute

    path = None if output is None else new_picture(output)
    listed = tuple(integer("k", k, least=1) for k in (sparsities or _SPARSITIES).split(","))
    with counted("calibrating"):
        found = list(compute(epsilon=epsilon, delta=delta, sparsities=listed))
    if path is not None:
        _draw_savings(path, theme, f"\u03b5 = {epsilon}, \u03b4 = {delta}", found)
    rows, data = [], []
    for saving in found:
        tau = [f"{float(saving.tau[curve]):.6g}" for curve in CURVES]
        rows.append([str(saving.k), *tau, f"{100 * float(saving.saved()):.1f} %"])
        data.append(
            {
                "k": str(saving.k),
                "tau": {" ".join(c): t for c, t in zip(CURVES, tau, strict=True)},
                "saved": f"{float(saving.saved()):.6f}",
            }
        )
    if as_json:
        print_json(data)
        return
    header = ["k", *(f"{mechanism} {analysis}" for mechanism, analysis in CURVES), "saved"]
    print_table(f"smallest tau, epsilon = {epsilon}, delta = {delta}", header, rows)
    click.echo("saved: threshold of the exact CSH compared with the exact GSHM.")


def _draw_savings(path: Path, theme: str, title: str, found: Sequence[Saving]) -> None:
    picture = Picture(theme, x="sparsity k", y="least \u03c4/\u221ak", title=title)
    picture.explain("Lower is better. Every dot is certified from both sides.")
    picture.axes.set_xscale("log")
    curves = []
    for mechanism, analysis in found[0].tau:
        scaled = [float(s.tau[mechanism, analysis]) / s.k**0.5 for s in found]
        label = f"{mechanism.upper()}, {analysis}"
        curves.append(
            Line(
                label,
                [s.k for s in found],
                scaled,
                _FAMILIES[mechanism],
                _STYLES[analysis],
                marked=range(len(found)),
            )
        )
    picture.draw(curves)
    picture.save(path)
