"""Exact laws of code that takes its randomness from an object like random.Random."""

from __future__ import annotations

import copy
import math
import os
import pickle
import random
from decimal import Decimal
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest

from exactdp.accounting import divergence
from exactdp.audit import compare, foreign_law, private
from exactdp.audit.code import NotEnumerable
from exactdp.balls import ball, refine
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter, TooManyBranches
from exactdp.law import Law

HALF = Fraction(1, 2)
GRID = 1 << 53


def share(test) -> Fraction:
    """P(test(k 2^-53)), by bisection on a test that holds exactly below some k."""
    low, high = 0, GRID
    while low < high:
        middle = (low + high) // 2
        if test(middle * 2.0**-53):
            low = middle + 1
        else:
            high = middle
    return Fraction(low, GRID)


def cell(n: int, i: int) -> Fraction:
    """P(int(random() * n) == i)."""
    return share(lambda u: u * float(n) < i + 1) - share(lambda u: u * float(n) < i)


def laws(programs) -> list[Law]:
    """The laws of some programs, by one audit of a program that runs one of them."""
    n = len(programs)

    def one(rng):
        i = rng.randrange(n)
        return i, programs[i](rng)

    joint = foreign_law(one)
    return [Law({y: n * p for (j, y), p in joint.items() if j == i}) for i in range(n)]


DRAWS = [
    (lambda rng: rng.getrandbits(3), range(8)),
    (lambda rng: rng.getrandbits(0), [0]),
    (lambda rng: rng.randrange(5), range(5)),
    (lambda rng: rng.randrange(2, 7), range(2, 7)),
    (lambda rng: rng.randrange(1, 20, 4), range(1, 20, 4)),
    (lambda rng: rng.randrange(7, -6, -3), range(7, -6, -3)),
    (lambda rng: rng.randint(-2, 2), range(-2, 3)),
    (lambda rng: rng.choice("abc"), "abc"),
    (lambda rng: rng.randbytes(1), [bytes([i]) for i in range(256)]),
    (lambda rng: rng.randbelow(3), range(3)),
    (lambda rng: rng.randbits(2), range(4)),
    (lambda rng: rng.SystemRandom().randrange(3), range(3)),
]
USES = [
    lambda x: x + 3,
    lambda x: 3 - x,
    lambda x: 5 * x - 7,
    lambda x: x * -2,
    lambda x: x // 3,
    lambda x: -x // 3,
    lambda x: x % 5,
    lambda x: (x + 1) % 5,
    lambda x: x & 3,
    lambda x: x & 5,
    lambda x: 3 & x,
    lambda x: x | 8,
    lambda x: 8 ^ x,
    lambda x: x >> 1,
    lambda x: x << 2,
    lambda x: ~x,
    lambda x: abs(x - 5),
    lambda x: divmod(x, 4),
    lambda x: divmod(30, x + 1),
    lambda x: x**2,
    lambda x: 2**x,
    lambda x: pow(x, 2, 7),
    lambda x: 7 % (x + 1),
    lambda x: 7 // (x + 1),
    lambda x: 1 << x,
    lambda x: x / 7,
    lambda x: 12 / (x - 20),
    lambda x: Fraction(1, 3) * x,
    lambda x: Fraction(x, 12),
    lambda x: Fraction(1, 2) + x,
    lambda x: x + Decimal("0.5"),
    lambda x: x - 0.1,
    lambda x: [10 * i for i in range(12)][x],
    lambda x: "abcdefghijklmnop"[x : x + 2],
    lambda x: x == 3,
    lambda x: x != 3,
    lambda x: x in (1, 4, 9),
    lambda x: {1: "a", 4: "b"}.get(x),
    lambda x: (x < 4, x <= 4, x > 4, x >= 2.5),
    lambda x: x > Fraction(7, 2),
    lambda x: Fraction(7, 2) > x,
    lambda x: x < math.inf,
    lambda x: x < math.nan,
    lambda x: bool(x),
    lambda x: float(x),
    lambda x: complex(x),
    lambda x: f"{x:03d} {x} {x!r}",
    lambda x: "%d" % x,  # noqa: UP031
    lambda x: x.bit_length(),
    lambda x: x.to_bytes(2, "big"),
    lambda x: isinstance(x, int),
    lambda x: list(range(x)),
    lambda x: math.comb(12, x),
    lambda x: sum([x, x, 1]),
    lambda x: max(x, 4),
    lambda x: sorted([7, x, 3]),
    lambda x: sorted({x, 3}),
    lambda x: {x: x},
    lambda x: copy.deepcopy([x, x + 1]),
    lambda x: pickle.loads(pickle.dumps(x)),  # noqa: S301
    lambda x: np.array([1, 2, 3])[int(x) % 3],
    lambda x: int(np.int64(3) + int(x)),
    lambda x: float(np.sqrt(x)),
    lambda x: bool(np.any(x <= np.array([2.5, 7.0]))),
    lambda x: int(np.argmax(x <= np.array([2.5, 7.0, 20.0]))),
    lambda x: round(x / 4),
    lambda x: round(x / 7, 1),
    lambda x: (math.floor(x / 4), math.ceil(x / 4), math.trunc(-x / 4), int(x / 4)),
    lambda x: 3 if x < 3 else (x - 3) // 2,
    lambda x: (x % 2, x < 5, x),
    lambda x: (x < 5, x % 4, x == 6),
]


