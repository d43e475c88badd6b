"""SVA, Tables III to VI: real-world data sets, communication and errors."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial

from exactdp.balls import ball, precision
from exactdp.proofs_check.claim import Mutant, Printed, Quibble, Refuted, require
from exactdp.proofs_check.claims.sva._measured import MEASURED
from exactdp.proofs_check.claims.sva._published import DATA, EVENT, USER, half_unit, number
from exactdp.proofs_check.entries import SVA, elsewhere, varied

__all__ = ["CLAIMS"]

_TABLE = {"Clothing": "IV", "Renting": "V", "Movies": "VI"}


def _records(most: Fraction) -> str:
    """Every data set has between 1 and most * k records per client."""
    for name, data in DATA.items():
        mean = Fraction(data.records, data.clients)
        require(1 <= mean <= data.sparsity * most, f"{name}: {float(mean):.4g} records per client")
    return "1.65, 1.73 and 50.7 records per client"


def _bytes(method: str, formula: Callable[[str], int], *names: str) -> str:
    for name in names or tuple(DATA):
        row = EVENT[name].get(method) or USER[name][method]
        printed, stated = row[0], formula(name)
        case = f"Table {_TABLE[name]}, {method}: {printed} bytes printed, {stated} expected"
        require(printed == stated, case)
    return ", ".join(names or tuple(DATA))


def _fixed(size: int) -> str:
    return "; ".join(_bytes(m, lambda _: size) for m in ("sampling", "Harmony", "PCKV"))


def _ours(seed: int) -> str:
    """A 40-bit seed and 4 bytes per bin; floor(k/4) bins at event level (epsilon = 1), one bin."""
    for name, data in DATA.items():
        bins = data.sparsity // 4
        event, user = EVENT[name]["ours"][0], USER[name]["ours"][0]
        require(event == seed + 4 * bins, f"{name}, event level: {event} bytes, {bins} bins")
        require(user == seed + 4, f"{name}, user level: {user} bytes")
    return "b = 1, 2, 25 bins at event level and 1 at user level, on all three data sets"


def _renting(extra: int) -> str:
    """The report sizes of Table V from k + extra and d."""
    data, rows = DATA["Renting"], EVENT["Renting"]
    k = data.sparsity + extra
    stated = (4 * k + 4, 4 * data.items, 5 + 4 * (k // 4), 9)
    names = ("k-fold", "naive", "ours")
    printed = (*(rows[name].size for name in names), USER["Renting"]["ours"].size)
    require(printed == stated, f"k={k}: {printed} printed, {stated} expected")
    return "k-fold, naive, ours at event level, ours at user level"


def _between(name: str, low: str, high: str, more_bins: int = 0) -> str:
    """The stated ends of the mean square error at event level, to their last digits."""
    bins = DATA[name].sparsity // 4 + more_bins
    for found, stated in zip(_ends(name, bins), (low, high), strict=True):
        off = abs(found - number(stated))
        require(off <= half_unit(stated), f"{name}, {bins} bins: {float(found):.4g}, not {stated}")
    return f"from {low} to {high}"


def _ends(name: str, bins: int) -> tuple[Fraction, Fraction]:
    """Mean square error of Algorithm 1 at L = 2, epsilon = 1: noise 8/n, binning up to R/(bn).

    R is the number of records per client: each has a square of at most 1 and shares a bin with
    probability 1/b.
    """
    data = DATA[name]
    low = Fraction(8, data.clients)
    return low, low + Fraction(data.records, data.clients) / (bins * data.clients)


def _event_error(misprint: str, *names: str, more_bins: int = 0) -> str:
    """The printed mean square error against both ends."""
    for name in names:
        printed = misprint if name == "Renting" else EVENT[name]["ours"][2]
        low, high = _ends(name, DATA[name].sparsity // 4 + more_bins)
        slack = half_unit(printed)
        case = f"{name}: printed {printed}, exact between {float(low):.3g} and {float(high):.3g}"
        require(low - slack <= number(printed) <= high + slack, case)
    return ", ".join(names)


def _renting_error(printed: str) -> str:
    return f"{_between('Renting', '0.0000758', '0.0000840')}; {_event_error(printed, 'Renting')}"


def _up_to(more_bins: int) -> str:
    """The movie data with 1 to 25 + more_bins bins."""
    for more in range(-24, more_bins + 1):
        _event_error("", "Movies", more_bins=more)
    return f"1 to {25 + more_bins} bins"


def _best(times: Fraction) -> str:
    """Every other method's error is at least so many times ours, on every data set and level."""
    for level in (EVENT, USER):
        for name, rows in level.items():
            for square in (False, True):
                ours = rows["ours"].error(square)
                if level is EVENT and name == "Renting" and square:
                    ours = "0.000083"
                others = min(number(r.error(square)) for m, r in rows.items() if m != "ours")
                require(number(ours) * times <= others, f"{name}: {ours}, others {others}")
    return "three data sets, both levels, both errors"


