"""exactdp release cut: the pairs of user and key that a bound on keys per user leaves out."""

from __future__ import annotations

import click

from exactdp.cli import parameters as opt
from exactdp.cli.answers import Answer, answering, facts
from exactdp.cli.options import options
from exactdp.cli.reading import existing
from exactdp.cli.rows import RowsFile, dialect_options


@click.command(
    epilog="Example: exactdp release cut visits.csv --user uid --by url --k 10 --epsilon 0.1 "
    "--most 100"
)
@click.argument("data")
@options(opt.USER, opt.BY, opt.K, optional=(opt.EPSILON_SHARE, opt.MOST))
@click.option("--public-data", is_flag=True, help="The data are public: print exact numbers.")
@dialect_options
@answering
def cut(
    data: str,
    public_data: bool,
    no_header: bool,
    delimiter: str,
    quote: str,
    **texts: str | None,
) -> Answer:
    """Count what a bound on the keys per user leaves out.

    A release with --k drops pairs of user and key: an error in addition to the noise.

    Give either --public-data, if the data (or a representative sample) are public; or --epsilon, a
    part of the privacy budget for noisy numbers, and --most, the largest number of pairs per user
    that are counted.
    """
    from exactdp.frames import cut as cut_rows

    if public_data == (texts["epsilon"] is not None) or public_data == (texts["most"] is not None):
        raise click.UsageError("give either --public-data, or --epsilon and --most")
    user, by, k = (texts[name] or "" for name in ("user", "by", "k"))
    file = RowsFile(existing(data, "data"), user, by, delimiter, quote, not no_header)
    with file.relation() as rows:
        names = file.keys(rows.columns)
        cut_counts = cut_rows(
            rows,
            user=user,
            by=names,
            k=k,  # type: ignore[arg-type]  # read exactly, as every option is
            public=public_data,
            epsilon=texts["epsilon"],
            most=texts["most"],  # type: ignore[arg-type]
        )
    share = (
        f" ({100 * cut_counts.pairs_left_out / cut_counts.pairs:.1f} %)"
        if cut_counts.pairs > 0
        else ""
    )
    named = {
        "users with more than k keys": str(cut_counts.users),
        "pairs of user and key": str(cut_counts.pairs),
        "pairs left out": f"{cut_counts.pairs_left_out}{share}",
    }
    text = facts(f"left out by k = {cut_counts.k}", named)
    numbers = {"users_with_more": cut_counts.users, "pairs": cut_counts.pairs}
    fields: dict[str, object] = {
        "k": cut_counts.k,
        **numbers,
        "pairs_left_out": cut_counts.pairs_left_out,
    }
    if cut_counts.guarantee is not None:
        text += f"\nguarantee: {cut_counts.guarantee}"
        fields["guarantee"] = cut_counts.guarantee.as_dict()
    return Answer(fields, text)
