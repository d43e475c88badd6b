"""SVA, Section V-E: Tables III to VI against formulas and against what is shipped."""

from __future__ import annotations

from typing import Any

from exactdp.accounting import gaussian
from exactdp.balls import ball, precision
from exactdp.local.sparse import Harmony, KFold, Sampled
from exactdp_proofs.comparisons import at_most, below, equal, reproduces, within
from exactdp_proofs.papers.sva._model import events, pairs, sparse
from exactdp_proofs.papers.sva._published import DATA, EVENT, USER, Row, half_unit
from exactdp_proofs.rationals import Fraction
from exactdp_proofs.statements import SVA, as_printed, fitted, mutant

_LEVELS = ((EVENT, 1), (USER, 2))


@SVA.holds("Table III")
@mutant(share=Fraction(1, 2))
@fitted(share=Fraction(51, 100))
def table_iii(share: Fraction = Fraction(1)) -> None:
    """With clients cut down to k records, each data set has between 1 and k records per client."""
    for name, data in DATA.items():
        mean = Fraction(data.records, data.clients)
        at_most(1, mean, data=name)
        at_most(mean, data.sparsity * share, data=name)


@SVA.holds("Table IV", "report sizes of Tables IV to VI")
@mutant(seed=4)
def report_sizes(seed: int = 5) -> None:
    """Our reports are a 5-byte seed and 4 bytes per bin, floor(k/4) bins at event level (Table II
    at epsilon = 1) and one at user level; k-fold repetition sends 4 bytes per item and 4 more;
    sampling, Harmony and PCKV send 8 bytes.
    """
    for name, data in DATA.items():
        k, event, user = data.sparsity, EVENT[name], USER[name]
        sizes = {method: user[method].size for method in ("sampling", "Harmony", "PCKV")}
        equal(sizes, dict.fromkeys(sizes, 8), data=name)
        reproduces(4 * k + 4, str(event["k-fold"].size), data=name)
        reproduces(seed + 4, str(user["ours"].size), data=name)
        reproduces(seed + 4 * (k // 4), str(event["ours"].size), data=name)


@SVA.note("Table V", "our event-level MSE")
@as_printed(renting="0.00083")
@mutant(more_bins=1)
def event_level_mse(renting: str = "0.000083", more_bins: int = 0) -> None:
    """Our MSE at event level is 0.00019, 0.00083 and 0.000065 on the three data sets.

    Printed (Table V, last row, line 429): Ours 13 0.033 0.00083
    Corrected: The one of Table V is 0.000083. Each is then in the exact range of Algorithm 1 at
        epsilon = 1, Delta = 2 with 1, 2 and 25 bins: from 8/n, the noise alone, to 8/n + R/(bn)
        for R records per client, each of size 1 at most.
    Extraction: possible (a lost zero). The text's '3.1x to 114.3x' needs 0.000083.

    >>> n, bins, per_client = 105571, 2, 183052 / 105571       # Delta = 2, epsilon = 1
    >>> noise, collisions = 2 * 2**2 / n, per_client / bins / n
    >>> [float(f"{x:.2g}") for x in (noise, noise + collisions)]     # the MSE is between these
    [7.6e-05, 8.4e-05]
    >>> 0.00050 / 0.00083 < 3.1 < 0.00050 / 0.000083     # 'a 3.1x ... reduction in MSE' at least
    True
    """
    for name, data in DATA.items():
        printed = renting if name == "Renting" else EVENT[name]["ours"].square
        noise, bins = Fraction(8, data.clients), data.sparsity // 4 + more_bins
        collisions = Fraction(data.records, data.clients) / (bins * data.clients)
        at_most(noise, Fraction(printed) + half_unit(printed), data=name)
        at_most(Fraction(printed) - half_unit(printed), noise + collisions, data=name)


@SVA.note("Table VI", "naive report size")
@as_printed(movies="109052")
@mutant(bytes_each=5)
def naive_report_size(movies: str = "106976", bytes_each: int = 4) -> None:
    """Naive perturbation sends one 4-byte number per item: 5512, 23400 and 109052 bytes.

    Printed (Table VI, row Naive Perturbation, line 438): Naive Perturbation 109052
    Corrected: For the 26744 items that Table III has, the third is 106976.
    Extraction: possible in Table III or VI; the other two data sets agree exactly.

    >>> [4 * d for d in (1378, 5850, 26744)]       # Tables IV to VI: 5512, 23400, 109052
    [5512, 23400, 106976]
    """
    for name, data in DATA.items():
        printed = movies if name == "Movies" else str(EVENT[name]["naive"].size)
        reproduces(bytes_each * data.items, printed, data=name)


@SVA.holds("Section V-E", "best method")
@mutant(times=Fraction(19, 10))
@fitted(times=Fraction(18, 10))
def best_method(times: Fraction = Fraction(1)) -> None:
    """Our errors are the smallest in every column of Tables IV to VI, with 0.000083 in Table V."""
    for level, _ in _LEVELS:
        for name, rows in level.items():
            for column in ("worst", "square"):
                error = {method: Fraction(getattr(row, column)) for method, row in rows.items()}
                if error["ours"] == Fraction("0.00083"):
                    error["ours"] = Fraction("0.000083")
                ours = error.pop("ours") * times
                at_most(ours, min(error.values()), data=name, column=column)


@SVA.holds("Table IV", "user-level noise", ours=True)
@mutant(times=Fraction(64, 10))
@fitted(times=Fraction(63, 10))
def user_level_noise(times: Fraction = Fraction(1)) -> None:
    """In Tables IV to VI our user-level MSE is below the variance of the noise that Table II
    prescribes at epsilon = 1 and any beta <= 1, even with Delta = min(2 eta, 2k): the published
    code clips at sqrt(k log n)/2.5 and sends one randomized bit, without Laplace noise.
    """
    with precision(80):
        for name, data in DATA.items():
            k, printed = data.sparsity, Fraction(USER[name]["ours"].square)
            eta_square = (2 * k * ball(4 * data.clients).log()).min(ball(k * k))
            below(times * printed, 8 * eta_square / data.clients, data=name)


#: Where the standard deviation is below 2/5, so that moving estimates to [-1, 1] changes little.
_ROWS: tuple[tuple[type[Any], str, dict[str, dict[str, Row]], tuple[str, ...]], ...] = (
    (KFold, "k-fold", EVENT, ("Clothing", "Renting", "Movies")),
    (Sampled, "sampling", USER, ("Clothing", "Renting")),
    (Harmony, "Harmony", USER, ("Clothing",)),
)


@SVA.holds("Table IV", "MSE of k-fold repetition, sampling and Harmony")
@mutant(tolerance=Fraction(33, 1000))
def mse_of_others(tolerance: Fraction = Fraction(35, 1000)) -> None:
    """The printed MSE of k-fold repetition (three data sets), sampling (clothing and renting) and
    Harmony (clothing) is the variance of these methods as shipped, at epsilon = 1, within 3.5 %.
    """
    for scheme, method, level, names in _ROWS:
        for name in names:
            data, printed = DATA[name], Fraction(level[name][method].square)
            exact = scheme(d=data.items, k=data.sparsity, epsilon=1).mean_square(data.clients)
            within(printed, exact, tolerance * exact, data=name, method=method)


@SVA.holds("Table IV", "MSE of naive perturbation", ours=True)
@mutant(tolerance=Fraction(5, 100))
def mse_of_naive(tolerance: Fraction = Fraction(55, 1000)) -> None:
    """The printed MSE of naive perturbation in Tables IV to VI is the least variance of Gaussian
    noise at epsilon = 1 and delta = 1e-5 for the squared L2 distance 8 of an event and 8k of
    users, within 5.5 %: twice what vectors in [-1, 1] need, 4 and 4k.
    """
    for k in (1, 2, 3):
        squares = {
            pair: sum((x - y) ** 2 for x, y in zip(*pair, strict=True))
            for pair in pairs(sparse(3, k, (-1, 0, 1)))
        }
        equal(max(square for pair, square in squares.items() if events(*pair) == 1), 4, k=k)
        equal(max(squares.values()), 4 * k, k=k)
    variance = Fraction(gaussian.calibrate(epsilon=1, delta="1e-5").sigma) ** 2
    for name, data in DATA.items():
        for level, entries in ((EVENT, 1), (USER, data.sparsity)):
            printed = Fraction(level[name]["naive"].square)
            exact = 8 * entries * variance / data.clients
            within(printed, exact, tolerance * exact, data=name, entries=entries)


@SVA.refuted("Section V-E", "factors sqrt(k)", severity="cosmetic")
@as_printed(movies="8.0")
@mutant(movies="9.9")
def factors(movies: str = "10.0") -> None:
    """The factor sqrt(k) is 2.4, 3.3 and 8.0 on the three data sets.

    Printed (Section V-E, first paragraph, line 446): which is roughly 2.4, 3.3 and 8.0 in the
        three datasets correspondingly
    Corrected: It is 2.4, 3.3 and 10.0.
    Regime: the movie data, k = 100.
    Extraction: no: 8.0 = sqrt(64), while the report sizes of Table VI (404 = 4 * 101 and
        105 = 5 + 4 * 25) confirm k = 100.

    >>> from math import sqrt
    >>> [round(sqrt(k), 1) for k in (6, 11, 100)]          # Table III
    [2.4, 3.3, 10.0]
    """
    with precision(64):
        for text, data in zip(("2.4", "3.3", movies), DATA.values(), strict=True):
            reproduces(ball(data.sparsity).sqrt(), text, k=data.sparsity)


SVA.not_checkable(
    "Table IV",
    "Measured L_infinity errors of the other methods in Tables IV to VI, and the MSE of PCKV.",
    "experiments on data not at hand, with parameters of these methods not stated",
    "errors of the other methods",
)