def _squares(smallest: Fraction) -> str:
    """MSE <= (L_infinity error)^2 for every printed row, with the rounding of both."""
    for level in (EVENT, USER):
        for name, rows in level.items():
            for method, (_, worst, mean) in rows.items():
                top = (number(worst) + half_unit(worst)) ** 2
                case = f"{name}, {method}: MSE {mean}, L_infinity {worst}"
                require((number(mean) - half_unit(mean)) * smallest <= top, case)
    return "21 rows"


def _below_noise(times: Fraction) -> str:
    """MSE * times < 2 Delta^2/n at user level, Delta = min(2 eta, 2k), epsilon = beta = 1."""
    with precision(80):
        for name in DATA:
            data, k = DATA[name], DATA[name].sparsity
            printed = number(USER[name]["ours"][2])
            eta_square = 2 * k * ball(4 * data.clients).log()
            noise = 8 * (eta_square if eta_square < k * k else ball(k * k)) / data.clients
            case = f"{name}: printed MSE {float(printed)}, noise alone {float(noise):.3g}"
            require(bool(ball(printed * times) < noise), case)
    return "all three data sets"


def _factors(digits: tuple[str, ...]) -> str:
    """sqrt(k) of the three data sets to one decimal, rounded or truncated."""
    for text, data in zip(digits, DATA.values(), strict=True):
        gap = number(text) ** 2 - data.sparsity
        low, high = (number(text) - half_unit(text)) ** 2, (number(text) + Fraction(1, 10)) ** 2
        case = f"k = {data.sparsity}: printed {text}, its square is off by {float(gap):.3g}"
        require(low <= data.sparsity < high, case)
    return "2.449, 3.317 and 10"


