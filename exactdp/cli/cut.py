"""exactdp release cut: the pairs of user and key that a bound on keys per user leaves out."""

from __future__ import annotations

import click

from exactdp.cli.answers import Answer, answering, facts
from exactdp.cli.options import options
from exactdp.cli.reading import existing
from exactdp.cli.rows import RowsFile, dialect_options


@click.command(
    epilog="Example: exactdp release cut visits.csv --user uid --by url --k 10 --epsilon 0.1 "
    "--most 100"
)
@click.argument("data")
@options("user by k", "epsilon:share most")
@click.option("--public-data", is_flag=True, help="The data are public: print exact numbers.")
@dialect_options
@answering
def cut(
    data: str,
    public_data: bool,
    no_header: bool,
    delimiter: str,
    quote: str,
    **given: str | None,
) -> Answer:
    """Count what a bound on the keys per user leaves out.

    A release with --k drops pairs of user and key: an error in addition to the noise.

    Give either --public-data, if the data (or a representative sample) are public; or --epsilon, a
    part of the privacy budget for noisy numbers, and --most, the largest number of pairs per user
    that are counted.
    """
    from exactdp.frames import cut as cut_rows

    if public_data == (given["epsilon"] is not None) or public_data == (given["most"] is not None):
        raise click.UsageError("give either --public-data, or --epsilon and --most")
    user, by, k = (given[name] or "" for name in ("user", "by", "k"))
    file = RowsFile(existing(data, "data"), user, by, delimiter, quote, not no_header)
    with file.relation({}) as rows:
        names = file.keys(rows.columns)
        found = cut_rows(
            rows,
            user=user,
            by=names,
            k=k,  # type: ignore[arg-type]  # read exactly, as every option is
            public=public_data,
            epsilon=given["epsilon"],
            most=given["most"],  # type: ignore[arg-type]
        )
    share = f" ({100 * found.pairs_left_out / found.pairs:.1f} %)" if found.pairs > 0 else ""
    named = {
        "users with more than k keys": str(found.users),
        "pairs of user and key": str(found.pairs),
        "pairs left out": f"{found.pairs_left_out}{share}",
    }
    text = facts(f"left out by k = {found.k}", named)
    numbers = {"users_with_more": found.users, "pairs": found.pairs}
    told: dict[str, object] = {"k": found.k, **numbers, "pairs_left_out": found.pairs_left_out}
    if found.guarantee is not None:
        text += f"\nguarantee: {found.guarantee}"
        told["guarantee"] = found.guarantee.as_dict()
    return Answer(told, text)
