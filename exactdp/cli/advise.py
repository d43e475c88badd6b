"""exactdp advise: which mechanism, which k, which error; before anything is released."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from exactdp.cli import parameters as opt
from exactdp.cli.answers import Answer, answering, table
from exactdp.cli.options import options
from exactdp.cli.pictures import Line, Picture, new_picture
from exactdp.cli.reading import existing, listed
from exactdp.cli.release_values import means_in, quantiles_in, sums_in
from exactdp.cli.rows import RowsFile, dialect_options
from exactdp.errors import InvalidParameter
from exactdp.parameters import integer

if TYPE_CHECKING:
    from exactdp.frames import Advice


@click.command(
    epilog="Example: exactdp release advise visits.csv --user uid --by url --epsilon 1 "
    "--delta 1e-6 --spend 0.1\n"
    "Example: exactdp release advise --epsilon 1 --delta 1e-6 --prior 1:5,3:3,10:2"
)
@click.argument("data", required=False)
@options(
    opt.EPSILON,
    opt.DELTA,
    optional=(
        opt.USER,
        opt.BY,
        opt.PRIOR,
        opt.SPEND,
        opt.MOST_KEYS,
        opt.COUNT_ADVICE,
        opt.PUBLIC_KNOWN,
        opt.SUMS,
        opt.MEANS,
        opt.QUANTILES,
        opt.SHARE_COUNTS,
        opt.TIMES,
        opt.PICTURE,
    ),
)
@click.option("--public-data", is_flag=True, help="The data are public: read them exactly.")
@dialect_options
@answering
def advise(
    data: str | None,
    epsilon: str,
    delta: str,
    public_data: bool,
    no_header: bool,
    delimiter: str,
    quote: str,
    **texts: str | None,
) -> Answer:
    """Compare mechanisms and values of k for a release of counts.

    A larger k needs more noise, a smaller one leaves out more keys of users. How many keys users
    have comes from --prior, from public data (--public-data), or from private data for a part of
    epsilon (--spend). Without any of them, the noise alone is compared.
    """
    from exactdp import frames

    user, by, prior, spend, public, picture = (
        texts.pop(name) for name in ("user", "by", "prior", "spend", "public", "picture")
    )
    sums, means, quantiles, share = (
        texts.pop(name) for name in ("sums", "means", "quantiles", "share")
    )
    whole = {name: integer(name, text, least=1) for name, text in texts.items() if text is not None}
    path = None if picture is None else new_picture(picture, "picture")
    arguments: dict[str, Any] = {
        **whole,
        "epsilon": epsilon,
        "delta": delta,
        "spend": spend,
        "sums": sums_in(sums),
        "means": means_in(means),
        "quantiles": quantiles_in(quantiles),
        **({} if share is None else {"share": share}),
        "public": public_data,
        "prior": None if prior is None else _prior(prior),
        "listed": None if public is None else len(listed(existing(public, "public"))),
    }
    if not public_data and spend is None:
        advice = frames.advise(**arguments)
    elif data is None or user is None or by is None:
        raise click.UsageError("DATA, --user and --by must be given with --public-data or --spend")
    else:
        file = RowsFile(existing(data, "data"), user, by, delimiter, quote, not no_header)
        with file.relation() as rows:
            advice = frames.advise(rows, user=user, by=file.keys(rows.columns), **arguments)
    if path is not None:
        _draw(path, advice)
    parts = [*(table(*each) for each in advice.tables), advice.difference, advice.said]
    text = "\n\n".join(filter(None, parts))
    promise = {"guarantee": advice.guarantee.as_dict()} if advice.guarantee else {}
    by_k, mechanisms, values = (
        [dict(zip(header, row, strict=True)) for row in rows]
        for _, header, rows in [*advice.tables, ("", [], [])][:3]
    )
    said = " ".join(filter(None, (advice.difference, advice.said)))
    data_ = {"k": advice.best.k, "by_k": by_k, "mechanisms": mechanisms, "said": said}
    data_ |= {"sums_and_means": values} if values else {}
    return Answer({**data_, **promise}, text)


def _prior(text: str) -> dict[int, str]:
    """Weights by number of keys, from text such as 1:0.5,3:0.3,10:0.2; raises InvalidParameter."""
    weights: dict[int, str] = {}
    for part in text.split(","):
        number, colon, weight = part.partition(":")
        if not colon:
            raise InvalidParameter("prior", text, "number:weight, separated by commas")
        weights[integer("prior", number, least=1)] = weight
    return weights


def _draw(path: Path, advice: Advice) -> None:
    """The error against k, and its two parts."""
    across = [row.k for row in advice.bounds]
    title = f"error of a count of {advice.count}"
    picture = Picture("light", x="k, keys per user that count", y="error", title=title)
    picture.axes.set_xscale("log")
    lines = [Line("noise (95 %)", across, [row.noise for row in advice.bounds], 1, dotted=True)]
    if advice.best.left_out is not None:
        lost = [float(advice.count * (row.left_out or 0)) for row in advice.bounds]
        both = [float(row.error) for row in advice.bounds]
        best = across.index(advice.best.k)
        lines.append(Line("left out by k", across, lost, 2, dotted=True))
        lines.append(Line("both", across, both, 0, marked=(best,), dotted=True))
    picture.draw(lines)
    picture.save(path)
