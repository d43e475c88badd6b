"""What the record and replay of a pipeline found."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from exactdp.audit.glue.distance import NORMS, Exact, norm_text, number_text, ratio
from exactdp.display import Printed
from exactdp.errors import one_line

#: What each kind of violation means.
KINDS = {
    "sensitivity": "the noised values differ by more than the sensitivity",
    "budget": "the noise is too small for the total privacy budget",
    "scale": "a parameter of the noise depends on the data",
    "structure": "the noise calls depend on the data",
    "shared": "one noise value protects several values",
    "leak": "the output depends on the data in another way than through the noised values",
}


@dataclass(frozen=True)
class Violation:
    """One violation. kind: a key of KINDS. where: file and line. text: the particulars."""

    kind: str
    where: str
    text: str

    def __str__(self) -> str:
        return f"{KINDS[self.kind]}\n    {self.where}: {self.text}"


@dataclass(frozen=True)
class NoiseCall:
    """What entered one noise call on the two data sets.

    name, where: the primitive, and file and line of the call. power: the exact norm of the
    difference (for "l2" its square), None if it is infinite. declared: the sensitivity, if stated.
    """

    name: str
    where: str
    norm: str
    power: Exact
    declared: Fraction | None

    @property
    def distance(self) -> str:
        """The distance as text: exact, for "l2" as a root."""
        return norm_text(self.power, self.norm)

    def __str__(self) -> str:
        bound = "" if self.declared is None else f", declared {number_text(self.declared)}"
        return f"{self.name} at {self.where}: {NORMS[self.norm]} distance {self.distance}{bound}"


@dataclass(frozen=True)
class GlueReport(Printed):
    """The outcome for one pair of neighbouring data sets (of a search: for the worst pair).

    calls: the noise calls. violations: empty if none was found, which is no proof: other pairs, and
    other results of the noise, may show one. pairs: number of pairs looked at. partly: the type of
    an output of which only the values could be compared, or "".
    """

    left: Any
    right: Any
    calls: tuple[NoiseCall, ...]
    violations: tuple[Violation, ...]
    pairs: int = 1
    partly: str = ""

    @property
    def violation(self) -> bool:
        """Whether a violation was found."""
        return bool(self.violations)

    @property
    def worst(self) -> float:
        """The largest distance divided by its declared sensitivity."""
        ratios = [ratio(c.power, c.declared, c.norm) for c in self.calls if c.declared is not None]
        return max(ratios, default=0.0)

    def __str__(self) -> str:
        looked = f"{self.pairs} pairs" if self.pairs > 1 else "this pair"
        head = f"violation on {looked}" if self.violation else f"no violation on {looked}"
        lines = [head, f"  left  {one_line(self.left)}", f"  right {one_line(self.right)}"]
        lines += [f"  {each}" for each in self.violations]
        lines += [f"  {each}" for each in self.calls]
        if self.partly:
            lines.append(f"  of the output, which holds a {self.partly}, only values were compared")
        return "\n".join(lines)