class TestIntegers:
    @pytest.mark.slow
    def test_uniform(self) -> None:
        for law, (_, values) in zip(laws([draw for draw, _ in DRAWS]), DRAWS, strict=True):
            assert law == Law.uniform(values)

    @pytest.mark.slow
    def test_each_use_has_the_law_of_an_ordinary_integer(self) -> None:
        from exactdp.audit.code.outcomes import hashable

        by_use = laws([lambda rng, use=use: use(rng.randrange(12)) for use in USES])
        for law, use in zip(by_use, USES, strict=True):
            assert law == Law.uniform([hashable(use(x)) for x in range(12)])

    def test_modulo_bias_is_exact(self) -> None:
        law = foreign_law(lambda rng: rng.getrandbits(32) % 10, max_runs=30)
        wide = 1 << 32
        assert all(law[i] == Fraction(len(range(i, wide, 10)), wide) for i in range(10))

    @pytest.mark.slow
    def test_two_numbers_are_compared_bit_by_bit(self) -> None:
        law = foreign_law(lambda rng: rng.randrange(6) < rng.randrange(6))
        assert law[True] == Fraction(15, 36)
        tie = foreign_law(lambda rng: rng.randrange(6) == rng.randrange(6))
        assert tie[True] == Fraction(1, 6)
        wide = foreign_law(lambda rng: rng.random() < rng.random(), residual="1e-2")
        assert abs(wide[True] - HALF) <= wide.residual <= Fraction(1, 100)

    def test_a_number_and_its_own_complement(self) -> None:
        def program(rng):
            u = rng.random()
            return u < 1 - u

        law = foreign_law(program, residual="1e-9")
        assert abs(law[True] - HALF) <= law.residual


