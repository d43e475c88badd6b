"""Options shared by the subcommands; values stay text and are read exactly by the library."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click

from exactdp.errors import Described, InvalidParameter, shown

if TYPE_CHECKING:
    from exactdp.audit.promises import Promise

_Command = TypeVar("_Command", bound=Callable[..., Any])

#: name -> (what is allowed, help). Read exactly: 0.35, 1e-5 and 7/20 are all fine.
_PARAMETERS = {
    "k": ("an integer >= 1", "Most counters one user changes; for the CSH, sparsity."),
    "k:values": ("an integer >= 2", "Number of values: they are 0 to k - 1."),
    "k:entries": ("an integer >= 1", "Most entries of a vector that are not 0."),
    "sigma": ("a number > 0", "Standard deviation of each counter's own noise."),
    "tau": ("a number >= 0", "Counters are released above 1 + tau."),
    "epsilon": ("a number >= 0", "Privacy parameter epsilon."),
    "delta": ("a number > 0 and < 1", "Target delta."),
    "sensitivity": ("a number > 0", "l2 sensitivity of the query (default 1)."),
    "columns": ("an integer >= 0", "Columns of sums released with the counters."),
    "spread": ("a number > 0", "Noise of a column's sums, in units of its limit times sigma."),
    "n": ("an integer >= 1", "Number of rows or users, which is public."),
    "threshold": ("an integer >= 0", "Noisy counts above it are released."),
    "resolution": ("a number between 1e-15 and 0.1", "Relative grid step (default 1e-9)."),
    "correlation": ("a number > 0", "kappa: shared noise sigma^2/kappa (default sqrt k)."),
    "contributions": ("an integer >= 1", "Most counters one user changes (default k)."),
    "points": ("an integer >= 2", "Most points of a curve (default 24)."),
    "sparsities": ("integers separated by commas", "Values of k (default 1 to 10^6)."),
    "lower": ("an integer >= 1", "Counters below it are dropped first (default 1)."),
    "sigma2": ("a number > 0", "Parameter sigma^2 of the discrete Gaussian."),
    "scale": ("a number > 0", "Scale of the discrete Laplace noise (1/epsilon)."),
    "p": ("a number > 0 and < 1", "Success probability."),
    "count": ("an integer >= 1", "How many draws (default 1000)."),
    "seed": ("an integer >= 0", "Reproducible draws, never for a release; default: the system's."),
    "seed:matrix": ("an integer >= 0", "Public seed of the compressive matrix, one for everyone."),
    "output": ("a file name", "New file; its ending says what is written (see the example)."),
    "user": ("a column name", "Column of users; with it, the file holds rows, not counts."),
    "by": ("column names", "Column of keys whose users are counted; several, with commas."),
    "epsilon:share": ("a number > 0", "Part of the privacy budget for noisy numbers."),
    "most": ("an integer > k", "Most pairs of one user that are counted, with --epsilon."),
    "sums": ("column:limit pairs", "Sums to release: column:limit of one user's value, commas."),
    "public:values": ("a file name", "List of the values, one per line; k is their number."),
    "public": ("a file name", "List of elements, one per line; others are not released."),
    "universe": ("an integer >= 1", "Number of possible elements, 0 to universe - 1."),
    "text": ("an integer >= 0", "Elements are texts of at most so many bytes."),
    "beta": ("a number > 0 and < 1", "Failure probability of a query (default 0.05)."),
    "samples": ("an integer >= 1", "Outputs that may be drawn in all (default 1000000)."),
    "alpha": ("a number > 0 and < 1", "Probability of a false alarm (default 0.01)."),
    "canaries": ("an integer >= 1", "Records put into the training data by a fair coin each."),
    "guesses": ("an integer >= 1", "How many of the coins were guessed."),
    "correct": ("an integer >= 0", "How many guesses were right."),
    "workers": ("an integer >= 1", "Processes (default 1)."),
    "mechanism": (
        "the name of a mechanism",
        "Which one (see exactdp local compare): randomized-response, rappor, "
        "permanent-rappor, unary, hashing, subset, hadamard, compressive.",
    ),
    "m": ("an integer >= 2", "Outputs of the compressive response."),
    "d": ("an integer >= 1", "Items are 0 to d - 1."),
    "level": ("event or user", "What may change: one entry of a user, or all of them."),
    "L": ("a number > 0", "Instead of --level: the L1 distance by which a user may change."),
    "hashes": ("linear or keyed", "Hash functions (default linear; keyed for --delta)."),
    "users": ("an integer >= 1", "About how many users there will be (default 100000)."),
    "bins": ("a power of two", "Bins of a report (default: chosen by the error)."),
    "items": ("a file name", "List of items, one per line; only these are estimated."),
    "picture": ("a file name", "Picture with error bars: .png, .svg or .pdf."),
    "limit": ("a number > epsilon", "Epsilon of any number of reports (permanent-rappor)."),
    "method": ("unbiased, normalized or projected", "How to estimate (default projected)."),
    "top": ("an integer >= 1", "How many of the largest to print (default all)."),
    "rate": ("a number > 0 and <= 1", "Probability with which a user is in a step's sample."),
    "noise_multiplier": ("a number > 0", "Standard deviation of the noise over the clipping norm."),
    "sampling": ("poisson or batches", "Each user on her own, or batches of a fixed size."),
    "neighbours": (
        "add-remove or replace-one",
        "Data sets compared (default add-remove).",
    ),
    "group": ("an integer >= 1", "Users who take part or not together (default 1)."),
    "steps": ("an integer >= 1", "How many steps."),
    "collision": ("a number >= 0", "Chance of a collision at each level (default 1/10)."),
    "largest": ("a number > 0", "Largest value there can be."),
    "rows": ("an integer > 2 k", "Rows of the sketch, of one bit per level (default 8 k)."),
    "price": ("a number > 0", "alpha: bits are flipped with probability 1/(alpha + 2)."),
    "width": ("an integer >= 1", "Counts per level (default near 3/epsilon)."),
    "grid": ("a number > 0", "Values are rounded to multiples of it at random (default 1/64)."),
    "stored_from": ("a number > 0", "Values from here on are stored (default 2 ln(d)/epsilon)."),
    "share": ("a number > 0 and < 1", "Part of epsilon for the stored values (default 1/3)."),
    "analysis": ("the name of an analysis", "Analysis:"),
}


def options(
    required: str, optional: str = "", analyses: str = ""
) -> Callable[[_Command], _Command]:
    """Options by name, separated by spaces; all of them arrive as text or are left out.

    What an option means in some commands stands after a colon: k:values is --k, too.
    """

    def decorate(command: _Command) -> _Command:
        for name in reversed(optional.split()):
            text = analyses if name == "analysis" else ""
            command = _option(name, required=False, more=text)(command)
        for name in reversed(required.split()):
            command = _option(name, required=True)(command)
        return command

    return decorate


def json_option(command: _Command) -> _Command:
    """--json: one object for machines instead of a table."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")(command)


