"""A privacy statement: its text, its name, and the composition of two."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any

from exactdp.display import Printed
from exactdp.errors import Described, InvalidParameter
from exactdp.fields import frozen, instance
from exactdp.parameters import Real
from exactdp.statement import checker
from exactdp.statement.checker import Verdict
from exactdp.statement.composing import composed, delta_claims
from exactdp.statement.phrases import summary

__all__ = ["Statement"]


@frozen
class Statement(Printed):
    """What was released, what is claimed of its privacy, and how a checker recomputes this.

    fields: as in checker/SPECIFICATION.md, section 2; all numbers but counts are text.
    Made by :func:`exactdp.statement.of`; `s + other` composes two statements about the same unit.
    """

    fields: Mapping[str, Any] = instance(Mapping)

    def __hash__(self) -> int:
        return hash(self.sha256)

    @classmethod
    def read(cls, text: str | bytes) -> Statement:
        """The statement in a text. Raises InvalidParameter with the fault, if it is malformed.

        The claims are not checked; see :meth:`check`.
        """
        raw, fault = checker.parse(text)
        if fault:
            raise InvalidParameter("statement", Described(fault), "of the format dp-statement/1")
        return cls(raw)

    @property
    def sha256(self) -> str:
        """The name of the statement: the hash of its canonical form."""
        form = json.dumps(self.fields, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(form.encode()).hexdigest()

    def to_json(self) -> str:
        """The text of a file, one line for each field, release and claim."""
        lines = []
        for name, value in self.fields.items():
            if name in ("releases", "claims", "premises", "not_shown", "about") and value:
                rows = ",\n  ".join(json.dumps(item, ensure_ascii=False) for item in value)
                lines.append(f"{json.dumps(name)}: [\n  {rows}\n ]")
            else:
                lines.append(f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}")
        body = ",\n ".join(lines)
        return f"{{{body}}}\n"

    def save(self, file: str | PathLike[str]) -> None:
        """Write the statement to a new file. Raises FileExistsError."""
        path = Path(file)
        with path.open("x", encoding="utf-8") as handle:
            try:
                handle.write(self.to_json())
                handle.flush()
            except BaseException:  # leave no part of a statement behind
                path.unlink(missing_ok=True)
                raise

    def check(self) -> Verdict:
        """The verdict of the checker, which recomputes every claim."""
        return checker.check(self.to_json())

    def __add__(self, other: Statement) -> Statement:
        """Both together, on the same data; see :meth:`together`."""
        return self.together([other])

    def together(
        self,
        others: Sequence[Statement],
        *,
        epsilon: Real | None = None,
        delta: Real | None = None,
        one_pair: bool = False,
    ) -> Statement:
        """The statement about the releases of all, with a claim that is derived anew.

        epsilon: claims the least delta. delta: claims the least epsilon. By default the delta that
        all claim together; the epsilon is then at most about the sum of theirs.
        one_pair: states that one pair of neighbours attains all releases; without it nothing is
        claimed at least (two counts of disjoint groups have no user who is in both).
        Raises InvalidParameter for statements about different units, and Undecided if the checker
        has no rule for the releases together.
        """
        for other in others:
            if not isinstance(other, Statement):
                raise InvalidParameter("others", Described(type(other).__name__), "Statements")
        fields = [self.fields, *(other.fields for other in others)]
        joint = composed(fields, epsilon=epsilon, delta=delta, one_pair=one_pair)
        return Statement.read(Statement(joint).to_json())

    def delta_claims(self) -> list[tuple[Fraction, Fraction]]:
        """(epsilon, delta) of every claim that delta is at most something."""
        return delta_claims(self.fields)

    def __str__(self) -> str:
        return summary(self.fields)