class TestRandom:
    @pytest.mark.slow
    def test_comparison(self) -> None:
        bounds = [0.3, 0.5, 1 / 3, 1e-300, 0.0, 1.0, 2.0, -1.0, Fraction(1, 3), Decimal("0.7"), 1]
        twice = [lambda rng, p=p: (lambda u: (u < p, u < p))(rng.random()) for p in bounds]
        # a fraction asks whether the float is a number before it compares
        reversible = [p for p in bounds if not isinstance(p, Fraction)]
        reverse = [lambda rng, p=p: p > rng.random() for p in reversible]
        for law, p in zip(laws(twice), bounds, strict=True):
            assert law[(True, True)] == share(lambda u, p=p: u < p)
        for law, p in zip(laws(reverse), reversible, strict=True):
            assert law[True] == share(lambda u, p=p: u < p)

    def test_rounding_is_that_of_floats(self) -> None:
        n = 49
        law = foreign_law(lambda rng: int(rng.random() * n))
        for i in range(n):
            assert law[i] == cell(n, i)
        assert law != Law.uniform(range(n))
        assert compare(law, Law.uniform(range(n)), tolerance="1e-15").verdict == "agrees"
        comparison = compare(law, Law.uniform(range(n)), tolerance=0)
        assert comparison.as_dict()["verdict"] == comparison.verdict == "differs"

    def test_uniform(self) -> None:
        law = foreign_law(lambda rng: rng.uniform(-0.3, 0.9) < 0.1)
        assert law[True] == share(lambda u: -0.3 + (0.9 - -0.3) * u < 0.1)

    def test_round_and_negative(self) -> None:
        law = foreign_law(lambda rng: round(-2 * rng.random()))
        assert set(law) == {0, -1, -2}
        assert law[-1] == share(lambda u: u < 0.75) - share(lambda u: u <= 0.25)

    @pytest.mark.slow
    def test_equality_of_one_value(self) -> None:
        assert foreign_law(lambda rng: rng.random() == 0.5)[True] == Fraction(1, GRID)
        assert foreign_law(lambda rng: rng.random() == 0.1 + 2**-55)[True] == 0
        assert foreign_law(lambda rng: not rng.random())[True] == Fraction(1, GRID)
        assert foreign_law(lambda rng: isinstance(rng.random(), float))[True] == 1

    @pytest.mark.few(1)
    @pytest.mark.parametrize(
        "use",
        [
            lambda rng: rng.random(),
            lambda rng: math.log(rng.random()),
            lambda rng: np.log(rng.random()),
            lambda rng: rng.random() + rng.random() < 1,
            lambda rng: rng.getrandbits(64),
            lambda rng: hash(rng.randrange(10**9)),
            lambda rng: rng.random() ** 2 < 0.5,
            lambda rng: 1 / rng.random() > 4,
            lambda rng: rng.randbytes(8),
        ],
    )
    def test_what_cannot_be_enumerated_says_what_to_do(self, use) -> None:
        with pytest.raises(NotEnumerable, match="randrange"):
            foreign_law(use)


class TestSequences:
    def test_shuffle(self) -> None:
        def program(rng):
            items = list("abcd")
            rng.shuffle(items)
            return items

        assert foreign_law(program) == Law.uniform(permutations("abcd"))

    @pytest.mark.few(1)
    @pytest.mark.parametrize("k", [0, 1, 2, 3])
    def test_sample(self, k: int) -> None:
        law = foreign_law(lambda rng: rng.sample([1, 2, 3, 4], k))
        assert law == Law.uniform(permutations([1, 2, 3, 4], k))

    @pytest.mark.slow
    def test_sample_by_rejection(self) -> None:
        # beyond 21 elements CPython draws again until an element is new
        law = foreign_law(lambda rng: rng.sample(range(22), 2), residual="1e-3")
        even = Fraction(1, 22 * 21)
        assert len(law) == 462
        assert all(0 <= even - weight <= law.residual for weight in law.weights.values())

    def test_choices_has_the_law_of_the_running_python(self) -> None:
        law = foreign_law(lambda rng: rng.choices("abc", k=2))
        assert law[("a", "b")] == cell(3, 0) * cell(3, 1)
        assert sum(law.weights.values()) == 1

    @pytest.mark.few(1)
    @pytest.mark.parametrize(
        "weights", [[1, 2, 3], [Fraction(1, 3), Fraction(1, 2), 2], [0.1, 0.2, 0.7], [0, 1, 0]]
    )
    def test_choices_with_weights(self, weights) -> None:
        law = foreign_law(lambda rng: rng.choices("abc", weights)[0])
        sums = [weights[0], weights[0] + weights[1]]
        total = sum(weights[1:], weights[0]) + 0.0
        below = [share(lambda u, cut=cut: u * total < cut) for cut in sums] + [Fraction(1)]
        assert [law[x] for x in "abc"] == [b - a for a, b in zip([0, *below], below, strict=False)]


