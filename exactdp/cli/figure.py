"""exactdp figure: threshold against noise as a picture, and the savings over k as a table."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import click

from exactdp.cli.options import json_option, options
from exactdp.cli.output import new_file, print_json, print_table
from exactdp.errors import ExactDPError
from exactdp.parameters import integer

__all__ = ["figure"]

_SPARSITIES = "1,10,100,1000,10000,100000,1000000"


@click.group(no_args_is_help=True)
def figure() -> None:
    """Pictures and tables of what the analyses save."""


@figure.command(
    epilog="Example: exactdp figure csh --k 51914 --epsilon 0.35 --delta 1e-5 --output csh.svg"
)
@options("k epsilon delta output", "points")
def csh(k: str, epsilon: str, delta: str, output: str, points: str | None) -> None:
    """Threshold against total noise for every analysis (CSH paper, Figure 3, and the exact one)."""
    from tqdm import tqdm

    from exactdp.accounting.sparse_histograms.curves import CURVES, threshold_curve

    path = new_file("output", output, (".png", ".svg", ".pdf"))
    pyplot = _pyplot()
    count = integer("points", points or 24, least=2)
    sparsity = integer("k", k, least=1)
    picture, axes = pyplot.subplots(figsize=(7, 4.5), layout="constrained")
    with tqdm(total=count * len(CURVES), desc="points", disable=None, delay=1) as bar:
        for mechanism, analysis in CURVES:
            noise, tau = [], []
            for point in threshold_curve(
                mechanism, analysis, k=sparsity, epsilon=epsilon, delta=delta, points=count
            ):
                noise.append(point.noise.float_upper())
                tau.append(float(point.calibration.tau or 0))
                bar.update()
            style = {"gshm": "--", "csh": "-"}[mechanism]
            (line,) = axes.plot(noise, tau, style, label=f"{mechanism.upper()}, {analysis}")
            axes.plot(noise[:1], tau[:1], "o", color=line.get_color())  # the smallest threshold
    axes.set_xlabel("standard deviation of all noise on one counter")
    axes.set_ylabel("threshold tau")
    axes.set_title(f"k = {sparsity}, epsilon = {epsilon}, delta = {delta}")
    axes.legend(frameon=False)
    picture.savefig(path, dpi=150)
    pyplot.close(picture)
    click.echo(f"written to {output}")


@figure.command(
    epilog="Example: exactdp figure seen --k 10 --epsilon 0.35 --delta 1e-5 --output seen.svg"
)
@options("k epsilon delta output", "points")
def seen(k: str, epsilon: str, delta: str, output: str, points: str | None) -> None:
    """Which counts will be seen: the probability of release against the true count, exactly."""
    from exactdp.mechanisms import CSH, GSHM

    path = new_file("output", output, (".png", ".svg", ".pdf"))
    pyplot = _pyplot()
    count, sparsity = integer("points", points or 40, least=2), integer("k", k, least=1)
    picture, axes = pyplot.subplots(figsize=(7, 4.5), layout="constrained")
    for kind, label in ((GSHM, "GSHM"), (CSH, "CSH, top-k: above the next count")):
        made = kind.for_target(k=sparsity, epsilon=epsilon, delta=delta)
        most = 2 * int(1 + Fraction(made.tau))
        counts = sorted({most * i // (count - 1) for i in range(count)})
        chances = [made.chance(c).float_lower() for c in counts]
        (line,) = axes.plot(counts, chances, label=label)
        axes.axvline(float(1 + Fraction(made.tau)), color=line.get_color(), ls=":", lw=0.8)
    axes.set_xlabel("true count (dotted: the threshold)")
    axes.set_ylabel("probability of release")
    axes.set_title(f"k = {sparsity}, epsilon = {epsilon}, delta = {delta}")
    axes.legend(frameon=False)
    picture.savefig(path, dpi=150)
    pyplot.close(picture)
    click.echo(f"written to {output}")


@figure.command(epilog="Example: exactdp figure savings --epsilon 0.35 --delta 1e-5")
@options("epsilon delta", "sparsities")
@json_option
def savings(epsilon: str, delta: str, sparsities: str | None, as_json: bool) -> None:
    """A table of the best thresholds over the sparsity k."""
    from exactdp.accounting.sparse_histograms.curves import CURVES
    from exactdp.accounting.sparse_histograms.curves import savings as compute

    listed = tuple(integer("k", k, least=1) for k in (sparsities or _SPARSITIES).split(","))
    rows, data = [], []
    for saving in compute(epsilon=epsilon, delta=delta, sparsities=listed):
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
    click.echo("saved: exact CSH against exact GSHM.")


def _pyplot() -> Any:
    try:
        import matplotlib
    except ImportError:
        raise ExactDPError("pictures need matplotlib: pip install 'exactdp[plots]'") from None
    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot
