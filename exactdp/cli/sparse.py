"""exactdp local sparse: means of sparse vectors in the local model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from exactdp.cli import parameters as opt
from exactdp.cli.answers import Answer, answering, facts, table
from exactdp.cli.options import options, overwrite_option, statement_option
from exactdp.cli.output import new_file, write_file
from exactdp.cli.pictures import Picture, new_picture
from exactdp.cli.publishing import save_statement
from exactdp.cli.reading import column, existing, table_in
from exactdp.errors import Described, InvalidParameter, one_line
from exactdp.parameters import decimal_text, integer
from exactdp.progress import counted

if TYPE_CHECKING:
    from exactdp.local import SparseVectorMean
    from exactdp.local.sparse import Means
    from exactdp.statement import Statement

_MECHANISM_OPTIONS = (
    opt.LEVEL,
    opt.L,
    opt.DELTA,
    opt.HASHES,
    opt.USERS,
    opt.BINS,
    opt.CLIP,
    opt.ENTRIES,
    opt.SHARE_USERS,
)


@click.group(no_args_is_help=True)
def sparse() -> None:
    """Collect means of sparse vectors, such as ratings: plan, report, estimate.

    A sparse vector has values for few of very many items, for example a user's ratings. Each user's
    report is private by itself.
    """


@sparse.command(
    epilog="Example: exactdp local sparse plan --d 100000 --k 64 --epsilon 1 --level user"
)
@options(opt.D, opt.K_ENTRIES, opt.EPSILON, optional=(*_MECHANISM_OPTIONS, opt.SAMPLE))
@click.option("--all-items", is_flag=True, help="With --sample: least mean error of all items.")
@statement_option
@answering
def plan(statement: Path | None, all_items: bool, **texts: str | None) -> Answer:
    """Print bins, clipping and noise for a guarantee, and the errors of all schemes with it.

    The clipping is best for the worst vectors, unless --entries and --share state how vectors are,
    or --sample is a public sample of them. The guarantee does not rest on what is stated. A plan
    keeps the largest mean right, or, with --all-items, makes the mean square error of all items
    small.
    """
    sample = texts.pop("sample")
    if sample is not None:
        from exactdp.local.sparse import Stated

        items = integer("d", texts["d"] or 0, least=1) if all_items else None
        stated = Stated.of(_vectors(existing(sample, "sample")), items)
        texts |= {"entries": str(stated.entries), "share": decimal_text(stated.share)}
    m = _mechanism(texts)
    with counted("planning"):
        others = _others(m)
    save_statement(statement, lambda: _statement(m))
    errors = {
        name: (float(x.mean_square(m.users)) ** 0.5, x.stated_error(m.users, m.stated) ** 0.5)
        for name, x in {"this plan": m, **others}.items()
    }
    own, as_stated = errors.pop("this plan")
    plan_facts = _facts(m)
    rows = [
        [name, f"{worst:.4g}", f"{typical:.4g}", f"{typical / as_stated:.2f}", str(bits)]
        for name, worst, typical, bits in (
            ("this plan", own, as_stated, m.bits),
            *((name, *errors[name], other.bits) for name, other in others.items()),
        )
    ]
    header = ["scheme", "error, worst vectors", "as stated", "of this plan", "bits a report"]
    title = f"root mean square error of a mean from {m.users} users; {_stated(m)}"
    text = "\n".join(
        [
            facts("plan", plan_facts),
            f"guarantee of each report: {m.guarantee}",
            table(title, header, rows),
        ]
    )
    compared = {
        name: {"error": errors[name][0], "stated_error": errors[name][1], "bits": x.bits}
        for name, x in others.items()
    }
    both = {"error": own, "stated_error": as_stated}
    promise = m.guarantee.as_dict()
    return Answer({**plan_facts, **both, "others": compared, "guarantee": promise}, text)


def _stated(m: SparseVectorMean) -> str:
    if m.entries is None and m.share == 1:
        return "nothing is stated about the vectors"
    share = f"no mean of an item above {float(m.share):.3g}"
    return f"stated: {m.stated.entries} entries of +-1, {share}"


def _statement(m: SparseVectorMean) -> Statement:
    from exactdp.statement import released

    return released(m.guarantee, m)


def _facts(m: SparseVectorMean) -> dict[str, object]:
    plan = m.plan
    clip = None if plan.clip is None else plan.clip / plan.grid
    biases = f"{float(plan.bias):.3g} for independent signs, {float(m.bias):.3g} for any items"
    return {
        "bins": plan.bins,
        "clip": "none" if clip is None else f"{clip:g}",
        "noise of a bin": f"{float(plan.noise) ** 0.5:.5g}",
        "grid": f"1/{plan.grid}",
        "bias at most": f"{float(plan.bias):.3g}" if plan.bias == m.bias else biases,
        "bits of a report": m.bits,
    }


def _others(m: SparseVectorMean) -> dict[str, Any]:
    """The schemes with the same or a stronger guarantee; none if d is too large."""
    from exactdp.local.sparse import Harmony, KFold, NaiveLaplace, OneBit, Pckv, PckvUnary, Sampled
    from exactdp.local.sparse.baseline import MOST_ITEMS

    if m.d > MOST_ITEMS:
        return {}
    basic: dict[str, Any] = {"d": m.d, "k": m.k, "epsilon": m.epsilon}
    others: dict[str, Any] = {"Harmony": Harmony(**basic), "PCKV": Pckv(**basic)}
    others["PCKV, unary"] = PckvUnary(**basic)
    others["one bit"] = OneBit(**basic, users=m.users, entries=m.entries, share=m.share)
    level = "event" if m.level == "event" else "user"
    if level == "event":
        others["k-fold repetition"] = KFold(**basic)
    others["sampling"] = Sampled(**basic, level=level)
    others["dense Laplace"] = NaiveLaplace(**basic, level=level)
    return others


@sparse.command(
    epilog="Example: exactdp local sparse report ratings.csv --d 1682 --k 100 --epsilon 1 "
    "--level event --output reports.edl"
)
@click.argument("file")
@options(opt.D, opt.K_ENTRIES, opt.EPSILON, opt.OUTPUT, optional=_MECHANISM_OPTIONS)
@overwrite_option
@statement_option
@answering
def report(
    file: str, output: str, overwrite: bool, statement: Path | None, **texts: str | None
) -> Answer:
    """Randomize vectors from a CSV file with the header user,item,value; values are -1 to 1.

    The randomness is the operating system's. In a deployment, every user runs this command on
    their own vector.
    """
    from exactdp.samplers import SystemSource

    target = new_file("output", output, (".edl",), overwrite=overwrite)
    m = _mechanism(texts)
    with counted("randomizing"):
        vectors = _vectors(existing(file))
        reports = m.report_many(vectors, SystemSource())
        write_file(target, m.reports_to_bytes(reports), overwrite=overwrite)
    save_statement(statement, lambda: _statement(m))
    summary = {"reports": len(reports), "bits of each": m.bits, "output": output}
    text = facts("randomized", summary) + f"\nguarantee of each: {m.guarantee}"
    return Answer({**summary, "guarantee": m.guarantee.as_dict()}, text)


@sparse.command(
    epilog="Example: exactdp local sparse estimate state.edl --top 10 --picture top.svg"
)
@click.argument("file")
@options(optional=(opt.TOP_ESTIMATES, opt.ITEMS, opt.BETA, opt.PICTURE))
@answering
def estimate(
    file: str, top: str | None, items: str | None, beta: str | None, picture: str | None
) -> Answer:
    """Estimate means from a file of reports or a state (exactdp local aggregate merges files)."""
    from exactdp.local import SparseVectorMean
    from exactdp.local.report_files import mechanism_of, state_of

    target = None if picture is None else new_picture(picture, "picture")
    data = existing(file).read_bytes()
    m = mechanism_of(data)
    if not isinstance(m, SparseVectorMean):
        raise InvalidParameter("file", type(m).__name__, "reports of sparse vectors")
    with counted("estimating"):
        means = state_of(data, m).estimate()
    chosen = _chosen(means, top, items)
    within = float(means.accuracy(beta or "0.05"))
    if target is not None:
        _draw(target, means, chosen)
    cells = [[str(x), f"{mean:.6f}", f"{means.deviation:.6f}"] for x, mean in chosen]
    text = table(f"means from {means.n} reports", ["item", "mean", "standard error"], cells) + (
        f"\nthe error of each mean is at most {within:.6f}, except with probability "
        f"{beta or '0.05'}"
    )
    errors = {"standard_error": means.deviation, "beta": beta or "0.05", "within": within}
    rows = [{"item": x, "mean": mean} for x, mean in chosen]
    return Answer({**errors, "reports": means.n, "means": rows}, text)


def _chosen(means: Means, top: str | None, items: str | None) -> list[tuple[int, float]]:
    if (top is None) == (items is None):
        raise InvalidParameter("top, items", (top, items), "at most one of the two")
    if top is not None:
        return means.top(integer("top", top, least=1))
    assert items is not None
    wanted = [integer("item", cell, least=0) for cell in column(existing(items, "items"))]
    return list(zip(wanted, means[wanted].tolist(), strict=True)) if wanted else []


def _mechanism(texts: dict[str, str | None]) -> SparseVectorMean:
    from exactdp.local import SparseVectorMean

    present: dict[str, Any] = {
        "L" if name == "l" else name: value for name, value in texts.items() if value is not None
    }
    return SparseVectorMean(**present)


def _vectors(path: Path) -> list[dict[int, str]]:
    """One mapping of items to values per user, in the order of the users' first rows."""
    vectors: dict[str, dict[int, str]] = {}
    for user, item_text, value in table_in(path, ("user", "item", "value")):
        own, item = vectors.setdefault(user, {}), integer("item", item_text, least=0)
        if item in own:
            raise InvalidParameter(
                f"item of user {one_line(user)}", Described(f"{item} twice"), "listed once"
            )
        own[item] = value
    return list(vectors.values())


def _draw(path: Path, means: Means, chosen: list[tuple[int, float]]) -> None:
    """Draw the means with bars of two standard errors."""
    title = f"{len(chosen)} means from {means.n} reports"
    picture = Picture("light", x="mean", y="item", title=title)
    places = list(range(len(chosen), 0, -1))
    values = [mean for _, mean in chosen]
    picture.axes.errorbar(values, places, xerr=2 * means.deviation, fmt="o", color="#0072b2")
    picture.axes.set_yticks(places, [str(x) for x, _ in chosen])
    picture.explain("Bars: two standard errors, for the worst vectors")
    picture.save(path)