class TestNumpy:
    def law(self, program) -> Law:
        return foreign_law(program, interface="numpy")

    @pytest.mark.slow
    def test_integers(self) -> None:
        assert self.law(lambda rng: rng.integers(3)) == Law.uniform(range(3))
        assert self.law(lambda rng: rng.integers(-1, 1, endpoint=True)) == Law.uniform([-1, 0, 1])
        pairs = Law.uniform(product(range(3), range(3)))
        assert self.law(lambda rng: rng.integers(0, 3, size=2)) == pairs
        assert self.law(lambda rng: rng.integers(0, 3, 2).sum() == 4)[True] == Fraction(1, 9)

    @pytest.mark.slow
    def test_sequences(self) -> None:
        assert self.law(lambda rng: rng.permutation(3)) == Law.uniform(permutations(range(3)))
        assert self.law(lambda rng: rng.choice(4)) == Law.uniform(range(4))
        assert self.law(lambda rng: rng.choice(["a", "b"], 2)) == Law.uniform(product("ab", "ab"))
        without = Law.uniform(permutations(range(3), 2))
        assert self.law(lambda rng: rng.choice(3, 2, replace=False)) == without
        assert self.law(lambda rng: rng.random() < 0.25)[True] == Fraction(1, 4)

    @pytest.mark.slow
    def test_refused(self) -> None:
        for program in (
            lambda rng: rng.normal(),
            lambda rng: rng.laplace(size=3),
            lambda rng: rng.random(5),
            lambda rng: rng.binomial(1000, 0.5),
        ):
            with pytest.raises(NotEnumerable, match=r"randrange|mean above 30"):
                self.law(program)
        with pytest.raises(AttributeError):
            self.law(lambda rng: rng.no_such_method())
        with pytest.raises(ValueError, match="low >= high"):
            self.law(lambda rng: rng.integers(3, 3))


class TestRefusals:
    @pytest.mark.few(1)
    @pytest.mark.parametrize(
        "name",
        ["gauss", "normalvariate", "paretovariate", "seed", "getstate", "setstate"],
    )
    def test_refused_methods_are_named(self, name: str) -> None:
        with pytest.raises(NotEnumerable, match=f"^{name} has no exact law here; "):
            foreign_law(lambda rng: getattr(rng, name)())

    def test_it_passes_for_the_generators_it_stands_for(self) -> None:
        law = foreign_law(lambda rng: isinstance(rng, random.Random) and rng.randrange(2))
        assert law == Law.uniform([0, 1])

    def test_a_copied_generator(self) -> None:
        with pytest.raises(NotEnumerable, match="copy of the generator"):
            foreign_law(lambda rng: copy.copy(rng).getrandbits(1))
        with pytest.raises(NotEnumerable, match="copy of the generator"):
            foreign_law(lambda rng: rng.__reduce_ex__(2))

    def test_other_randomness_is_noticed(self) -> None:
        with pytest.raises(NotEnumerable, match="urandom"):
            foreign_law(lambda rng: (rng.randrange(4), os.urandom(8)))

    @pytest.mark.slow
    def test_a_loop_that_never_ends_is_given_up(self) -> None:
        def program(rng):
            while rng.randrange(2):
                rng.randrange(3) < 1  # noqa: B015
            return 0

        with pytest.raises(TooManyBranches):
            foreign_law(program, residual=0, max_runs=500)

    def test_arguments(self) -> None:
        with pytest.raises(InvalidParameter, match="interface"):
            foreign_law(lambda rng: 0, interface="secrets")
        with pytest.raises(InvalidParameter, match="exceptions"):
            foreign_law(lambda rng: 0, exceptions="ignore")
        with pytest.raises(InvalidParameter, match="delta"):
            private(lambda d, rng: 0, 0, 1, epsilon=1, delta=2)

    @pytest.mark.slow
    def test_exceptions_of_the_program(self) -> None:
        def program(rng):
            return [5, 6][rng.randrange(3)]

        with pytest.raises(IndexError) as caught:
            foreign_law(program)
        assert "test_code.py" in caught.value.__notes__[0]
        with pytest.raises(Spent, match="3 of 2"):
            foreign_law(lambda rng: spend(3 + rng.randrange(1)))
        law = foreign_law(program, exceptions="outcome")
        assert law[("raised", "IndexError")] == Fraction(1, 3)


class Spent(Exception):
    def __init__(self, cost: int, budget: int) -> None:
        super().__init__(f"{cost} of {budget}")


def spend(cost: int) -> int:
    raise Spent(cost, 2)


# Samplers written for this test in the manner of published code: loops over rng.randrange.


def coin(p: Fraction, rng) -> bool:
    return rng.randrange(p.denominator) < p.numerator


def coin_exp_small(x: Fraction, rng) -> int:
    k = 1
    while coin(x / k, rng):
        k += 1
    return k % 2


