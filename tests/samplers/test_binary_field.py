"""Binary fields against schoolbook arithmetic on bits and python-flint."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pytest
from flint import fmpz_mod_ctx, fmpz_mod_poly_ctx, fq_default_ctx, nmod_poly

from exactdp import InvalidParameter
from exactdp.samplers.binary_evaluation import Evaluator
from exactdp.samplers.binary_field import BinaryField, generates, smallest_field
from exactdp.samplers.binary_polynomials import PointTree, interpolate, multiply

#: The fields of BV have the periods 3, 9, 27, ...; most others are primes.
PERIODS = [3, 5, 9, 11, 25, 27, 53, 81]
FIELDS = [BinaryField(period) for period in PERIODS]


def modulus_of(period: int) -> int:
    """1 + x^s + x^(2s) + ... of degree period - s, where period/s is prime."""
    prime = next(p for p in range(3, period + 1) if period % p == 0)
    step = period // prime
    return sum(1 << i * step for i in range(prime))


def schoolbook(field: BinaryField, a: int, b: int) -> int:
    """The product, bit by bit."""
    modulus = modulus_of(field.period)
    degree = modulus.bit_length() - 1
    product = 0
    for i in range(b.bit_length()):
        product ^= (a << i) * (b >> i & 1)
    for i in range(product.bit_length() - 1, degree - 1, -1):
        product ^= (modulus << (i - degree)) * (product >> i & 1)
    return product


def horner(field: BinaryField, coefficients: Sequence[int], point: int) -> int:
    value = 0
    for coefficient in reversed(coefficients):
        value = schoolbook(field, value, point) ^ coefficient
    return value


def elements(field: BinaryField, count: int, seed: int = 1) -> list[int]:
    """Random elements, the same in every run."""
    source = random.Random(f"{field.period} {count} {seed}")
    return [source.getrandbits(field.degree) for _ in range(count)]


def corners(field: BinaryField) -> list[int]:
    """Elements where reduction or carries would go wrong first."""
    ones, half = field.order - 1, field.degree // 2
    return sorted({0, 1, 2, 1 << half, field.order >> 1, ones, ones >> half, ones ^ (ones >> half)})


# --- fields ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("field", FIELDS, ids=PERIODS)
def test_the_modulus_is_irreducible(field: BinaryField) -> None:
    assert field.modulus == modulus_of(field.period)
    (factor,) = nmod_poly([int(bit) for bit in f"{field.modulus:b}"], 2).factor()[1]
    assert (factor[0].degree(), factor[1]) == (field.degree, 1)


def test_periods_are_those_modulo_which_2_generates_the_units() -> None:
    for n in range(3, 150):
        units = [k for k in range(1, n) if all(k % p or n % p for p in range(2, n + 1))]
        powers = {pow(2, k, n) for k in range(n)}
        prime_power = sum(n % p == 0 for p in range(2, n + 1) if nmod_prime(p)) == 1
        assert generates(n) == (prime_power and n % 2 == 1 and powers == set(units)), n


def nmod_prime(p: int) -> bool:
    return all(p % q for q in range(2, p))


def test_smallest_field() -> None:
    degrees = [p - 1 for p in range(3, 400) if nmod_prime(p) and generates(p)]
    for bits in range(1, degrees[-1] + 1):
        field = smallest_field(bits)
        assert field.degree == next(d for d in degrees if d >= bits)
        assert field.order == 1 << field.degree


@pytest.mark.parametrize("field", FIELDS[:3], ids=PERIODS[:3])
def test_small_fields_exhaustively(field: BinaryField) -> None:
    for a in range(field.order):
        products = [field.mul(a, b) for b in range(field.order)]
        assert products == [schoolbook(field, a, b) for b in range(field.order)]
        assert field.power(a, 2) == products[a]
        if a:
            assert products.index(1) == field.inverse(a)


@pytest.mark.parametrize("field", FIELDS, ids=PERIODS)
def test_arithmetic_against_schoolbook(field: BinaryField) -> None:
    tried = corners(field) + elements(field, 4)
    for a in tried:
        for b in tried:
            assert field.mul(a, b) == schoolbook(field, a, b)
        assert field.power(a, 3) == schoolbook(field, a, schoolbook(field, a, a))
        assert not a or schoolbook(field, a, field.inverse(a)) == 1
    assert (field.power(0, 0), field.power(0, 5), field.power(a, field.order - 1)) == (1, 0, 1)


@pytest.mark.parametrize("period", [81, 293, 491])
def test_arithmetic_against_flint(period: int) -> None:
    field = BinaryField(period)
    modulus = fmpz_mod_poly_ctx(fmpz_mod_ctx(2))([int(bit) for bit in f"{field.modulus:b}"])
    reference = fq_default_ctx(modulus=modulus)
    a, b = elements(field, 2, seed=6)
    bits: Any = [[c >> i & 1 for i in range(field.degree)] for c in (a, b)]
    x, y = (reference(c) for c in bits)
    for ours, theirs in ((field.mul(a, b), x * y), (field.inverse(a), x.inverse())):
        assert ours == sum(int(bit) << i for i, bit in enumerate(theirs.to_list()))


# --- polynomials ----------------------------------------------------------------------------------


@pytest.mark.parametrize("field", FIELDS, ids=PERIODS)
def test_products_of_polynomials(field: BinaryField) -> None:
    full = [field.order - 1] * 8  # every slot filled to its largest count
    for a, b in ((full, full), (elements(field, 9), elements(field, 4)), ([0, 0], [0]), ([], [1])):
        expected = [0] * (len(a) + len(b) - 1) if a and b else []
        for i, x in enumerate(a):
            for j, y in enumerate(b):
                expected[i + j] ^= schoolbook(field, x, y)
        assert multiply(field, a, b) == expected


@pytest.mark.parametrize("period", [9, 81, 293])
@pytest.mark.parametrize(("longer", "shorter"), [(257, 1), (700, 3), (400, 300)])
def test_full_slots_in_long_products(period: int, longer: int, shorter: int) -> None:
    """All ones times all ones, where counts are largest, in parts: (sum y^i)(sum y^j)."""
    field = BinaryField(period)
    ones = field.order - 1
    square = schoolbook(field, ones, ones)
    pairs = [min(k, shorter - 1, longer + shorter - 2 - k) + 1 for k in range(longer + shorter - 1)]
    expected = [square * (k % 2) for k in pairs]
    for a, b in ((longer, shorter), (shorter, longer)):
        assert multiply(field, [ones] * a, [ones] * b) == expected


@pytest.mark.parametrize("field", FIELDS, ids=PERIODS)
def test_values_at_one_point(field: BinaryField) -> None:
    points = [*corners(field), *elements(field, 1)]
    for length in (0, 1, 2, 16, 17, 40):
        coefficients = elements(field, length)
        evaluator = Evaluator(field, coefficients)
        values = [evaluator(point) for point in points]
        assert values == [horner(field, coefficients, point) for point in points]
    assert Evaluator(field, [field.order - 1] * 39)(1) == field.order - 1


@pytest.mark.parametrize("field", FIELDS, ids=PERIODS)
@pytest.mark.parametrize("count", [1, 2, 5, 17, 64])
def test_polynomials_through_points(field: BinaryField, count: int) -> None:
    source = random.Random(count)
    points = sorted({0, *(source.randrange(field.order) for _ in range(2 * count))})[:count]
    source.shuffle(points)
    steps = list[int]()
    tree = PointTree(field, points, steps.append)
    vanishing = tree.vanishing()
    assert (len(vanishing), vanishing[-1]) == (len(points) + 1, 1)
    for seed in (1, 2):
        values = elements(field, len(points), seed)
        polynomial = tree.interpolate(values)
        assert len(polynomial) == len(points)
        for x, value in list(zip(points, values, strict=True))[:7]:
            assert horner(field, polynomial, x) == value
            assert horner(field, vanishing, x) == 0
    assert sum(steps) == PointTree.work(len(points), 2)


def test_interpolation_on_a_whole_field() -> None:
    field = BinaryField(9)
    points = list(range(64))
    assert PointTree(field, points).vanishing() == [0, 1, *[0] * 62, 1]  # y^64 - y
    inverses = [0, *(field.inverse(a) for a in points[1:])]
    assert interpolate(field, points, inverses) == [*[0] * 62, 1, 0]  # y^62
    assert (interpolate(field, [], []), PointTree(field, []).vanishing()) == ([], [1])


# --- errors ---------------------------------------------------------------------------------------

F4 = FIELDS[0]
HALF: Any = 0.5


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (partial(BinaryField, 1), "period must be an integer from 3 to 2097152, got 1"),
        (partial(BinaryField, True), "period must be an integer from 3"),
        (
            partial(BinaryField, 7),
            "period must be a prime power modulo which 2 generates the units",
        ),
        (partial(BinaryField, 15), "period must be a prime power"),
        (partial(smallest_field, 0), "bits must be an integer from 1 to 1048575, got 0"),
        (partial(smallest_field, HALF), "bits must be an integer from 1"),
        (partial(F4.mul, 0, 4), "b must be an integer from 0 to 2^2 - 1, got 4"),
        (partial(F4.mul, HALF, 0), "a must be an integer from 0 to 2^2 - 1, got 0.5"),
        (partial(F4.inverse, 0), "a must be other than 0, which has no inverse, got 0"),
        (partial(F4.power, 2, -1), "exponent must be an integer >= 0, got -1"),
        (partial(multiply, F4, [4], [1]), "element 0 must be"),
        (partial(PointTree, F4, [1, HALF]), "element 1 must be"),
        (partial(Evaluator, F4, [7]), "coefficients[0] must be"),
        (partial(Evaluator(F4, [1]), 7), "point must be"),
        (partial(interpolate, F4, [1], [7]), "element 0 must be"),
        (partial(interpolate, F4, [1], []), "values must be as many as points, 1, got 0"),
        (partial(interpolate, F4, [1, 1], [0, 0]), "points must be distinct"),
    ],
)
def test_errors(call: Callable[[], object], message: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        call()
    assert str(caught.value).startswith(message)
