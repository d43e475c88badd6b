"""Random small programs on drawn numbers, as source text.

A template's letters in angle brackets are holes: I an integer, F a float, B a truth value, S a
text, C a positive and c a small constant. Nothing keeps a program from raising: it is guarded.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass

_HOLE = re.compile(r"<([A-Za-z]+)>")

#: What looks at a number rather than calculating with it.
_LOOKS = re.compile(r"np\.|json|type\(|case int| is ")

_SHARED: dict[str, list[str]] = {
    "I": [
        "(<I> + <I>)",
        "(<I> - <I>)",
        "(<I> * <I>)",
        "(<I> // <C>)",
        "(<I> % <C>)",
        "(<I> // <I>)",
        "(<I> % <I>)",
        "(-<I>)",
        "(~<I>)",
        "abs(<I>)",
        "min(<I>, <I>)",
        "max(<I>, <I>)",
        "(<I> & <I>)",
        "(<I> | <I>)",
        "(<I> ^ <I>)",
        "(<I> >> <c>)",
        "(<I> << <c>)",
        "(<I> ** <c>)",
        "pow(<I>, 2, 5)",
        "int(<F>)",
        "round(<F>)",
        "math.floor(<F>)",
        "math.ceil(<F>)",
        "math.trunc(<F>)",
        "len(<S>)",
        "int(<B>)",
        "(<I> if <B> else <I>)",
        "(<I> and <I>)",
        "[3, 1, 2][<I> % 3]",
        "{0: 5, 1: 7}.get(<I>, <I>)",
        "divmod(<I>, <C>)[1]",
        "sum([<I>, <I>])",
        "sorted([<I>, <I>, 1])[1]",
        "helper(<I>)",
        "int(str(<I>))",
        "math.gcd(<I>, 6)",
        "(lambda t: t + 1)(<I>)",
        "int(np.sum([<I>, <I>]))",
        "np.array([<I>, 2]).max()",
        "np.int64(<I>)",
        "[<I>, <I>].index(<I>)",
        "max([<I>, <I>], key=lambda t: -t)",
        "next((t for t in range(5) if t > <I>), <I>)",
        "(<B> + <B>)",
        "(<I> - <B>)",
    ],
    "F": [
        "(<I> / <C>)",
        "float(<I>)",
        "(<F> + <F>)",
        "(<F> - <F>)",
        "(<F> * <F>)",
        "(<F> - 0.5)",
        "(0.1 * <I>)",
        "(1 - <F>)",
        "(<I> * math.inf)",
        "math.sqrt(abs(<I>))",
        "(<F> % 0.3)",
        "(<F> // 0.3)",
        "(<I> / <I>)",
        "(1 / <I>)",
        "round(<F>, 1)",
        "np.float32(<F>)",
        "math.log(abs(<I>) + 1)",
        "abs(<F>)",
        "min(<F>, <F>)",
        "max(<F>, 0.25)",
        "(-<F>)",
        "(<F> ** 2)",
        "(-0.0 * <I>)",
        "(math.nan if <B> else <F>)",
        "Fraction(<I>, 3)",
        "(Fraction(1, 3) * <I>)",
        "(<I> * Decimal('0.5'))",
        "np.sqrt(abs(<F>))",
    ],
    "B": [
        "(<I> < <I>)",
        "(<I> <= <C>)",
        "(<I> == <I>)",
        "(<I> != <c>)",
        "(<F> < <F>)",
        "(<F> >= 0.5)",
        "(0.5 > <F>)",
        "(<I> in (1, 2, 5))",
        "(<I> in {0, 3})",
        "(not <B>)",
        "(<B> and <B>)",
        "(<B> or <B>)",
        "bool(<I>)",
        "isinstance(<I>, int)",
        "isinstance(<F>, float)",
        "(type(<I>) is int)",
        "(<I> != <F>)",
        "(<c> < <F> < <C>)",
        "math.isnan(<F>)",
        "(<S> == <S>)",
        "<S>.isdigit()",
        "any([<B>, <B>])",
        "(<B> ^ <B>)",
        "np.isclose(<F>, 0.5)",
        "np.any(np.array([1, 3]) > <I>)",
    ],
    "S": [
        "str(<I>)",
        "repr(<I>)",
        "f'{(<I>):3d}'",
        "('%d' % <I>)",
        "'abc'[<I> % 3]",
        "('ab' * (<I> % 3))",
        "bin(<I>)",
        "format(<I>, 'x')",
        "type(<I>).__name__",
        "(<S> + <S>)",
        "str(<F>)",
        "json.dumps(<I>)",
        "json.dumps([<I>, <F>])",
        "str([<I>, <B>])",
        "str(sorted({<I>, <I>}))",
        "','.join(map(str, [<I>, <I>]))",
        "str(Counter([<I>, <I>]).most_common(1))",
        "str(np.array([<I>, 1]))",
    ],
    "O": ["<I>", "<F>", "<B>", "<S>", "(<I>, <B>)", "[<I>, <F>]", "{<S>: <I>}", "(<I>, <S>, <B>)"],
    "L": [
        "v = <I>",
        "w = <F>",
        "v += <I>",
        "v *= <C>",
        "w -= <F>",
        "if <B>:\n    v = <I>\nelse:\n    w = <F>",
        "if <B>:\n    return <O>",
        "for i in range(<I> % 3):\n    v += i * <I>",
        "try:\n    v = <I>\nexcept (TypeError, ValueError, ZeroDivisionError):\n    v = <I>",
        "try:\n    w = <F>\nexcept Exception:\n    w = 0.5",
        "match <I>:\n    case 0:\n        v = <I>\n    case int():\n        v += 1\n    case _:\n"
        "        v = 9",
        "xs = [<I>, <I>]\nxs[<I> % 2] = <I>\nv = xs[0]",
        "while abs(v) > 6 and <B>:\n    v //= 2",
        "memo = {}\nfor i in range(2):\n    v = memo.setdefault(<I>, <I>)",
    ],
    "C": ["1", "2", "3", "4", "5", "7", "10"],
    "c": ["0", "1", "2", "3"],
}

_STATEFUL = [
    "v = memo.setdefault(<I> % 2, <I>)",
    "memo[<I> % 3] = <I>",
    "v = len(memo) + <I>",
    "calls.append(<c>)",
    "v = memo.get(<I>, <I>)",
    "if len(calls) > 5:\n    return <O>",
]

_DRAWS = {
    "random": [
        "rng.randrange(<C>)",
        "rng.randrange(2)",
        "rng.randrange(-1, 3)",
        "rng.randint(0, 3)",
        "rng.getrandbits(2)",
        "rng.choice([2, 5, 9])",
        "rng.randrange(0, 8, 2)",
    ],
    "numpy": [
        "rng.integers(<C>)",
        "rng.integers(2)",
        "rng.integers(-1, 3)",
        "rng.integers(0, 3, endpoint=True)",
        "rng.choice([2, 5, 9])",
    ],
}

_FIRST = {
    ("random", "narrow"): ["rng.randrange(6)", "rng.randrange(-2, 4)", "rng.getrandbits(3)"],
    ("numpy", "narrow"): ["rng.integers(6)", "rng.integers(-2, 4)"],
    ("random", "middle"): ["rng.randrange(300)", "rng.getrandbits(8)", "rng.randrange(-150, 100)"],
    ("numpy", "middle"): ["rng.integers(300)", "rng.integers(-150, 100)"],
    ("random", "broad"): ["rng.randrange(70_000)", "rng.randrange(-(10**5), 10**5)"],
    ("numpy", "broad"): ["rng.integers(70_000)", "rng.integers(-(10**5), 10**5)"],
    ("random", "huge"): ["rng.randrange(10**9)", "rng.getrandbits(60)", "rng.randrange(10**20)"],
    ("numpy", "huge"): ["rng.integers(2**62)", "rng.integers(-(2**63), 2**63 - 1)"],
    ("random", "float"): ["rng.random()", "rng.uniform(-0.3, 0.9)"],
    ("numpy", "float"): ["rng.random()"],
}

_NUMPY_ONLY = {
    "I": ["(<I>).item()", "(<I> ** 40)", "(2 ** (<I> % 70))", "(<I> << 62)"],
    "S": ["str((<I>).dtype)"],
}


@dataclass(frozen=True)
class Kind:
    """What a program draws: its interface, how wide its first draw is, whether it keeps state."""

    interface: str
    width: str
    stateful: bool = False


class Writer:
    """Writes programs of one kind."""

    def __init__(self, rng: random.Random, kind: Kind) -> None:
        self._rng = rng
        self._kind = kind
        self._templates = {name: list(each) for name, each in _SHARED.items()}
        if kind.interface == "numpy":
            for name, more in _NUMPY_ONLY.items():
                self._templates[name] += 2 * more
        if kind.stateful:
            self._templates["L"] += 4 * _STATEFUL
        if kind.width in ("huge", "float") and rng.random() < 0.7:
            self._keep_plain()

    def program(self) -> str:
        """The source of def program(rng)."""
        rng, kind = self._rng, self._kind
        name = "u" if kind.width == "float" else "a"
        lines = [f"{name} = {rng.choice(_FIRST[kind.interface, kind.width])}"]
        if kind.width in ("narrow", "float", "huge") and rng.random() < 0.6:
            lines.append(f"b = {self._draw()}")
        for _ in range(rng.randrange(4)):
            lines += self._filled("L", 2).split("\n")
        lines.append(f"return {self._filled('O', 3)}")
        state = ", memo={}, calls=[]" if kind.stateful else ""
        start = [f"def program(rng{state}):", "    a, b, v, u, w = 2, 1, 0, 0.25, 0.5"]
        return "\n".join(start + ["    " + line for line in lines]) + "\n"

    def _keep_plain(self) -> None:
        """Only what a number of so many values can be expected to pass through as a whole."""
        for name, each in self._templates.items():
            self._templates[name] = [text for text in each if not _LOOKS.search(text)]

    def _draw(self) -> str:
        return self._fill(self._rng.choice(_DRAWS[self._kind.interface]), 0)

    def _filled(self, name: str, depth: int) -> str:
        rng = self._rng
        if name in ("I", "F") and (depth <= 0 or rng.random() < 0.25):
            return self._leaf(name)
        if name in ("B", "S") and depth <= 0:
            other = self._leaf("I")
            return f"({other} > 1)" if name == "B" else f"str({other})"
        return self._fill(rng.choice(self._templates[name]), depth)

    def _fill(self, template: str, depth: int) -> str:
        return _HOLE.sub(lambda hole: self._filled(hole[1], depth - 1), template)

    def _leaf(self, name: str) -> str:
        rng = self._rng
        if name == "F":
            return rng.choice(["u", "u", "w", "0.5", "1.5", "a / 3", "-0.0"])
        if self._kind.width == "narrow" and rng.random() < 0.1:
            return self._draw()
        return rng.choice(["a", "a", "a", "b", "v", "0", "1", "3", "-2"])
