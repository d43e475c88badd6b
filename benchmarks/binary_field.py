"""F_2^(2·3^l) and polynomials over it, against python-flint's fq_default and galois.

Run: python -m benchmarks.binary_field [level ...]    (3 4 5 unless said; 6 takes some minutes)

FLINT has no interpolation over these fields: its contestant is the textbook product and remainder
tree, written with its own polynomials. galois interpolates ten points only, for reasons of time.
"""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import flint

from benchmarks.timing import interleaved
from exactdp.samplers.binary_evaluation import Evaluator
from exactdp.samplers.binary_field import BinaryField
from exactdp.samplers.binary_polynomials import evaluate_many, interpolate, multiply

# Neither peer's stubs cover what is done with it here.
galois: Any = import_module("galois")

POINTS = 1000
GALOIS_POINTS = 10
#: Seconds that interpolation was asked to take on two shared cores (n = 1000).
ASKED = {3: 0.3, 4: 1.0, 5: 6.0, 6: 30.0}


class Flint:
    """The same field and the same data in python-flint's types."""

    def __init__(self, field: BinaryField) -> None:
        polynomials: Any = flint.fmpz_mod_poly_ctx(flint.fmpz_mod_ctx(2))
        self.degree = field.degree
        self.field: Any = flint.fq_default_ctx(modulus=polynomials(bits(field.modulus)))
        self.polynomials: Any = flint.fq_default_poly_ctx(self.field)

    def elements(self, values: list[int]) -> list[Any]:
        return [self.field(bits(value)) for value in values]

    def interpolate(self, points: list[Any], values: list[Any]) -> Any:
        tree = self._tree(points)
        slopes = self._remainders(tree, tree[0].derivative())
        weights = [value / slope for value, slope in zip(values, slopes, strict=True)]
        return self._combine(tree, weights)

    def _tree(self, points: list[Any]) -> Any:
        if len(points) == 1:
            return self.polynomials([points[0], 1]), None, None
        half = len(points) // 2
        left, right = self._tree(points[:half]), self._tree(points[half:])
        return left[0] * right[0], left, right

    def _remainders(self, tree: Any, polynomial: Any) -> list[Any]:
        product, left, right = tree
        rest = polynomial % product
        if left is None:
            return [rest[0]]
        return self._remainders(left, rest) + self._remainders(right, rest)

    def _combine(self, tree: Any, weights: list[Any]) -> Any:
        _, left, right = tree
        if left is None:
            return self.polynomials([weights[0]])
        half = len(weights) // 2
        one, other = self._combine(left, weights[:half]), self._combine(right, weights[half:])
        return one * right[0] + other * left[0]


def bits(value: int) -> list[int]:
    return [int(bit) for bit in reversed(f"{value:b}")]


def galois_field(level: int) -> Any:
    k = 3**level
    modulus = galois.Poly.Degrees([2 * k, k, 0])
    return galois.GF(
        2 ** (2 * k), irreducible_poly=modulus, primitive_element="x + 1", verify=False
    )


def report(title: str, contestants: dict[str, Callable[[], object]], rounds: int) -> float:
    """Print the medians; the first contestant is ours. Returns its seconds."""
    times = interleaved(contestants, rounds)
    ours = times["exactdp"]
    print(f"  {title}")
    for name, value in times.items():
        print(f"    {name:26} {1e3 * value:12.4f} ms   {value / ours:9.2f} x exactdp")
    return ours


def compare(level: int) -> None:
    source = random.Random(level)
    field = BinaryField(level)
    points, values = ([source.getrandbits(field.degree) for _ in range(POINTS)] for _ in "pv")
    peer = Flint(field)
    x, y = peer.elements(points), peer.elements(values)
    reference = galois_field(level)
    few, fewer = reference(points[:GALOIS_POINTS]), reference(values[:GALOIS_POINTS])
    many, more = reference(points), reference(values)
    print(f"\nF_2^{field.degree}, n = {POINTS}")
    report(
        "1000 products of elements",
        {
            "exactdp": lambda: [field.mul(a, b) for a, b in zip(points, values, strict=True)],
            "flint fq_default": lambda: [a * b for a, b in zip(x, y, strict=True)],
            "galois, one array": lambda: many * more,
        },
        5,
    )
    report(
        "10 inverses",
        {
            "exactdp": lambda: [field.inverse(a) for a in points[:10]],
            "flint fq_default": lambda: [a.inverse() for a in x[:10]],
            "galois, one array": lambda: many[:10] ** -1,
        },
        3,
    )
    p, q = peer.polynomials(x), peer.polynomials(y)
    report(
        "product of two polynomials of n coefficients",
        {"exactdp": partial(multiply, field, points, values), "flint fq_default": lambda: p * q},
        3,
    )
    evaluator = Evaluator(field, values)
    seconds = report(
        "value at one point",
        {
            "exactdp": partial(evaluator, points[0]),
            "flint fq_default": lambda: q(x[0]),
        },
        25,
    )
    one_value = seconds
    report(
        f"interpolation of {GALOIS_POINTS} points",
        {
            "exactdp": partial(interpolate, field, points[:GALOIS_POINTS], values[:GALOIS_POINTS]),
            "galois lagrange_poly": partial(galois.lagrange_poly, few, fewer),
        },
        1,
    )
    found = interpolate(field, points, values)
    if peer.interpolate(x, y) != peer.polynomials(peer.elements(found)):
        raise RuntimeError("the contestants disagree")
    seconds = report(
        "interpolation of n points",
        {
            "exactdp": partial(interpolate, field, points, values),
            "flint fq_default, in a tree": partial(peer.interpolate, x, y),
            "exactdp, values at n points": partial(evaluate_many, field, values, points),
        },
        1 if level > 4 else 3,
    )
    if level in ASKED:
        print(f"    asked: {ASKED[level]} s, needed {seconds:.3f} s")
    peer_times = ntl(level)
    if peer_times:
        print("  NTL, C++, in this run")
        for name, ours, theirs in zip(
            ("interpolation of n points", "value at one point"),
            (seconds, one_value),
            peer_times,
            strict=True,
        ):
            print(f"    {name:26} {1e3 * theirs:12.4f} ms   {theirs / ours:9.2f} x exactdp")


def ntl(level: int) -> list[float] | None:
    """Seconds NTL takes to interpolate and to evaluate; None where it cannot be built."""
    with TemporaryDirectory() as folder:
        program, source = f"{folder}/ntl", Path(__file__).with_name("ntl.cpp")
        flags = ["-O2", "-std=c++17", str(source), "-o", program, "-lntl", "-lgmp", "-lpthread"]
        try:
            subprocess.run(["g++", *flags], check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            print("  (NTL is not installed here: no comparison)")
            return None
        found = subprocess.run([program, str(level), str(POINTS)], check=True, capture_output=True)
    return [float(word) for word in found.stdout.split()]


def main() -> None:
    for level in [int(argument) for argument in sys.argv[1:]] or [3, 4, 5]:
        compare(level)


if __name__ == "__main__":
    main()
