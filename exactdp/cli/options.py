"""Options shared by the subcommands. Values stay text, which the library reads exactly."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from exactdp.cli.output import new_file
from exactdp.errors import shown

_Command = TypeVar("_Command", bound=Callable[..., Any])


#: Name -> allowed values, as error messages say it; help; and what is taken if the option is left
#: out. Numbers are read exactly: 0.35, 1e-5 and 7/20 are valid. A meaning that only some commands
#: share follows a colon.
_PARAMETERS: dict[str, tuple[str, ...]] = {
    "k": (
        "an integer >= 1",
        "k (contributions): largest number of counters (keys) to which one user contributes.",
    ),
    "k:keys": (
        "an integer >= 1",
        "k (contributions): largest number of keys to which one user contributes; which of more "
        "count is random.",
    ),
    "k:values": ("an integer >= 2", "Number of values, which are 0 to k - 1."),
    "k:entries": ("an integer >= 1", "Largest number of non-zero entries of a vector."),
    "sigma": ("a number > 0", "Standard deviation of each counter's own noise."),
    "tau": ("a number >= 0", "Counters are released above 1 + tau."),
    "rho": ("a number >= 0", "Parameter of zero-concentrated differential privacy (zCDP)."),
    "rule": (
        "optimal or simple",
        "optimal: best order (Canonne, Kamath, Steinke); simple: rho + 2 sqrt(rho ln(1/delta)).",
        "optimal",
    ),
    "epsilon": ("a number >= 0", "Privacy parameter epsilon."),
    "delta": ("a number > 0 and < 1", "Privacy parameter delta."),
    "sensitivity": ("a number > 0", "l2 sensitivity of the query.", "1"),
    "columns": ("an integer >= 0", "Columns of sums released with the counters."),
    "spread": ("a number > 0", "Noise of a column's sums, in units of its limit times sigma.", "1"),
    "n": ("an integer >= 1", "Number of rows or users, which is public."),
    "threshold": ("an integer >= 0", "Noisy counts above the threshold are released."),
    "resolution": ("a number between 1e-15 and 0.1", "Relative step between candidates.", "1e-9"),
    "noise": ("discrete or continuous", "Which noise; what is released is discrete.", "discrete"),
    "correlation": (
        "a number > 0",
        "kappa: the shared noise has variance sigma^2/kappa.",
        "the square root of the sparsity, or of the number of keys",
    ),
    "contributions": (
        "an integer >= 1",
        "Largest number of counters (keys) to which one user contributes.",
        "the sparsity, or all keys",
    ),
    "sparsity": (
        "an integer >= 1",
        "Largest number of non-zero counters of the whole histogram, whatever the data are.",
    ),
    "keys": ("an integer >= 1", "Number of keys of the public list."),
    "top": ("an integer >= 1", "Number of largest counters that are released."),
    "points": ("an integer >= 2", "Number of points of a curve.", "40"),
    "points:curve": ("an integer >= 2", "Largest number of points of a curve.", "24"),
    "points:steps": ("an integer >= 2", "Number of points of a curve.", "16"),
    "sparsities": (
        "integers separated by commas",
        "Values of the sparsity.",
        "1,10,100,1000,10000,100000,1000000",
    ),
    "lower": ("an integer >= 1", "Counters with a lower count are dropped first.", "1"),
    "sigma2": ("a number > 0", "Parameter sigma^2 of the discrete Gaussian."),
    "scale": ("a number > 0", "Scale of the discrete Laplace noise (1/epsilon)."),
    "p": ("a number > 0 and < 1", "Success probability."),
    "count": ("an integer >= 1", "Number of draws.", "1000"),
    "seed": (
        "an integer >= 0",
        "Reproducible draws, never for a release.",
        "the operating system's randomness",
    ),
    "seed:matrix": (
        "an integer >= 0",
        "Public seed of the compressive matrix, the same for all users.",
    ),
    "output": ("a file name", "New file; its ending determines the format (see the example)."),
    "user": ("a column name", "Column of users; the file then holds rows instead of counts."),
    "by": ("column names", "Column of keys whose users are counted; separate several by commas."),
    "epsilon:share": ("a number > 0", "Part of the privacy budget for noisy numbers."),
    "most": (
        "an integer > k",
        "With --epsilon: largest number of pairs of one user that are counted.",
    ),
    "most:keys": ("an integer >= 2", "With --spend: larger numbers of keys count as this.", "100"),
    "prior": ("number:weight pairs", "How many keys users have, as you expect it: 1:5,3:3,10:2."),
    "spend": (
        "a number > 0 and < epsilon",
        "Part of epsilon for a noisy look at how many keys users have.",
    ),
    "count:advice": ("an integer >= 1", "Size of a count whose error is compared.", "1000"),
    "sums": (
        "column:limit pairs",
        "Columns to sum, with the limit or range of a user's value, and the step to which values "
        "that are no integers are rounded: a:10,b:0..600,c:0..9/0.01.",
    ),
    "means": (
        "column:limit pairs",
        "Columns of which the means over users are released: b:0..600.",
    ),
    "public:values": ("a file name", "List of all values, one per line, instead of --k."),
    "public": ("a file name", "List of elements, one per line; no others are released."),
    "public:known": (
        "a file name",
        "CSV without a header, a key per line: all are released, counts of 0 too, and no others; "
        "with sums or means those above the threshold.",
    ),
    "top:counts": ("an integer >= 1", "Number of largest counts to release.", "all"),
    "mechanism:counts": (
        "auto, gshm, known, correlated, top-k-with-base or csh",
        "How noise is added.",
        "auto",
    ),
    "mechanism:keys": (
        "auto, geometric, weighted, sips or mad2r",
        "How keys are selected; auto: geometric or weighted.",
        "auto",
    ),
    "selection": (
        "weighted, sips or mad2r",
        "Select the keys in rounds of weights, then count the users of these keys.",
    ),
    "share:counts": (
        "a number > 0 and < 1",
        "With --selection: part of the noise budget for the counts.",
        "1/2",
    ),
    "times": ("an integer >= 1", "Number of such releases that keep the target together.", "1"),
    "engine": (
        "pipelinedp, opendp, presto, bigquery or tumult",
        "Engine that runs the queries and draws the noise.",
    ),
    "budget": ("a file name", "Budget that pays for the release (see release budget)."),
    "counting": (
        "sums, renyi or gaussian",
        "How costs add up: sums for few releases, renyi for many, gaussian for noise alone.",
        "sums",
    ),
    "note": ("a text", "What the budget says about the release; the same for a series."),
    "universe": ("an integer >= 1", "Number of possible elements, 0 to universe - 1."),
    "text": ("an integer >= 0", "Elements are texts of at most this many bytes."),
    "length": ("an integer >= n", "Number of released bins.", "5 n/4"),
    "beta": ("a number > 0 and < 1", "Probability that an error bound fails.", "0.05"),
    "samples": ("an integer >= 1", "Largest number of outputs to draw.", "1000000"),
    "alpha": ("a number > 0 and < 1", "Probability of a false alarm.", "0.01"),
    "canaries": (
        "an integer >= 1",
        "Records that were included in the training data by a coin flip each.",
    ),
    "guesses": ("an integer >= 1", "Number of coin flips that were guessed."),
    "correct": ("an integer >= 0", "Number of correct guesses."),
    "workers": ("an integer >= 1", "Number of processes.", "1"),
    "mechanism": (
        "randomized-response, rappor, permanent-rappor, unary, hashing, subset, hadamard or "
        "compressive",
        "How values are randomized (see exactdp local compare).",
    ),
    "m": ("an integer >= 2", "Number of outputs of the compressive response."),
    "d": ("an integer >= 1", "Items are 0 to d - 1."),
    "level": ("event or user", "Protect one entry of a user (event) or all entries (user)."),
    "L": ("a number > 0", "Instead of --level: protect changes of a user up to this L1 distance."),
    "hashes": ("linear or keyed", "Hash functions; keyed for --delta.", "linear"),
    "users:given": ("an integer >= 1", "Number of users."),
    "sparsity:values": (
        "an integer >= 1",
        "Number of frequent values; all others are taken as rare.",
    ),
    "error:shares": ("a number > 0", "Largest l1 error of all shares."),
    "users": ("an integer >= 1", "Expected number of users.", "100000"),
    "bins": ("an integer >= 1", "Number of bins of a report.", "the best for the error"),
    "clip": ("a number > 0", "Where the sums of a report are clipped.", "the best for the error"),
    "entries": (
        "an integer >= 1",
        "Values of +-1 of a typical user, or the sum of the squares, to choose the clipping.",
        "k",
    ),
    "share:users": (
        "a number > 0 and <= 1",
        "Largest mean of an item, or share of the users with it, to choose the clipping.",
        "1",
    ),
    "sample": ("a file name", "Public sample (user,item,value), for --entries and --share."),
    "items": ("a file name", "List of items to estimate, one per line."),
    "picture": ("a file name", "Picture with error bars: .png, .svg or .pdf."),
    "limit": ("a number > epsilon", "Epsilon of any number of reports (permanent-rappor)."),
    "method": ("unbiased, normalized or projected", "How to estimate.", "projected"),
    "top:estimates": ("an integer >= 1", "Number of largest estimates to print.", "all"),
    "rate": ("a number > 0 and <= 1", "Probability that a user is in the sample of a step."),
    "noise_multiplier": (
        "a number > 0",
        "Standard deviation of the noise divided by the clipping norm.",
    ),
    "sampling": (
        "poisson, truncated, batches or allocated",
        "poisson: independent users; truncated: at most --batch-limit of them; batches: batches of "
        "a fixed size; allocated: each user takes part in one of the 1/rate steps of every epoch.",
        "poisson",
    ),
    "batch_limit": ("an integer >= 1", "Largest size of a sample (--sampling truncated)."),
    "neighbours": (
        "add-remove or replace-one",
        "Data sets compared.",
        "add-remove; replace-one for --sampling batches",
    ),
    "neighbours:composed": ("add-remove or replace-one", "Data sets compared.", "add-remove"),
    "group": ("an integer >= 1", "Size of groups of users to protect together.", "1"),
    "steps": ("an integer >= 1", "Number of steps."),
    "collision": ("a number >= 0", "Probability of a collision at each level.", "1/10"),
    "largest": ("a number > 0", "Largest possible value."),
    "sketch": (
        "the name of a sketch",
        "Sketch of the small values: alp, signed-alp, histogram-alp, log-alp, max-projection.",
        "alp",
    ),
    "rows": ("an integer > 2 k", "Rows of the sketch, each with one bit per level.", "8 k"),
    "price:drawn": ("a number > 0", "alpha: bits are flipped with probability 1/(alpha + 2).", "3"),
    "price": ("a number > 0", "alpha: bits are flipped with probability 1/(alpha + 2).", "8"),
    "price:log": ("a number > 0", "alpha: bits are flipped with probability 1/(alpha + 2).", "20"),
    "width": ("an integer >= 1", "Counts per level.", "near 3/epsilon"),
    "grid": ("a number > 0", "Values are randomly rounded to multiples of this.", "1/64"),
    "stored_from": ("a number > 0", "Smallest value that is stored.", "2 ln(d)/epsilon"),
    "share": ("a number > 0 and < 1", "Part of epsilon for the stored values.", "1/3"),
    "theme": ("light or dark", "The background is transparent.", "light"),
    "analysis": ("the name of an analysis", "How delta is bounded."),
}


#: Options for numbers that could all be meant by --k.
_BOUNDS = ("sparsity", "keys", "top", "contributions")

#: How the allowed values of an option begin -> what --help shows in the place of the value.
_KINDS = {
    "an integer": "INTEGER",
    "a number": "NUMBER",
    "integers": "INTEGER,...",
    "a file": "FILE",
    "a column": "COLUMN",
    "column names": "COLUMN,...",
    "column:limit": "COLUMN:INTEGER,...",
    "number:weight": "INTEGER:NUMBER,...",
    "a text": "TEXT",
    "the name": "NAME",
}


def options(
    required: str, optional: str = "", analyses: tuple[str, ...] = ()
) -> Callable[[_Command], _Command]:
    """A decorator that adds options by name; their values are text, or None if not given.

    required, optional: names separated by spaces. A meaning that only some commands share follows
    a colon: k:values is --k, too. analyses: the values of --analysis, the default first.
    """

    def decorate(command: _Command) -> _Command:
        for name in reversed(optional.split()):
            allowed, text, default = (*_PARAMETERS[name], "")[:3]
            if name == "analysis":
                allowed, default = " or ".join(analyses), analyses[0]
            command = _option(name, allowed, text, default)(command)
        for name in reversed(required.split()):
            command = _option(name, *_PARAMETERS[name][:2])(command)
        names = [*required.split(), *optional.split()]
        if bounds := [name for name in _BOUNDS if name in names]:
            command = _without_k(bounds)(command)
        return command

    return decorate


def statement_option(command: _Command) -> _Command:
    """--statement: the path of a new file, or None."""

    def path(_context: click.Context, _option: click.Parameter, name: str | None) -> Path | None:
        return None if name is None else new_file("statement", name, (".json",))

    text = "New JSON file: a privacy statement, which anybody can check (see exactdp statement)."
    return click.option("--statement", metavar="FILE", callback=path, help=text)(command)


def one_pair_option(command: _Command) -> _Command:
    """--one-pair."""
    text = (
        "State that one pair of neighbours attains all releases; without it the statement of "
        "several releases claims upper bounds only."
    )
    return click.option("--one-pair", is_flag=True, help=text)(command)


def overwrite_option(command: _Command) -> _Command:
    """--overwrite."""
    text = "Replace output files that exist."
    return click.option("--overwrite", is_flag=True, help=text)(command)


def _option(
    name: str, allowed: str, text: str, default: str | None = None
) -> Callable[[_Command], _Command]:
    """An option; default: what --help says is taken without it, None if it is required."""
    name = name.partition(":")[0]
    flag = "--" + name.replace("_", "-")

    def once(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> str | None:
        if len(values) > 1:
            joined = " and ".join(shown(value) for value in values)
            raise click.UsageError(f"{name} must be given once, got {joined}")
        if default is None and not values:
            raise click.UsageError(f"{name} must be {allowed}, got nothing (missing {flag})")
        return values[0] if values else None

    metavar, bounds = _kind(allowed)
    taken = "required" if default is None else default and f"default: {default}"
    notes = "; ".join(filter(None, (bounds, taken)))
    said = f"{text}  [{notes}]" if notes else text
    return click.option(flag, multiple=True, callback=once, metavar=metavar, help=said)


def _without_k(bounds: list[str]) -> Callable[[_Command], _Command]:
    """A hidden --k, whose error says that the number could be one of several bounds."""

    def refuse(_: click.Context, __: click.Parameter, value: str | None) -> None:
        if value is not None:
            from exactdp.accounting.sparse_histograms.bounds import refuse_k

            takes = ["k" if name == "contributions" else name for name in bounds]
            refuse_k({"k": value}, *takes)

    return click.option("--k", hidden=True, expose_value=False, callback=refuse)


def _kind(allowed: str) -> tuple[str, str]:
    """What --help shows for the value of an option, and its bounds.

    >>> _kind("an integer >= 1"), _kind("event or user"), _kind("column names")
    (('INTEGER', '>= 1'), ('event|user', ''), ('COLUMN,...', ''))
    """
    for words, metavar in _KINDS.items():
        if allowed.startswith(words):
            rest = allowed.removeprefix(words).strip()
            return metavar, rest if metavar in ("INTEGER", "NUMBER") else ""
    return re.sub(r", | or ", "|", allowed), ""


def find_local_modules() -> None:
    """Make modules in the current folder importable, as ``python -m`` does."""
    if "" not in sys.path:
        sys.path.insert(0, "")