CLAIMS = (
    SVA.verified(
        "Table III",
        "With clients cut down to k records, each data set has between 1 and 0.51 k records per "
        "client.",
        "reproduction",
        **varied(_records, Fraction(51, 100), Fraction(1, 2), "at most k/2"),
        note="7019990 records are 50.7 per client of the movie data; the data are not at hand",
    ),
    SVA.reproduced(
        "Table IV",
        "Clothing, event level: the MSE 0.00019 is that of Algorithm 1 at epsilon = 1 "
        "with one bin and Delta = 2, exactly from 0.000167, the noise, to 0.000201 with records of "
        "size 1.",
        "reproduction",
        check=lambda: (
            f"{_between('Clothing', '0.000167', '0.000201')}; {_event_error('', 'Clothing')}"
        ),
        mutant=Mutant("with two bins", lambda: _event_error("", "Clothing", more_bins=1)),
        note="the table does not state epsilon; the report sizes fix b = floor(epsilon^2 k/4)",
    ),
    SVA.reproduced(
        "Table V",
        "Renting: 48, 23400, 13 and 9 bytes are 4k + 4, 4d, a seed with two bins and a "
        "seed with one bin, for k = 11 and d = 5850.",
        "reproduction",
        **varied(_renting, 0, 1, "for k = 12"),
    ),
    Quibble(
        paper="SVA",
        item="Table V, our event-level MSE",
        statement="Renting, event level: our MSE is 0.00083.",
        printed=Printed(
            r"Ours 13 0.033 0.00083",
            "Table V, last row",
            429,
        ),
        method="reproduction",
        check=lambda: _event_error("0.00083", "Renting"),
        example="""
>>> n, bins, per_client = 105571, 2, 183052 / 105571       # Delta = 2, epsilon = 1
>>> noise, collisions = 2 * 2**2 / n, per_client / bins / n
>>> [float(f"{x:.2g}") for x in (noise, noise + collisions)]     # MSE lies between these
[7.6e-05, 8.4e-05]
>>> 0.00050 / 0.00083 < 3.1 < 0.00050 / 0.000083     # 'a 3.1x ... reduction in MSE' at least
True
""",
        extraction="possible (a lost zero)",
        note="The text's 3.1x to 114.3x needs 0.000083.",
        corrected=SVA.reproduced(
            "Table V, our event-level MSE, corrected",
            "The MSE is 0.000083, exactly between 0.0000758 and 0.0000840.",
            "reproduction",
            **varied(_renting_error, "0.000083", "0.000085", "0.000085"),
        ),
    ),
    SVA.verified(
        "Table VI",
        "Movies, event level: the MSE 0.000065 may be that of Algorithm 1 at epsilon = 1 "
        "with 25 bins and Delta = 2, as with any number of bins up to 54.",
        "reproduction",
        **elsewhere("the mutant adds a bin", varied(_up_to, 29, 30, "up to 55")),
    ),
    SVA.reproduced(
        "Tables IV to VI, our report size",
        "Our reports are a 5-byte seed and 4 bytes per bin: floor(k/4) bins at event "
        "level (Table II at epsilon = 1), one at user level.",
        "reproduction",
        **varied(_ours, 5, 4, "a 4-byte seed"),
    ),
    SVA.reproduced(
        "Tables IV to VI, k-fold report size",
        "k-fold repetition sends 4 bytes per item and 4 more.",
        "reproduction",
        **varied(
            partial(_bytes, "k-fold"),
            lambda name: 4 * DATA[name].sparsity + 4,
            lambda name: 4 * DATA[name].sparsity + 5,
            "5 more",
        ),
    ),
    SVA.reproduced(
        "Tables IV to VI, sampling, Harmony and PCKV report size",
        "They send 8 bytes, whatever k and d are.",
        "reproduction",
        **varied(_fixed, 8, 9, "9 bytes"),
    ),
    Quibble(
        paper="SVA",
        item="Table VI, naive report size",
        statement="Naive perturbation sends one 4-byte number per item: 109052 bytes for the movie "
        "data of Table III.",
        printed=Printed(
            r"Naive Perturbation 109052",
            "Table VI, row Naive Perturbation",
            438,
        ),
        method="reproduction",
        check=lambda: _bytes("naive", lambda name: 4 * DATA[name].items),
        example="""
>>> [4 * d for d in (1378, 5850, 26744)]       # Tables IV to VI: 5512, 23400, 109052
[5512, 23400, 106976]
>>> 109052 // 4                               # another number of items than Table III's 26744
27263
""",
        extraction="possible in Table III or VI",
        note="One of two printed numbers; the other two data sets agree exactly.",
        corrected=SVA.reproduced(
            "Table VI, naive report size, corrected",
            "4 bytes per item are 5512, 23400 and, for 26744 items, 106976 bytes; the "
            "first two are as printed.",
            "reproduction",
            check=lambda: _bytes("naive", lambda name: 4 * DATA[name].items, "Clothing", "Renting"),
            mutant=Mutant(
                "the third as well",
                lambda: _bytes("naive", lambda name: 4 * DATA[name].items),
                elsewhere="the mutant adds a data set",
            ),
        ),
    ),
    SVA.verified(
        "Tables IV to VI, best method",
        "Our errors are the smallest in every column, 1.8 times smaller at least, with 0.000083 in "
        "Table V.",
        "reproduction",
        **varied(_best, Fraction(18, 10), Fraction(19, 10), "1.9 times"),
        note="with the printed 0.00083, k-fold repetition (0.00050) would be better there",
    ),
    SVA.verified(
        "Tables IV to VI, both errors",
        "No MSE exceeds the square of the L_infinity error beside it, nor does 1.3 times the MSE.",
        "reproduction",
        **varied(_squares, Fraction(13, 10), Fraction(14, 10), "nor 1.4 times the MSE"),
        ours=True,
    ),
    SVA.verified(
        "Tables IV to VI, user-level noise",
        "Our user-level MSE is 6.3 times below the variance of the noise that Table II prescribes "
        "at epsilon = 1, at any beta <= 1, even with Delta = min(2 eta, 2k): other parameters were "
        "used.",
        "certified numerics",
        **varied(_below_noise, Fraction(63, 10), Fraction(64, 10), "6.4 times below"),
        note="the published code clips at sqrt(k log n)/2.5 and answers with one bit of magnitude "
        "(e^epsilon + 1)/(e^epsilon - 1) times that, not with Laplace noise",
        ours=True,
    ),
    Refuted(
        paper="SVA",
        item="Section V-E, factors sqrt(k)",
        statement="The factor sqrt(k) is 2.4, 3.3 and 8.0 on the three data sets.",
        severity="cosmetic",
        printed=Printed(
            r"which is roughly 2.4, 3.3 and 8.0 in the three datasets correspondingly",
            "Section V-E, first paragraph",
            446,
        ),
        method="reproduction",
        check=lambda: _factors(("2.4", "3.3", "8.0")),
        example="""
>>> from math import sqrt
>>> [round(sqrt(k), 1) for k in (6, 11, 100)]          # Table III
[2.4, 3.3, 10.0]
""",
        extraction="no: 8.0 = sqrt(64), while the report sizes of Table VI (404 = 4 * 101 and "
        "105 = 5 + 4 * 25) confirm k = 100",
        corrected=SVA.reproduced(
            "Section V-E, factors sqrt(k), corrected",
            "It is 2.4, 3.3 and 10.0.",
            "reproduction",
            **elsewhere(
                "the mutant names another number",
                varied(
                    _factors, ("2.4", "3.3", "10.0"), ("2.4", "3.3", "8.0"), "8.0 for the movies"
                ),
            ),
        ),
    ),
    SVA.not_checkable(
        "Tables IV to VI, errors of the other methods",
        "Measured L_infinity errors of the other methods, and the mean square errors of PCKV, on "
        "three data sets.",
        "experiments on data not at hand, with parameters of these methods not stated; "
        "the relations among the printed numbers are checked",
    ),
    *MEASURED,
)
