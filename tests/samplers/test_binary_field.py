"""F_2^(2·3^l) against schoolbook arithmetic on bits, galois and python-flint."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import Any

import pytest
from flint import fmpz_mod_ctx, fmpz_mod_poly_ctx, fq_default_ctx, nmod_poly

from exactdp import InvalidParameter
from exactdp.samplers import binary_evaluation
from exactdp.samplers import binary_polynomials as polynomials
from exactdp.samplers.binary_evaluation import Evaluator, evaluate
from exactdp.samplers.binary_field import MAX_LEVEL, BinaryField, Slots, smallest_field

LEVELS = range(7)


def schoolbook(level: int, a: int, b: int) -> int:
    """Product modulo x^(2k) + x^k + 1, bit by bit."""
    k = 3**level
    modulus = 1 << 2 * k | 1 << k | 1
    product = 0
    for i in range(b.bit_length()):
        product ^= (a << i) * (b >> i & 1)
    for i in range(product.bit_length() - 1, 2 * k - 1, -1):
        product ^= (modulus << (i - 2 * k)) * (product >> i & 1)
    return product


def horner(level: int, coefficients: Sequence[int], point: int) -> int:
    value = 0
    for coefficient in reversed(coefficients):
        value = schoolbook(level, value, point) ^ coefficient
    return value


def elements(level: int, count: int, seed: int = 1) -> list[int]:
    """Random elements, the same in every run."""
    source = random.Random(f"{level} {count} {seed}")
    return [source.getrandbits(2 * 3**level) for _ in range(count)]


def corners(level: int) -> list[int]:
    """Elements where reduction or carries would go wrong first."""
    k = 3**level
    ones = (1 << 2 * k) - 1
    found = {0, 1, 2, 1 << k, 1 << (k - 1), 1 << (2 * k - 1), ones, ones >> k, ones ^ (ones >> k)}
    return sorted(a for a in found if a <= ones)


# --- the modulus ----------------------------------------------------------------------------------


@pytest.mark.parametrize("level", LEVELS)
def test_the_modulus_is_irreducible(level: int) -> None:
    coefficients = [int(bit) for bit in f"{BinaryField(level).modulus:b}"]
    (factor,) = nmod_poly(coefficients, 2).factor()[1]
    assert factor[0].degree() == 2 * 3**level
    assert factor[1] == 1


@pytest.mark.parametrize("level", range(MAX_LEVEL + 1))
def test_the_modulus_is_irreducible_because_2_generates_the_units(level: int) -> None:
    """It is the cyclotomic polynomial of 3^(l+1), irreducible iff 2 has order 2·3^l modulo that."""
    n, order = 3 ** (level + 1), 2 * 3**level
    assert pow(2, order, n) == 1
    assert all(pow(2, order // p, n) != 1 for p in (2, 3) if order % p == 0)


# --- arithmetic -----------------------------------------------------------------------------------


@pytest.mark.parametrize("level", [0, 1])
def test_small_fields_exhaustively(level: int) -> None:
    field = BinaryField(level)
    for a in range(field.order):
        products = [field.mul(a, b) for b in range(field.order)]
        assert products == [schoolbook(level, a, b) for b in range(field.order)]
        assert field.square(a) == products[a]
        assert field.square(field.sqrt(a)) == a
        if a:
            assert products.index(1) == field.inverse(a)


@pytest.mark.parametrize("level", LEVELS)
def test_products_against_schoolbook(level: int) -> None:
    field = BinaryField(level)
    tried = corners(level) + elements(level, 4)
    for a in tried:
        assert field.square(a) == schoolbook(level, a, a)
        for b in tried:
            assert field.mul(a, b) == schoolbook(level, a, b)


@pytest.fixture(scope="module")
def galois() -> ModuleType:
    """galois compiles as it loads, which takes seconds: only the tests that use it wait."""
    return import_module("galois")


def reference_field(galois: ModuleType, level: int) -> Any:
    k = 3**level
    modulus = galois.Poly.Degrees([2 * k, k, 0])
    # Finding a primitive element takes long and changes nothing but galois' logarithms.
    return galois.GF(
        2 ** (2 * k), irreducible_poly=modulus, primitive_element="x + 1", verify=False
    )


@pytest.mark.slow
@pytest.mark.parametrize("level", [3, 4])
def test_arithmetic_against_galois(galois: ModuleType, level: int) -> None:
    field, reference = BinaryField(level), reference_field(galois, level)
    a, b = elements(level, 40, seed=2), [c or 1 for c in elements(level, 40, seed=3)]
    x, y = reference(a), reference(b)
    expected: dict[Callable[[int, int], int], Any] = {
        field.add: x + y,
        field.mul: x * y,
        lambda p, q: field.mul(p, field.inverse(q)): x / y,
        lambda p, q: field.power(p, 1234567): x**1234567,
        lambda p, q: field.power(q, -5): y**-5,
        lambda p, q: field.square(p): x**2,
    }
    for ours, theirs in expected.items():
        assert [ours(p, q) for p, q in zip(a, b, strict=True)] == [int(z) for z in theirs]


@pytest.mark.parametrize("level", [3, 5, 6])
def test_arithmetic_against_flint(level: int) -> None:
    field = BinaryField(level)
    modulus = fmpz_mod_poly_ctx(fmpz_mod_ctx(2))([int(bit) for bit in f"{field.modulus:b}"])
    reference = fq_default_ctx(modulus=modulus)
    a, b = elements(level, 2, seed=6)
    bits: Any = [[c >> i & 1 for i in range(field.degree)] for c in (a, b)]
    x, y = (reference(c) for c in bits)
    for ours, theirs in ((field.mul(a, b), x * y), (field.inverse(a), x.inverse())):
        assert ours == sum(int(bit) << i for i, bit in enumerate(theirs.to_list()))


@pytest.mark.slow
def test_polynomials_against_galois(galois: ModuleType) -> None:
    field, reference = BinaryField(4), reference_field(galois, 4)
    a, b = elements(4, 15), elements(4, 6)
    p, q = (galois.Poly(reference(c), order="asc") for c in (a, b))
    assert polynomials.multiply(field, a, b) == ascending(p * q)
    assert polynomials.divide(field, a, b) == (ascending(p // q), ascending(p % q))
    assert polynomials.evaluate_many(field, a, b) == [int(value) for value in p(reference(b))]
    roots = galois.Poly.Roots(reference(b))
    assert polynomials.vanishing(field, b) == ascending(roots)
    through = galois.lagrange_poly(reference(b), reference(a[:6]))
    assert polynomials.interpolate(field, b, a[:6]) == ascending(through)


def ascending(polynomial: Any) -> list[int]:
    return [int(c) for c in polynomial.coefficients(order="asc")]


@pytest.mark.parametrize("level", [5, 6, 7])
def test_identities_in_large_fields(level: int) -> None:
    field = BinaryField(level)
    for a, b, c in zip(*[iter(corners(level)[1:7] + elements(level, 6))] * 3, strict=True):
        assert field.mul(a, field.mul(b, c)) == field.mul(field.mul(a, b), c)
        assert field.mul(a, field.add(b, c)) == field.add(field.mul(a, b), field.mul(a, c))
        assert field.mul(a, field.inverse(a)) == 1
        assert field.square(a) == field.mul(a, a)
        assert field.sqrt(field.square(a)) == a == field.square(field.sqrt(a))
        conjugate = a
        for _ in range(field.degree):
            conjugate = field.square(conjugate)
        assert conjugate == a
    assert field.power(a, field.order - 2) == field.inverse(a)


def test_powers() -> None:
    field = BinaryField(2)
    a = 0x2BEEF
    assert [field.power(a, e) for e in (0, 1, 2)] == [1, a, field.square(a)]
    assert field.power(a, field.order - 1) == 1
    assert field.power(a, -1) == field.inverse(a)
    assert (field.power(0, 0), field.power(0, 5)) == (1, 0)


def test_smallest_field() -> None:
    for level in range(MAX_LEVEL + 1):
        degree = 2 * 3**level
        assert smallest_field(degree) == BinaryField(level)
        if level < MAX_LEVEL:
            assert smallest_field(degree + 1) == BinaryField(level + 1)
    assert smallest_field(1).order == 4


@pytest.mark.parametrize("width", [1, 2, 13])
def test_slots_keep_what_is_packed(width: int) -> None:
    for level in (0, 3, 4):
        tried = [0, *corners(level), *elements(level, 5), 0]
        slots = Slots(level, width, len(tried))
        packed = slots.pack(tried)
        assert slots.unpack(packed, len(tried)) == tried
        assert slots.unpack(slots.reverse(packed, len(tried)), len(tried)) == tried[::-1]
        assert slots.unpack(slots.skip(packed, 2), 1) == tried[2:3]
        assert slots.first(packed, 1) == 0


# --- polynomials ----------------------------------------------------------------------------------


@pytest.mark.parametrize("level", LEVELS)
def test_products_of_polynomials(level: int) -> None:
    field = BinaryField(level)
    full = [field.order - 1] * 8  # every slot filled to its largest count
    for a, b in ((full, full), (elements(level, 9), elements(level, 4)), ([0, 0], [0]), ([], [1])):
        expected = [0] * (len(a) + len(b) - 1) if a and b else []
        for i, x in enumerate(a):
            for j, y in enumerate(b):
                expected[i + j] ^= schoolbook(level, x, y)
        assert polynomials.multiply(field, a, b) == expected


@pytest.mark.parametrize(("longer", "shorter"), [(257, 1), (700, 3), (900, 300)])
def test_products_of_long_polynomials(longer: int, shorter: int) -> None:
    """They are multiplied in parts."""
    field, a, b = BinaryField(1), elements(1, longer), elements(1, shorter, seed=1)
    products = [[field.mul(x, y) for y in range(field.order)] for x in range(field.order)]
    expected = [0] * (longer + shorter - 1)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            expected[i + j] ^= products[x][y]
    assert polynomials.multiply(field, a, b) == polynomials.multiply(field, b, a) == expected


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    ("longer", "shorter"), [(1, 1), (2, 1), (20, 3), (20, 13), (21, 20), (3, 7)]
)
def test_division(level: int, longer: int, shorter: int) -> None:
    field = BinaryField(level)
    a, b = elements(level, longer), [*elements(level, shorter - 1), field.order - 1]
    quotient, remainder = polynomials.divide(field, a, [*b, 0, 0])
    assert len(remainder) < len(b)
    assert not remainder or remainder[-1]
    back = polynomials.add(field, polynomials.multiply(field, quotient, b), remainder)
    assert [*back, *[0] * (longer - len(back))] == a


@pytest.mark.parametrize("level", [3, 4, 5])
def test_full_slots_in_long_products(level: int) -> None:
    """All ones squared, where counts are largest: (sum of y^i)² = sum of y^(2i)."""
    field = BinaryField(level)
    ones = field.order - 1
    square = polynomials.multiply(field, [ones] * 100, [ones] * 100)
    assert square == [field.square(ones) * (i % 2 == 0) for i in range(199)]


@pytest.mark.parametrize("halvings", [0, 1, 9])  # in one integer; the others in rows of bytes
@pytest.mark.parametrize("level", LEVELS)
def test_values_at_one_point(monkeypatch: pytest.MonkeyPatch, level: int, halvings: int) -> None:
    monkeypatch.setattr(binary_evaluation, "_PACKED_LEVEL", -1)
    monkeypatch.setattr(binary_evaluation, "_PACKED_HALVINGS", halvings)
    field = BinaryField(level)
    points = [*corners(level), *elements(level, 1)]
    for length in (0, 1, 2, 16, 17, 40) if level < 5 else (33,):
        coefficients = elements(level, length)
        evaluator = Evaluator(field, coefficients)
        values = [evaluator(point) for point in points]
        assert values == [horner(level, coefficients, point) for point in points]
        assert evaluate(field, coefficients, points[1]) == values[1]
    full = [field.order - 1] * 40
    assert evaluate(field, full, 1) == 0
    assert evaluate(field, full[:39], 1) == field.order - 1


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("length", "count"), [(0, 3), (3, 0), (1, 5), (5, 1), (7, 30), (30, 7)])
def test_values_at_many_points(level: int, length: int, count: int) -> None:
    field = BinaryField(level)
    coefficients, points = elements(level, length), elements(level, count)
    points[1:2] = points[:1]  # one point twice
    evaluator = Evaluator(field, coefficients)
    values = polynomials.evaluate_many(field, coefficients, points)
    assert values == [evaluator(point) for point in points]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 17, 64])
def test_interpolation_round_trips(level: int, count: int) -> None:
    field = BinaryField(level)
    source = random.Random(count)
    points = sorted({0, *(source.randrange(field.order) for _ in range(2 * count))})[:count]
    source.shuffle(points)
    values = elements(level, len(points))
    coefficients = polynomials.interpolate(field, points, values)
    assert len(coefficients) == len(points)
    assert polynomials.evaluate_many(field, coefficients, points) == values
    assert polynomials.interpolate(
        field, points, polynomials.evaluate_many(field, values, points)
    ) == values  # fmt: skip


@pytest.mark.parametrize("level", [3, 5])
def test_evaluators_agree_on_a_long_polynomial(level: int) -> None:
    field = BinaryField(level)
    coefficients, points = elements(level, 300), elements(level, 5)
    expected = [horner(level, coefficients, point) for point in points]
    evaluator = Evaluator(field, coefficients)
    assert [evaluator(point) for point in points] == expected
    assert polynomials.evaluate_many(field, coefficients, points) == expected


@pytest.mark.parametrize("n", [0, 1, 2, 3, 7, 8, 21])
def test_all_work_on_points_is_told(n: int) -> None:
    """The shares that a bar of progress adds up are those it was told of before."""
    points, told = elements(3, n, seed=4), list[int]()
    tree = polynomials.PointTree(BinaryField(3), points, told.append)
    assert tree.vanishing() == polynomials.vanishing(BinaryField(3), points)
    tree.interpolate(elements(3, n, seed=5))
    assert sum(told) == polynomials.PointTree.work(n)


def test_interpolation_on_a_whole_field() -> None:
    field = BinaryField(1)
    points = list(range(64))
    assert polynomials.vanishing(field, points) == [0, 1, *[0] * 62, 1]  # y^64 - y
    inverses = [0, *(field.inverse(a) for a in points[1:])]
    assert polynomials.interpolate(field, points, inverses) == [*[0] * 62, 1, 0]  # y^62


@pytest.mark.parametrize("level", [3, 5])
def test_vanishing_polynomials_leave_the_values_as_they_are(level: int) -> None:
    field = BinaryField(level)
    points, values = elements(level, 25, seed=4), elements(level, 25, seed=5)
    vanishing = polynomials.vanishing(field, points)
    assert len(vanishing) == 26
    assert vanishing[-1] == 1
    assert polynomials.evaluate_many(field, vanishing, points) == [0] * 25
    multiple = polynomials.multiply(field, vanishing, elements(level, 6))
    some = polynomials.add(field, multiple, polynomials.interpolate(field, points, values))
    assert polynomials.evaluate_many(field, some, points) == values
    assert polynomials.divide(field, some, vanishing)[0] == elements(level, 6)
    assert polynomials.vanishing(field, []) == [1]


# --- errors ---------------------------------------------------------------------------------------

F4 = BinaryField(0)
HALF: Any = 0.5


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (partial(BinaryField, -1), "level must be an integer from 0 to 12, got -1"),
        (partial(BinaryField, True), "level must be an integer from 0 to 12, got True"),
        (partial(BinaryField, MAX_LEVEL + 1), "level must be an integer from 0 to 12, got 13"),
        (partial(smallest_field, 0), "bits must be an integer from 1 to 1062882, got 0"),
        (partial(smallest_field, 1062883), "bits must be an integer from 1 to 1062882, got"),
        (partial(smallest_field, HALF), "bits must be an integer from 1 to 1062882, got 0.5"),
        (partial(F4.add, 0, 4), "b must be an integer from 0 to 2^2 - 1, got 4"),
        (partial(F4.mul, -1, 0), "a must be an integer from 0 to 2^2 - 1, got -1"),
        (partial(F4.mul, HALF, 0), "a must be an integer from 0 to 2^2 - 1, got 0.5"),
        (partial(F4.square, 4), "a must be"),
        (partial(F4.sqrt, 4), "a must be"),
        (partial(F4.inverse, 0), "a must be other than 0, which has no inverse, got 0"),
        (partial(F4.power, 0, -1), "a must be other than 0, which has no inverse, got 0"),
        (partial(F4.power, 2, HALF), "exponent must be an integer, got 0.5"),
        (partial(polynomials.add, F4, [1], [0, 4]), "b[1] must be"),
        (partial(polynomials.multiply, F4, [4], [1]), "a[0] must be"),
        (partial(polynomials.divide, F4, [1], [0]), "b must be a polynomial other than zero"),
        (partial(polynomials.vanishing, F4, [1, HALF]), "points[1] must be"),
        (partial(evaluate, F4, [7], 1), "coefficients[0] must be"),
        (partial(evaluate, F4, [1], 7), "point must be"),
        (partial(polynomials.evaluate_many, F4, [1], [7]), "points[0] must be"),
        (partial(polynomials.interpolate, F4, [1], [7]), "values[0] must be"),
        (partial(polynomials.interpolate, F4, [1], []), "len(values) must be len(points) = 1, got"),
        (partial(polynomials.interpolate, F4, [1, 1], [0, 0]), "points must be distinct"),
    ],
)
def test_errors(call: Callable[[], object], message: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        call()
    assert str(caught.value).startswith(message)
