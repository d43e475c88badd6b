"""Numbers of other libraries are read as what they hold, or refused by the name of their type."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import flint
import gmpy2
import numpy as np
import pytest

from exactdp import Enclosure, InvalidParameter, statement
from exactdp.accounting import gaussian
from exactdp.audit.numbers.claimed import audit_number
from exactdp.law import Law
from exactdp.parameters import integer, non_negative, rational

#: 53 binary digits, 17 decimal ones: 15 digits round it to 2.
ALMOST_2 = 2 - Fraction(1, 2**52)
_DOUBLE = float.fromhex("0x1.fffffffffffffp+0")


def _library(name: str) -> Any:
    return pytest.importorskip(name)


def _mpf(text: str, bits: int = 53) -> Any:
    mp = _library("mpmath").MPContext()
    mp.prec = bits
    return mp.mpf(text)


def _tenth(bits: int) -> Fraction:
    """The binary number of so many digits nearest to 1/10."""
    scale = 2 ** (bits + 3)
    return Fraction(round(Fraction(scale, 10)), scale)


READ: dict[str, tuple[Callable[[], object], Fraction]] = {
    "mpmath, 53 bits": (lambda: _mpf("2") - _mpf("2") ** -52, ALMOST_2),
    "mpmath, 200 bits": (lambda: _mpf("0.1", 200), _tenth(200)),
    "mpmath, below 0": (lambda: -_mpf("0.375"), Fraction(-3, 8)),
    "mpmath, 0": (lambda: _mpf("0"), Fraction(0)),
    "mpmath, a double": (lambda: _library("mpmath").fp.mpf("0.1"), Fraction(1, 10)),
    "sympy, a float": (lambda: _library("sympy").Float(_DOUBLE), ALMOST_2),
    "sympy, 60 digits": (
        lambda: _library("sympy").Float("0.1", 60),
        _tenth(203),  # 60 digits are 203 bits
    ),
    "sympy, an integer": (lambda: _library("sympy").Integer(7), Fraction(7)),
    "sympy, a fraction": (lambda: _library("sympy").Rational(1, 3), Fraction(1, 3)),
    "gmpy2.mpfr": (lambda: gmpy2.mpfr(_DOUBLE), ALMOST_2),
    "gmpy2.mpfr, a tenth": (lambda: gmpy2.mpfr("0.1"), _tenth(53)),
    "gmpy2.mpfr, 0": (lambda: gmpy2.mpfr(0), Fraction(0)),
    "gmpy2.mpz": (lambda: gmpy2.mpz(10**30), Fraction(10**30)),
    "gmpy2.xmpz": (lambda: gmpy2.xmpz(10**30), Fraction(10**30)),
    "gmpy2.mpq": (lambda: gmpy2.mpq(-7, 20), Fraction(-7, 20)),
    "flint.fmpz": (lambda: flint.fmpz(10) ** 30, Fraction(10**30)),
    "flint.fmpq": (lambda: flint.fmpq(-7, 20), Fraction(-7, 20)),
    "flint.arf": (lambda: flint.arf(_DOUBLE), ALMOST_2),
    "numpy.float64": (lambda: np.float64(0.1), Fraction(1, 10)),
    "numpy.float32": (lambda: np.float32(0.1), Fraction(1, 10)),
    "numpy.float16": (lambda: np.float16(0.1), Fraction(1, 10)),
    "numpy.longdouble": (lambda: np.longdouble(1) / np.longdouble(8), Fraction(1, 8)),
    "mpmath.mpq": (lambda: _library("mpmath").rational.mpq(-7, 20), Fraction(-7, 20)),
    "numpy.uint8": (lambda: np.uint8(255), Fraction(255)),
    "pyarrow, a double": (lambda: _library("pyarrow").scalar(0.1), Fraction(1, 10)),
    "pyarrow, a decimal": (lambda: _library("pyarrow").scalar(Decimal("0.1")), Fraction(1, 10)),
    "pyarrow, an integer": (lambda: _library("pyarrow").scalar(7), Fraction(7)),
    "Decimal": (lambda: Decimal("0.1"), Fraction(1, 10)),
    "float": (lambda: _DOUBLE, Fraction("1.9999999999999998")),
    "str": (lambda: "1/3", Fraction(1, 3)),
}


@pytest.mark.parametrize("name", READ)
def test_a_number_is_read_as_what_it_holds(name: str) -> None:
    make, exact = READ[name]
    assert rational("sigma", make()) == exact  # type: ignore[arg-type]


REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "numpy.ndarray": (lambda: np.array(0.3), "numpy.ndarray), got 0.3"),
    "numpy.ma": (lambda: np.ma.array(5, mask=True), "numpy.ma."),
    "numpy.timedelta64": (lambda: np.timedelta64(5, "ns"), "numpy.timedelta64), got"),
    "numpy.timedelta64, seconds": (lambda: np.timedelta64(5, "s"), "numpy.timedelta64), got"),
    "numpy.datetime64": (lambda: np.datetime64(5, "ns"), "numpy.datetime64), got"),
    "pandas.Timedelta": (lambda: _library("pandas").Timedelta(5), "Timedelta), got"),
    "numpy.bool": (lambda: np.bool_(True), f"{type(np.bool_(True)).__module__}."),
    "numpy.complex128": (lambda: np.complex128(1), "numpy.complex128), got (1+0j)"),
    "pyarrow, missing": (
        lambda: _library("pyarrow").scalar(None, _library("pyarrow").float64()),
        "pyarrow.lib.DoubleScalar)",
    ),
    "pyarrow, 32 bits": (
        lambda: _library("pyarrow").scalar(0.3, _library("pyarrow").float32()),
        "pyarrow.lib.FloatScalar)",
    ),
    "mpmath.mpi": (lambda: _library("mpmath").iv.mpf("0.3"), "mpmath.ctx_iv.ivmpf)"),
    "mpmath.pi": (lambda: _library("mpmath").pi, "mpmath.ctx_mp_python.constant)"),
    "sympy.pi": (lambda: _library("sympy").pi, "sympy.core.numbers.Pi), got pi"),
    "sympy.oo": (lambda: _library("sympy").oo, "sympy.core.numbers.Infinity), got oo"),
    "flint.arb": (lambda: flint.arb("0.3"), "flint.types.arb.arb)"),
    "gmpy2.mpc": (lambda: gmpy2.mpc(1), "gmpy2.mpc)"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_other_types_are_named(name: str) -> None:
    make, end = REFUSED[name]
    types = "(int, Fraction, Decimal, text or float, not "
    with pytest.raises(InvalidParameter) as error:
        non_negative("epsilon", make())  # type: ignore[arg-type]
    assert str(error.value).startswith(f"epsilon must be a number >= 0 {types}")
    assert end in str(error.value)
    with pytest.raises(InvalidParameter) as error:
        integer("k", make(), least=1)  # type: ignore[arg-type]
    assert str(error.value).startswith(f"k must be an integer >= 1 {types}")


@pytest.mark.parametrize(
    "make",
    [
        lambda: _mpf("nan"),
        lambda: _mpf("-inf"),
        lambda: gmpy2.mpfr("nan"),
        lambda: gmpy2.mpfr("inf"),
        lambda: flint.arf("inf"),
        lambda: np.float32("nan"),
        lambda: np.longdouble("inf"),
        lambda: _library("pyarrow").scalar(float("inf")),
    ],
)
def test_numbers_that_are_not_finite_are_refused(make: Callable[[], Any]) -> None:
    with pytest.raises(InvalidParameter, match=r"^sigma must be a finite number, got"):
        rational("sigma", make())


@pytest.mark.parametrize(
    "make",
    [
        lambda: _mpf("2") ** 10**15,
        lambda: _mpf("2") ** -(10**15),
        lambda: gmpy2.mpfr("1e100000000"),
        lambda: flint.arf(1) * flint.arf((1, -(10**15))),
    ],
)
def test_numbers_that_do_not_fit_into_memory_are_refused_at_once(make: Callable[[], Any]) -> None:
    with pytest.raises(InvalidParameter, match=r"^sigma must be a number between 1e-10000 and"):
        rational("sigma", make())


def test_numpys_print_options_change_nothing() -> None:
    with np.printoptions(legacy="1.13", precision=3):
        assert rational("sigma", np.float32(0.12345678)) == Fraction("0.12345678")


def test_the_answer_is_for_the_sigma_that_is_meant() -> None:
    """delta at epsilon = 1 for this sigma and for 2 differ from the 16th digit on."""
    here = gaussian.delta(sigma=_mpf("2") - _mpf("2") ** -52, sensitivity=1, epsilon=1)
    assert here == gaussian.delta(sigma=ALMOST_2, sensitivity=1, epsilon=1)
    assert not here.lower <= gaussian.delta(sigma=2, sensitivity=1, epsilon=1).upper <= here.upper


def test_records_keep_all_digits() -> None:
    """A statement and an audit of a number name the parameters in full."""
    sigma = _mpf("2") - _mpf("2") ** -52
    full = "1.9999999999999997779553950749686919152736663818359375"
    parameters = {"sigma": sigma, "tau": 180, "k": 10, "epsilon": "0.3"}
    promised = statement.calculated("gshm", **parameters, analysis="add-the-deltas")
    assert f'"{full}"' in promised.to_json()
    audited = audit_number(mechanism="gshm", quantity="delta", parameters=parameters, claimed="0.5")
    assert audited.parameters["sigma"] == full


def test_weights_of_laws() -> None:
    assert Law({0: "1/3", 1: Decimal("0.25"), 2: "5/12"})[0] == Fraction(1, 3)  # type: ignore[dict-item]
    assert Law({0: 0.7, 1: 1 - 0.7})[0] == Fraction(0.7)  # type: ignore[dict-item]
    assert Law({0: _mpf("0.7"), 1: 1 - _mpf("0.7")})[0] == Fraction(0.7)
    for weight in (float("nan"), "x", np.array(1.0), None, np.timedelta64(1, "ns")):
        with pytest.raises(InvalidParameter, match=r"^weight must be a"):
            Law({0: weight, 1: 1})  # type: ignore[dict-item]


def test_bounds_of_enclosures() -> None:
    assert Enclosure.exact(_mpf("2") - _mpf("2") ** -52).upper == ALMOST_2
