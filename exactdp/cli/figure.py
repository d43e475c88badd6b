"""exactdp figure: pictures of thresholds, probabilities of release, errors and privacy loss."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import click

from exactdp.cli import parameters as opt
from exactdp.cli.answers import Answer, answering, table
from exactdp.cli.options import options
from exactdp.cli.pictures import Line, Picture, new_picture
from exactdp.errors import InvalidParameter
from exactdp.parameters import integer, positive, rational
from exactdp.progress import counted

if TYPE_CHECKING:
    from exactdp.accounting.sparse_histograms.threshold_curves import Saving

_SPARSITIES = "1,10,100,1000,10000,100000,1000000"
_FAMILIES = {"gshm": 0, "csh": 1}
_STYLES = {"add-the-deltas": ":", "published": "--", "exact": "-"}

#: Levels of the sketch in the picture of its error; the value is in the middle.
_LEVELS = 300
#: Smallest epsilon and price that can be drawn; the largest is its inverse.
_LEAST = Fraction(1, 10**6)


@click.group(no_args_is_help=True)
def figure() -> None:
    """Draw thresholds, errors, or epsilon over the steps of training."""


def _draw_curves(picture: Picture, curves: Sequence[Line], path: Path) -> Answer:
    """Write a picture; the answer has the points of its curves."""
    picture.draw(curves)
    picture.save(path)
    data = [{"label": c.label, "x": list(map(float, c.x)), "y": list(c.y)} for c in curves]
    return Answer({"output": str(path), "curves": data}, f"written to {path}")


@figure.command(
    epilog="Example: exactdp figure csh --sparsity 51914 --epsilon 0.35 --delta 1e-5 --output "
    "csh.svg"
)
@options(opt.SPARSITY, opt.EPSILON, opt.DELTA, opt.OUTPUT, optional=(opt.POINTS_CURVE, opt.THEME))
@answering
def csh(
    sparsity: str, epsilon: str, delta: str, output: str, points: str | None, theme: str | None
) -> Answer:
    """Draw threshold against total noise for each analysis of GSHM and CSH.

    CSH is the correlated Gaussian sparse histogram, GSHM the Gaussian sparse histogram mechanism
    (CSH paper, Figure 3). The histogram has at most --sparsity non-zero counters, and users may
    contribute to all of them. Every dot is the smallest threshold for its noise, with certified
    lower and upper bounds. More dots are computed where a curve bends. The lines between the dots
    are not certified.
    """
    from tqdm import tqdm

    from exactdp.accounting.sparse_histograms.threshold_curves import CURVES, threshold_curve

    path, count = new_picture(output), integer("points", points or 24, least=2)
    most = integer("sparsity", sparsity, least=1)
    picture = Picture(
        theme,
        x="standard deviation of all noise on one counter",
        y="threshold \u03c4",
        title=f"sparsity = {most}, \u03b5 = {epsilon}, \u03b4 = {delta}",
    )
    picture.explain("Lower is better. Dots are certified, the large one the least \u03c4.")
    curves = []
    with tqdm(total=count * len(CURVES), desc="points", disable=None, delay=1) as bar:
        for mechanism, analysis in CURVES:
            dots = []
            for point in threshold_curve(
                mechanism, analysis, sparsity=most, epsilon=epsilon, delta=delta, points=count
            ):
                dots.append((point.noise.float_upper(), float(point.calibration.tau or 0)))
                bar.update()
            bar.update(count - len(dots))  # fewer points sufficed
            noise, tau = zip(*sorted(dots), strict=True)
            label, style = f"{mechanism.upper()}, {analysis}", _STYLES[analysis]
            family = _FAMILIES[mechanism]
            curves.append(Line(label, noise, tau, family, style, marked=(0,), dotted=True))
    return _draw_curves(picture, curves, path)


@figure.command(
    epilog="Example: exactdp figure seen --sparsity 10 --epsilon 0.35 --delta 1e-5 --output "
    "seen.svg"
)
@options(opt.SPARSITY, opt.EPSILON, opt.DELTA, opt.OUTPUT, optional=(opt.POINTS, opt.THEME))
@answering
def seen(
    sparsity: str, epsilon: str, delta: str, output: str, points: str | None, theme: str | None
) -> Answer:
    """Draw the exact probability that a counter is released, against its true count.

    The histogram has at most --sparsity non-zero counters, and users may contribute to all of them.
    """
    from exactdp.mechanisms import CSH, GSHM

    path, count = new_picture(output), integer("points", points or 40, least=2)
    most = integer("sparsity", sparsity, least=1)
    title = f"sparsity = {most}, \u03b5 = {epsilon}, \u03b4 = {delta}"
    picture = Picture(theme, x="true count", y="probability of release", title=title)
    picture.explain("Dotted: the threshold, at which a count is seen half of the time.")
    curves = []
    with counted("calibrating"):
        mechanisms = [
            GSHM.for_target(k=most, epsilon=epsilon, delta=delta),
            CSH.for_target(sparsity=most, epsilon=epsilon, delta=delta),
        ]
    last = 2 * max(int(1 + m.tau) for m in mechanisms)
    counts = sorted({last * i // (count - 1) for i in range(count)})
    for family, (mechanism, label) in enumerate(zip(mechanisms, ("GSHM", "CSH"), strict=True)):
        with counted("probabilities"):
            chances = [mechanism.chance(c).float_lower() for c in counts]
        later = next(i for i, chance in enumerate(chances) if chance > 0.75)
        curves.append(Line(label, counts, chances, family, at=later))
        threshold = float(1 + mechanism.tau)
        picture.upright(threshold, f"above {threshold:g}", family)
    return _draw_curves(picture, curves, path)


@figure.command(
    "epsilon-over-steps",
    epilog="Example: exactdp figure epsilon-over-steps --noise-multiplier 1 --rate 0.01 --steps "
    "10000 --delta 1e-5 --output epsilon.svg",
)
@options(
    opt.NOISE_MULTIPLIER,
    opt.RATE,
    opt.STEPS,
    opt.DELTA,
    opt.OUTPUT,
    optional=(opt.POINTS_STEPS, opt.THEME),
)
@answering
def epsilon_over_steps(
    noise_multiplier: str,
    rate: str,
    steps: str,
    delta: str,
    output: str,
    points: str | None,
    theme: str | None,
) -> Answer:
    """Draw certified lower and upper bounds of the epsilon of DP-SGD over the number of steps."""
    from tqdm import tqdm

    from exactdp.accounting import pld

    path = new_picture(output)
    count, most = integer("points", points or 16, least=2), integer("steps", steps, least=1)
    taken = sorted({max(1, most * i // count) for i in range(1, count + 1)})
    title = f"noise {noise_multiplier}, rate {rate}, \u03b4 = {delta}"
    picture = Picture(theme, x="steps", y="\u03b5", title=title)
    picture.explain("Two certified ends of \u03b5, closer than the line is wide.")
    one = pld.sgd(noise_multiplier=noise_multiplier, rate=rate, steps=1)
    epsilons = [
        one.composed(n).epsilon(delta, width="1e-2")
        for n in tqdm(taken, desc="points", disable=None, delay=1)
    ]
    lower = Line("at least", taken, [e.float_lower() for e in epsilons])
    upper = Line("at most", taken, [e.float_upper() for e in epsilons])
    return _draw_curves(picture, [lower, upper], path)


@figure.command(epilog="Example: exactdp figure savings --epsilon 0.35 --delta 1e-5")
@options(opt.EPSILON, opt.DELTA, optional=(opt.SPARSITIES, opt.OUTPUT, opt.THEME))
@answering
def savings(
    epsilon: str, delta: str, sparsities: str | None, output: str | None, theme: str | None
) -> Answer:
    """Print a table of the smallest thresholds over the sparsity; --output draws a picture.

    Users may contribute to all counters of the histogram.
    """
    from exactdp.accounting.sparse_histograms.threshold_curves import CURVES
    from exactdp.accounting.sparse_histograms.threshold_curves import savings as compute

    path = None if output is None else new_picture(output)
    listed = tuple(
        integer("sparsities", n, least=1) for n in (sparsities or _SPARSITIES).split(",")
    )
    with counted("calibrating"):
        by_sparsity = list(compute(epsilon=epsilon, delta=delta, sparsities=listed))
    if path is not None:
        _draw_savings(path, theme, f"\u03b5 = {epsilon}, \u03b4 = {delta}", by_sparsity)
    rows, data = [], []
    for saving in by_sparsity:
        tau = [f"{float(saving.tau[curve]):.6g}" for curve in CURVES]
        saved = {each: float(saving.saved(each)) for each in ("published", "exact")}
        shares = [f"{100 * share:.1f} %" for share in saved.values()]
        rows.append([str(saving.sparsity), *tau, *shares])
        named = {" ".join(c): t for c, t in zip(CURVES, tau, strict=True)}
        texts = {each: f"{share:.6f}" for each, share in saved.items()}
        data.append({"sparsity": str(saving.sparsity), "tau": named, "saved": texts})
    header = ["sparsity", *(f"{mechanism} {analysis}" for mechanism, analysis in CURVES)]
    header += ["published saves", "exact saves"]
    text = table(f"smallest tau, epsilon = {epsilon}, delta = {delta}", header, rows)
    return Answer(data, f"{text}\nsaved: threshold of the CSH compared with the exact GSHM.")


def _draw_savings(path: Path, theme: str | None, title: str, by_sparsity: Sequence[Saving]) -> None:
    picture = Picture(theme, x="sparsity", y="least \u03c4/\u221asparsity", title=title)
    picture.explain("Lower is better. Every dot is certified from both sides.")
    picture.axes.set_xscale("log")
    curves = []
    for mechanism, analysis in by_sparsity[0].tau:
        scaled = [float(s.tau[mechanism, analysis]) / s.sparsity**0.5 for s in by_sparsity]
        label, marked = f"{mechanism.upper()}, {analysis}", range(len(by_sparsity))
        family, style = _FAMILIES[mechanism], _STYLES[analysis]
        curves.append(
            Line(label, [s.sparsity for s in by_sparsity], scaled, family, style, marked=marked)
        )
    picture.draw(curves)
    picture.save(path)


@figure.command(epilog="Example: exactdp figure alp --epsilon 1 --collision 0.1 --output alp.svg")
@options(opt.EPSILON, opt.OUTPUT, optional=(opt.COLLISION, opt.PRICE_OF_PICTURE, opt.THEME))
@answering
def alp(
    epsilon: str, output: str, collision: str | None, price: str | None, theme: str | None
) -> Answer:
    """Draw the probability that the error of a sketch's estimate exceeds t.

    The sketch of sparse vectors is by Aumüller, Lebeda and Pagh (their Figure 4).
    """
    import numpy as np

    from exactdp.mechanisms.projections.error_law import estimate_law

    path = new_picture(output)
    loss, alpha = _drawable("epsilon", epsilon), _drawable("price", price or "3")
    chance = rational("collision", collision or "1/10")
    title = f"\u03b5 = {epsilon}, \u03b1 = {price or 3}"
    picture = Picture(theme, x="t", y="probability of an error above t", title=title)
    picture.explain("Exact, in the middle of many levels; collisions at every level.")
    curves = []
    t = np.linspace(0, 40 / float(loss), 161)
    for family, c in enumerate(sorted({Fraction(0), chance})):
        law = estimate_law(Fraction(_LEVELS // 2), _LEVELS, 1 / (alpha + 2), c)
        law = law.scaled(float(alpha / loss))
        beyond = [law.beyond(x).float_upper() for x in t.tolist()]
        curves.append(Line(f"ALP, collisions {float(c):.3g}", t.tolist(), beyond, family))
    laplace = np.exp(-t * float(loss)).tolist()
    curves.append(Line("Laplace noise", t.tolist(), laplace, 2, "--"))
    return _draw_curves(picture, curves, path)


def _drawable(name: str, text: str) -> Fraction:
    """A number > 0 within the range in which matplotlib's floats suffice."""
    number = positive(name, text)
    if not _LEAST <= number <= 1 / _LEAST:
        raise InvalidParameter(name, text, f"a number from {_LEAST} to {1 / _LEAST} in a picture")
    return number
