"""exactdp sgd | compose: the privacy loss of DP-SGD, or of any sequence of mechanisms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from exactdp.cli import parameters as opt
from exactdp.cli.answers import ALREADY_MET, Answer, answering, facts
from exactdp.cli.options import one_pair_option, options, statement_option
from exactdp.cli.publishing import save_statement
from exactdp.cli.reading import existing, text_in
from exactdp.cli.steps import steps_of
from exactdp.errors import Described, InvalidParameter
from exactdp.parameters import non_negative
from exactdp.progress import counted

if TYPE_CHECKING:
    from exactdp.accounting.pld import Pld


#: How the samples of a training are drawn.
SCHEME = (opt.SAMPLING, opt.NEIGHBOURS, opt.BATCH_LIMIT, opt.N, opt.MATRIX, opt.BANDS)


@click.command(
    epilog="Example: exactdp sgd --noise-multiplier 1 --rate 0.01 --steps 10000 --delta 1e-5\n"
    "Example: exactdp sgd --noise-multiplier 1.2,0.8 --rate 0.01 --steps 1000,500 --delta 1e-5"
)
@options(
    opt.RATE_PHASES,
    optional=(
        opt.NOISE_MULTIPLIER_PHASES,
        opt.STEPS_PHASES,
        opt.EPSILON,
        opt.DELTA,
        *SCHEME,
        opt.WIDTH_OF_ANSWER,
    ),
)
@statement_option
@one_pair_option
@answering
def sgd(
    statement: Path | None,
    one_pair: bool,
    rate: str,
    sampling: str | None,
    neighbours: str | None,
    batch_limit: str | None,
    n: str | None,
    relative_width: str | None,
    matrix: str | None,
    bands: str | None,
    **texts: str | None,
) -> Answer:
    """Training with noise (DP-SGD): epsilon, delta, noise or steps.

    Give exactly three of --noise-multiplier, --steps, --epsilon and --delta. The fourth is
    computed with certified lower and upper bounds. For a noise schedule give a list of noise
    multipliers, and of steps, one for each phase. --sampling batches draws batches of a fixed size
    without replacement, for replace-one neighbours. --sampling truncated keeps at most
    --batch-limit of the --n users in a sample. For both the two bounds may stay apart. --matrix
    adds correlated noise (DP-FTRL): users belong to --bands parts, which take turns, and step i
    samples from part i modulo their number at --rate.
    """
    if sampling == "batches" and neighbours is None:
        neighbours = "replace-one"
    _refuse_alone(one_pair, statement)
    sizes = {"batch_limit": batch_limit, "users": n, "matrix": matrix, "bands": bands}
    scheme = {"sampling": sampling, "neighbours": neighbours, **sizes}
    chosen = {name: value for name, value in scheme.items() if value is not None}
    known = {name: value for name, value in texts.items() if value is not None}
    if len(known) != 3:
        names = ", ".join("--" + name.replace("_", "-") for name in texts)
        how_many = Described(f"{len(known)} of them")
        raise InvalidParameter("options", how_many, f"exactly three of {names}")
    (wanted,) = texts.keys() - known.keys()
    if relative_width is not None and wanted not in ("epsilon", "delta"):
        raise InvalidParameter("relative_width", relative_width, "left out for noise or steps")
    report: dict[str, Any] = {"mechanism": "sgd", "given": {"rate": rate, **chosen, **known}}
    with counted("certifying"):
        report |= _solve_for(wanted, {"rate": rate, **known, **chosen}, relative_width)
    values = {"rate": rate, **known, **chosen, **report.get("parameters", {})}
    target = "delta" if wanted == "epsilon" else "epsilon"
    _save(statement, lambda: training(values), {target: known[target], "one_pair": one_pair})
    return Answer(report, _text(report))


def _solve_for(wanted: str, known: dict[str, str], width: str | None) -> dict[str, Any]:
    """Compute the missing one of noise multiplier, steps, epsilon and delta."""
    from exactdp.accounting import pld

    if wanted == "noise_multiplier":
        target = {name: known[name] for name in ("epsilon", "delta")}
        calibration = pld.calibrate_sgd(**_with_strategy(known), **target).as_dict()
        promise = {name: calibration["guarantee"][name] for name in ("neighbours", "source")}
        return {name: calibration[name] for name in ("parameters", "delta", "refuted")} | promise
    if wanted == "steps":
        target = {name: known[name] for name in ("epsilon", "delta")}
        most = pld.most_steps(**_with_strategy(known), **target)
        return {
            "parameters": {"steps": str(most.steps)},
            "delta": most.delta.as_dict(),
            "refuted": {"steps": str(most.too_many), "delta": most.refuted.as_dict()},
        }
    bound = "delta" if wanted == "epsilon" else "epsilon"
    return _answer(training(known), {bound: known[bound]}, width)


def training(values: Mapping[str, str]) -> Pld:
    """The loss of a training. Several noise multipliers, rates or steps are those of phases."""
    from exactdp.accounting import pld

    own = _with_strategy(values)
    lists = {name: own[name].split(",") for name in ("noise_multiplier", "rate", "steps")}
    count = max(map(len, lists.values()))
    for name, each in lists.items():
        if name == "steps" and len(each) != count:  # 1000 steps in all, or in each phase?
            raise InvalidParameter(name, own[name], f"{count} numbers, one for each phase")
        if len(each) not in (1, count):
            raise InvalidParameter(name, own[name], f"one number, or {count}, one for each phase")
    phases = [{name: each[i % len(each)] for name, each in lists.items()} for i in range(count)]
    return reduce(pld.Pld.then, [pld.sgd(**{**own, **phase}) for phase in phases])


def _with_strategy(values: Mapping[str, str]) -> dict[str, Any]:
    """The parameters of a training without its target; the file of a matrix is read."""
    from exactdp.accounting import pld

    own: dict[str, Any] = {n: v for n, v in values.items() if n not in ("epsilon", "delta")}
    if name := own.pop("matrix", None):
        own["strategy"] = pld.read_strategy(existing(name, "matrix"))
        for parameter in ("noise_multiplier", "rate", "steps"):
            if "," in own.get(parameter, ""):
                raise InvalidParameter(parameter, own[parameter], "one number with --matrix")
    return own


@click.command(epilog="Example: exactdp compose steps.jsonl --delta 1e-5")
@click.argument("file")
@options(optional=(opt.EPSILON, opt.DELTA, opt.NEIGHBOURS_COMPOSED, opt.GROUP, opt.WIDTH_OF_ANSWER))
@statement_option
@one_pair_option
@answering
def compose(
    file: str,
    statement: Path | None,
    one_pair: bool,
    epsilon: str | None,
    delta: str | None,
    neighbours: str | None,
    group: str | None,
    relative_width: str | None,
) -> Answer:
    """Several mechanisms on the same data: joint epsilon or delta.

    Computes delta for a given epsilon, or epsilon for a given delta.

    FILE has one JSON object per line, for example {"mechanism": "gaussian", "sigma": 2, "rate":
    "0.01", "times": 100}. Mechanisms and parameters: gaussian (sigma), gaussian-mixture (sigma,
    sensitivities, weights), discrete-gaussian (sigma2, sensitivity), discrete-laplace (epsilon,
    sensitivity), laplace (scale, sensitivity), randomized-response (epsilon), exponential
    (epsilon), noisy-max (epsilon, noise), gaussian-noisy-max (sigma, options), above-threshold
    (sigma, threshold_sigma, queries, monotone), approximate (epsilon, delta), gshm (k, sigma, tau),
    csh (sparsity, sigma, tau), repeat-and-select (mean, shape, and run, the object of one run).
    Optional: rate, times, and sampling ("poisson", or "batches" for replace-one neighbours). Each
    repetition and each line draws its own sample.
    """
    target = {n: v for n, v in {"epsilon": epsilon, "delta": delta}.items() if v is not None}
    if len(target) != 1:
        raise InvalidParameter("options", Described("both, or none"), "either --epsilon or --delta")
    _refuse_alone(one_pair, statement)
    path = existing(file)
    loss = steps_of(text_in(path), path.name, neighbours or "add-remove", group or "1")
    relation = {n: v for n, v in {"neighbours": neighbours, "group": group}.items() if v}
    report = {"mechanism": "composition", "given": {"file": file, **relation, **target}}
    with counted("certifying"):
        report |= _answer(loss, target, relative_width)
    _save(statement, lambda: loss, {**target, "one_pair": one_pair})
    return Answer(report, _text(report))


def _answer(loss: Pld, target: dict[str, str], width: str | None) -> dict[str, Any]:
    widths = {} if width is None else {"relative_width": width}
    if "delta" in target:
        answer = {"epsilon": loss.epsilon(target["delta"], **widths).as_dict()}
    else:
        answer = {
            "delta": loss.delta(non_negative("epsilon", target["epsilon"]), **widths).as_dict()
        }
    return {**answer, "neighbours": loss.neighbours, "source": loss.source}


def _save(path: Path | None, loss: Callable[[], Pld], target: dict[str, Any]) -> None:
    if path is None:
        return
    from exactdp import statement

    with counted("deriving the statement"):
        save_statement(path, lambda: statement.of(loss(), **target))


def _refuse_alone(one_pair: bool, statement: Path | None) -> None:
    if one_pair and statement is None:
        raise InvalidParameter("one_pair", Described("no --statement"), "given with --statement")


def _text(report: dict[str, Any]) -> str:
    # the neighbouring relation comes last, as text
    rows = {name: value for name, value in report["given"].items() if name != "neighbours"}
    rows |= report.get("parameters", {})
    for name in ("epsilon", "delta"):
        if name in report:
            ends = report[name]
            rows[name] = f"[{_short(ends['lower'])}, {_short(ends['upper'], up=True)}]"
    if report.get("refuted"):
        value = next(f"{n} = {v}" for n, v in report["refuted"].items() if n != "delta")
        rows["refuted"] = f"{value}: delta > {_short(report['refuted']['delta']['lower'])}"
    if "neighbours" in report:
        rows["neighbours"] = report["neighbours"]
    met = "epsilon" in report and report["epsilon"]["upper"] == "0"
    return facts(f"{report['mechanism']}, certified", rows) + (ALREADY_MET if met else "")


def _short(number: str, *, up: bool = False) -> str:
    """A decimal with ten digits, rounded down, or up."""
    from exactdp.enclosure import Enclosure

    exact = Enclosure.exact(number)
    return exact.decimal_upper(10) if up else exact.decimal_lower(10)