def exponential(x: Fraction) -> Enclosure:
    return refine(lambda: (-ball(x)).exp(), relative_width=Fraction(1, 10**40))


def complement(e: Enclosure) -> Enclosure:
    return Enclosure(1 - e.upper, 1 - e.lower)


class TestSamplers:
    @pytest.mark.few(1)
    @pytest.mark.parametrize("x", [Fraction(0), Fraction(1, 3), Fraction(1), Fraction(999, 1000)])
    def test_exponential_coin(self, x: Fraction) -> None:
        law = foreign_law(lambda rng: coin_exp_small(x, rng))
        p = exponential(x)
        comparison = compare(law, lambda o: p if o else complement(p), tolerance=Fraction(1, 2**63))
        assert comparison.verdict == "agrees"
        strict = compare(law, lambda o: p if o else complement(p), tolerance=0)
        assert strict.verdict == ("undecided" if x else "agrees")


class TestPrivate:
    @pytest.mark.slow
    def test_randomised_response(self) -> None:
        def respond(bit, rng):
            return bit if rng.randrange(4) else 1 - bit

        assert private(respond, 0, 1, epsilon="1.1").verdict == "proved"
        verdict = private(respond, 0, 1, epsilon=1)
        assert verdict.verdict == "refuted"
        exact = divergence.hockey_stick(
            Law({0: Fraction(3, 4), 1: Fraction(1, 4)}),
            Law({0: Fraction(1, 4), 1: Fraction(3, 4)}),
            epsilon=1,
        )
        assert verdict.deltas[0] == exact
        assert verdict.event == (0,)
        assert verdict.probabilities == (Fraction(3, 4), Fraction(1, 4))
        assert private(respond, 0, 1, epsilon=1, delta="0.1").verdict == "proved"
        assert verdict.as_dict()["verdict"] == "refuted"

    @pytest.mark.slow
    def test_direction(self) -> None:
        def leaky(count, rng):
            return count if rng.randrange(10) == 0 else 0

        assert private(leaky, 1, 0, epsilon=1).direction == "left"
        verdict = private(leaky, 0, 1, epsilon=1)
        assert verdict.direction == "right"
        assert verdict.event == (1,)
        assert verdict.probabilities == (0, Fraction(1, 10))

    @pytest.mark.slow
    def test_residual_leaves_it_undecided(self) -> None:
        def loop(count, rng):
            while rng.randrange(2):
                count += 1
            return count

        assert private(loop, 0, 0, epsilon=1).verdict == "undecided"
        assert private(loop, 0, 1, epsilon=1, delta="1e-9").verdict == "refuted"


class TestReach:
    @pytest.mark.slow
    def test_what_is_out_of_reach_ends_early_and_says_what_helps(self) -> None:
        with pytest.raises(TooManyBranches, match=r"falls too slowly.*residual="):
            foreign_law(lambda rng: sum(rng.getrandbits(1) for _ in range(24)), max_runs=1 << 10)

    @pytest.mark.parametrize(
        ("bits", "limit"), [(64, 400), pytest.param(8, 800, marks=pytest.mark.slow)]
    )
    def test_a_residual_below_every_float_is_reached_by_a_loop(self, bits: int, limit: int) -> None:
        """Every round leaves 2^-bits; how many are still needed is foreseen from logarithms."""

        def program(rng):
            count = 0
            while rng.getrandbits(bits) == 0:
                count += 1
            return count

        law = foreign_law(program, residual=f"1e-{limit}", progress=False)
        assert law.residual <= Fraction(1, 10**limit) < law.residual * 2**bits

    def test_a_residual_below_every_float_is_kept(self) -> None:
        def respond(bit, rng):
            return bit if rng.randrange(4) else 1 - bit

        verdict = private(respond, 0, 1, epsilon="1.0987", residual="1e-9000", progress=False)
        assert (verdict.verdict, verdict.deltas[0].upper) == ("proved", 0)


@pytest.mark.slow  # scipy.stats makes every later fork of this process dearer
def test_what_scipy_holds_is_no_hindrance() -> None:
    from scipy.stats import norm

    held = norm(0, 1)
    assert len(foreign_law(lambda rng: rng.randrange(2) if held.cdf(0.0) > 0 else 2)) == 2
