"""exactdp release counts, keys, gshm and csh: from rows of users and keys, or from counts."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import click

from exactdp.cli import parameters as opt
from exactdp.cli.pictures import Line, Picture, new_picture
from exactdp.cli.publishing import TABLES, accuracy, relation_writer, table_writer
from exactdp.cli.reading import counts_in, existing, listed, listed_rows
from exactdp.cli.release import Publication, releasing
from exactdp.cli.release_values import errors_of, means_in, quantiles_in, rank_errors_of, sums_in
from exactdp.cli.rows import RowsFile, date_column, dialect_options
from exactdp.errors import Described, InvalidParameter
from exactdp.extras import optional
from exactdp.parameters import decimal_text, integer

#: Attributes that may hold the noise of a count; the first that a mechanism has is taken.
_SCALES = ("scale", "sigma", "count_sigma")

#: Options that hold integers.
_WHOLE = ("k", "top", "times", "lower")

#: Texts of a statement have at most 2000 characters, with the words around an option.
_LONGEST_TEXT = 1000


def _published(
    name: str,
    data: str,
    target: Path,
    *,
    user: str | None,
    by: str | None,
    sums: str | None = None,
    means: str | None = None,
    quantiles: str | None = None,
    public: str | None = None,
    budget: Any = None,
    picture: str | None = None,
    no_header: bool,
    delimiter: str,
    quote: str,
    **option_texts: str | None,
) -> Publication:
    """A release from rows; or from counts, whose maker must ensure the bound k."""
    path = existing(data, "data")
    picture_path = None if picture is None else new_picture(picture, "picture")
    present: dict[str, Any] = {n: value for n, value in option_texts.items() if value is not None}
    if ("sigma" in present) != ("tau" in present):
        raise click.UsageError("sigma and tau must be given together, or neither")
    if (user is None) != (by is None) or ((sums or means or quantiles) and user is None):
        raise click.UsageError("user and by must be given together, and for sums")
    known_file = None if public is None else existing(public, "public")
    if user is None or by is None:
        return _from_counts(_CLASSES[name], path, target, present, known_file)
    options = {"user": user, "by": by, "sums": sums, "means": means, "quantiles": quantiles}
    texts = {key: text for key, text in options.items() if text}
    _check_texts(texts)
    if target.suffix == ".parquet":
        optional("pyarrow.parquet")  # raises MissingExtra before anything is paid
    file = RowsFile(path, user, by, delimiter, quote, not no_header)
    values: dict[str, Any] = {"sums": sums_in(sums), "means": means_in(means)}
    both = {**values["sums"], **values["means"]}
    if name == "counts":
        values["quantiles"] = quantiles_in(quantiles)
    numbers = {column for each in values.values() for column in each}
    with file.relation(numbers) as rows:
        names = file.keys(rows.columns)
        known = None if known_file is None else _as_keys(rows, names, known_file)
        for key in _WHOLE:
            if key in present:
                present[key] = integer(key, present[key], least=1)
        question: dict[str, Any] = {"user": user, "by": names, "passes": file.passes}
        if len(names) == 1:
            question["by"] = names[0]
        released = _released(name, rows, question, present, values, known, budget)
        header = released.frame.columns
        cells = [tuple(map(_number, row)) for row in released.frame.fetchall()]
    mechanism, about = released.of_counts, {**texts, "by": ", ".join(names)}
    facts = {
        **_noise(mechanism),
        **errors_of(both, getattr(released, "errors", {})),
        **rank_errors_of(values.get("quantiles", {}), getattr(released, "errors", {})),
        **({"chosen": str(released.choice)} if released.choice else {}),
    }
    if getattr(released, "base", None) is not None:
        facts["next largest count"] = decimal_text(released.base)
    unit = "keys" if name == "keys" else "counters"
    facts |= _halves(mechanism) | _why_none(cells, known)
    return Publication(
        released.mechanism,
        released.guarantee,
        (len(cells), unit),
        relation_writer(target.suffix, released.frame, cells),
        {**facts, **_not_noise(mechanism, present.get("k", getattr(mechanism, "k", None)))},
        {"bounds": released.bounds, "about": about, "loss": released.loss},
        then=partial(_draw, picture_path, header, cells, mechanism),
    )


def _check_texts(texts: dict[str, str]) -> None:
    """Raise InvalidParameter for a text that the statement of the release cannot hold."""
    for name, text in texts.items():
        if len(text) > _LONGEST_TEXT:
            allowed = f"at most {_LONGEST_TEXT} characters, so that the privacy statement holds it"
            raise InvalidParameter(name, Described(f"{len(text)} characters"), allowed)


def _released(
    name: str,
    rows: Any,
    question: dict[str, Any],
    present: dict[str, Any],
    values: dict[str, Any],
    known: list[Any] | None,
    budget: Any,
) -> Any:
    from exactdp import frames, mechanisms
    from exactdp.samplers import SystemSource

    if name == "keys":
        return frames.keys(rows, **question, **present, budget=budget)
    if "sigma" in present:
        totals = (total for name, each in values["sums"].items() for total in each.totals(name))
        largest = tuple(total.half for total in totals)
        kind = getattr(mechanisms, _CLASSES[name] + ("WithSums" if largest else ""))
        mechanism = kind(**present, **({"largest": largest} if largest else {}))
        return frames.release_by(
            rows, **question, **values, mechanism=mechanism, source=SystemSource(), keys=known
        )
    if name != "counts":
        present = {"mechanism": {"csh": "top-k"}.get(name, name), **present}
    return frames.release(rows, **question, **present, **values, keys=known, budget=budget)


def _from_counts(
    class_name: str, path: Path, target: Path, present: dict[str, Any], known_file: Path | None
) -> Publication:
    from exactdp import mechanisms
    from exactdp.samplers import SystemSource

    true = {x: integer(f"count of {x}", c, least=0) for x, c in counts_in(path)}
    if known_file is not None:
        keys = listed(known_file)
        true = {x: c for x, c in true.items() if x in keys}
    kind = getattr(mechanisms, class_name)
    mechanism = kind(**present) if "sigma" in present else kind.for_target(**present)
    counters = mechanism.release(true, SystemSource()).counters
    rows = list(zip(counters.elements, map(_number, counters.counts()), strict=True))
    write = table_writer(target.suffix, ["element", "count"], rows)
    facts = {**_noise(mechanism), **_not_noise(mechanism, None)}
    return Publication(mechanism, mechanism.guarantee, (len(rows), "counters"), write, facts)


def _number(value: Any) -> Any:
    """Halves as floats, whole numbers as integers; texts and dates as they are."""
    if isinstance(value, str | date | int):
        return value
    return int(value) if value == int(value) else float(value)


def _noise(mechanism: Any) -> dict[str, str]:
    """The public facts about the noise; the number of counters is private."""
    facts = {}
    if hasattr(mechanism, "tau"):
        facts["released above"] = decimal_text(1 + mechanism.tau)
    if hasattr(mechanism, "half"):
        facts["released with probability 1/2"] = f"keys of {mechanism.half} users"
    sigma = next((s for s in (getattr(mechanism, n, None) for n in _SCALES) if s is not None), None)
    if sigma is not None:
        facts["sigma"] = f"{float(sigma):.6g}"
    if hasattr(mechanism, "accuracy"):
        error = accuracy(mechanism).get("error of one count (95 %)")
        facts |= {"noise of one count (95 %)": error} if error else {}
    return facts


def _not_noise(mechanism: Any, k: int | None) -> dict[str, str]:
    """The errors of counts other than noise. k: keys per user that count, if rows were read."""
    name = type(mechanism).__name__
    if name == "TopK":
        said = f"the next count after the {mechanism.top} largest is subtracted from all"
        return {"besides the noise": said}
    if k is None or name == "TopKWithBase":
        return {}
    said = f"keys beyond {k} of a user are left out: exactdp release cut"
    return {"besides the noise": said}


def _halves(mechanism: Any) -> dict[str, str]:
    """Why counts are multiples of 1/2, where a part of the noise is shared by all keys."""
    from exactdp.mechanisms import CorrelatedGaussian, TopK

    if not isinstance(mechanism, TopK | CorrelatedGaussian):
        return {}
    return {"counts": "multiples of 1/2: noise (Z_i + Z)/2, an integer of each key and one of all"}


def _why_none(cells: list[Any], known: list[Any] | None) -> dict[str, str]:
    """What to do if nothing was released, which the reader of an empty file knows."""
    if cells:
        return {}
    if known:
        said = "no listed key has enough users: give up the sums, or take fewer and larger keys"
    else:
        said = (
            "no key has enough users for this noise. Larger keys (months in place of days), a "
            "larger epsilon or delta, a smaller k, fewer sums, or a public list of keys (--public) "
            "release more; exactdp release advise says how many users a key needs"
        )
    return {"why none": said}


def _draw(path: Path | None, header: list[str], rows: list[Any], mechanism: Any) -> None:
    """The released counts, largest first, with the error of each by noise."""
    if path is None:
        return
    place = header.index("count")
    counts = sorted((float(row[place]) for row in rows), reverse=True)
    picture = Picture("light", x="keys, largest count first", y="released count", title="")
    error = mechanism.accuracy("0.05").per_query if hasattr(mechanism, "accuracy") else 0
    picture.explain(
        f"Band: noise, within {error} for 95 % of the counts; what k leaves out is extra."
    )
    if counts:
        across = range(1, len(counts) + 1)
        picture.axes.fill_between(
            across, [c - error for c in counts], [c + error for c in counts], alpha=0.25
        )
        picture.draw([Line(f"{len(counts)} keys", across, counts)])
    picture.save(path)


def _as_keys(rows: Any, names: list[str], file: Path) -> list[Any]:
    """A public list of keys, with the types of their columns; raises InvalidParameter."""
    types = dict(zip(rows.columns, map(str, rows.types), strict=True))
    kinds = ["DATE" if date_column(n) in types else types.get(n, "VARCHAR") for n in names]
    converts = [_CONVERTS.get(kind, int) for kind in kinds]
    lines = listed_rows(file, len(names))
    try:
        keys = {tuple(f(cell) for f, cell in zip(converts, row, strict=True)) for row in lines}
    except ValueError:
        allowed = "dates such as 2013-01-31" if "DATE" in kinds else "values of the column"
        raise InvalidParameter("public", "others", allowed) from None
    return sorted(key if len(names) > 1 else key[0] for key in keys)


_CONVERTS: dict[str, Callable[[str], Any]] = {"VARCHAR": str, "DATE": date.fromisoformat}


_CLASSES = {"gshm": "GSHM", "csh": "TopK", "top-k": "TopK"}

_SERIES = (opt.TIMES, opt.BUDGET, opt.NOTE)
_ROWS = "--user uid --by url --k 10 --epsilon 0.35 --delta 1e-5 --output out.csv"
_LARGEST = _ROWS.replace("--k", "--top")

#: Command -> required options, further ones, help, example.
_TABLE = {
    "counts": (
        (opt.USER, opt.BY, opt.EPSILON, opt.DELTA),
        (
            opt.K_KEYS,
            opt.TOP_COUNTS,
            opt.MECHANISM_COUNTS,
            opt.SUMS,
            opt.MEANS,
            opt.QUANTILES,
            opt.PUBLIC_KNOWN,
            opt.SELECTION,
            opt.SHARE_COUNTS,
            opt.LOWER,
            opt.PICTURE,
            *_SERIES,
        ),
        "Numbers of users per key, with sums, means and quantiles: by the mechanism with the least "
        "error that answers the question.",
        f"visits.csv {_ROWS}",
    ),
    "keys": (
        (opt.USER, opt.BY, opt.K_KEYS, opt.EPSILON, opt.DELTA),
        (opt.MECHANISM_KEYS, *_SERIES),
        "Which keys occur, without counts. Numbers of users decide alone (geometric), or weights "
        "that users give to their keys, in one or more rounds (weighted, sips, mad2r).",
        "posts.csv --user uid --by word --k 1 --epsilon 1 --delta 1e-6 --output words.csv",
    ),
    "gshm": (
        (opt.K, opt.EPSILON, opt.DELTA),
        (opt.USER, opt.BY, opt.SIGMA, opt.TAU, opt.LOWER, opt.PUBLIC, opt.SUMS),
        "All counts of users above a threshold, of at most k keys per user: Gaussian sparse "
        "histogram (Lebeda, Retschmeier).",
        f"visits.csv {_ROWS}",
    ),
    "csh": (
        (opt.TOP, opt.EPSILON, opt.DELTA),
        (opt.USER, opt.BY, opt.SIGMA, opt.TAU, opt.LOWER, opt.PUBLIC, opt.SUMS),
        "The largest counts of users, less the next one, where users are not bounded: correlated "
        "Gaussian sparse histogram (CSH; Lebeda and Retschmeier, Algorithms 2 to 4).",
        f"visits.csv {_LARGEST}",
    ),
    "top-k": (
        (opt.TOP, opt.EPSILON, opt.DELTA),
        (opt.USER, opt.BY, opt.SIGMA, opt.TAU, opt.LOWER, opt.PUBLIC, opt.SUMS),
        "Another name of csh.",
        f"visits.csv {_LARGEST}",
    ),
}
for _name, (_required, _optional, _text, _example) in _TABLE.items():
    releasing(_name, _required, _optional, _text, _example, *TABLES, more=dialect_options)(
        partial(_published, _name)
    )