def promise_options(command: _Command) -> Callable[..., Any]:
    """--epsilon and --delta, or --promise: handed over as one argument, a Promise: promise."""

    @wraps(command)
    def wrapped(
        *, epsilon: str | None, delta: str | None, promise: str | None, **more: Any
    ) -> Any:  # fmt: skip
        return command(promise=_promise(epsilon, delta, promise), **more)

    text = "Instead: zcdp:rho=R, renyi:alpha=A,epsilon=E, gdp:mu=M, profile:E=D,E=D,..."
    wrapped = click.option("--promise", metavar="KIND:NAME=VALUE,...", help=text)(wrapped)
    wrapped = click.option("--delta", metavar="DELTA", help="Promised delta (default 0).")(wrapped)
    return click.option("--epsilon", metavar="EPSILON", help="Promised epsilon.")(wrapped)


def _promise(epsilon: str | None, delta: str | None, promise: str | None) -> Promise:
    from exactdp.audit.promise_texts import parse
    from exactdp.audit.promises import ApproximateDP

    if promise is None:
        if epsilon is None:
            allowed = "a number >= 0 (missing --epsilon, or --promise)"
            raise InvalidParameter("epsilon", Described("nothing"), allowed)
        return ApproximateDP(epsilon, delta or "0")
    if epsilon is not None or delta is not None:
        raise InvalidParameter("promise", promise, "given without --epsilon and --delta")
    return parse(promise)


def _option(name: str, *, required: bool, more: str = "") -> Callable[[_Command], _Command]:
    allowed, text = _PARAMETERS[name]
    name = name.partition(":")[0]
    flag = "--" + name.replace("_", "-")

    def once(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> str | None:
        if len(values) > 1:
            given = " and ".join(shown(value) for value in values)
            raise click.UsageError(f"{name} must be given once, got {given}")
        if required and not values:
            raise click.UsageError(f"{name} must be {allowed}, got nothing (missing {flag})")
        return values[0] if values else None

    note = f" {more}" if more else ""
    return click.option(flag, multiple=True, callback=once, metavar=name.upper(), help=text + note)


def find_local_modules() -> None:
    """Let modules in the current folder be imported, as ``python -m`` does."""
    if "" not in sys.path:
        sys.path.insert(0, "")
