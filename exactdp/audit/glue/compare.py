"""The comparison of two tapes: what entered each noise call, and whether it is allowed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from exactdp.audit.glue.distance import (
    NORMS,
    Exact,
    Output,
    array,
    differences,
    exact,
    exceeds,
    norm_power,
    norm_text,
    number_text,
    same,
)
from exactdp.audit.glue.report import NoiseCall, Violation
from exactdp.audit.glue.tape import Meeting, RecordedCall, Tape
from exactdp.errors import one_line
from exactdp.parameters import non_negative

_LAPLACE = ("laplace",)
_GAUSSIAN = ("normal", "standard_normal")


@dataclass(frozen=True)
class Declared:
    """What the caller declares: a sensitivity of each call, or a total epsilon or rho."""

    norm: str
    declared: Fraction | None = None
    epsilon: Fraction | None = None
    rho: Fraction | None = None

    @property
    def total(self) -> Fraction | None:
        """The budget of all calls together."""
        return self.epsilon if self.rho is None else self.rho


@dataclass
class Comparison:
    """What two runs show. unsure: the reasons why "no violation" cannot be stated."""

    stated: Declared
    calls: list[NoiseCall] = field(default_factory=list)
    violations: list[Violation] = field(default_factory=list)
    unsure: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    spent: Fraction = Fraction(0)

    def tapes(self, left: Tape, right: Tape) -> None:
        """Compare all calls that both runs made."""
        self.unsure += left.notes + right.notes
        for calls in ((left.calls, right.calls), (left.coins, right.coins)):
            for one, two in zip(*calls, strict=False):
                _mark_differences(one, two)
        for one, two in zip(left.calls, right.calls, strict=False):
            self._parameters(one, two)
            if one.primitive:
                self._primitive(one, two)
            else:
                self._compare_noise(one, two)
        for one, two in zip(left.coins, right.coins, strict=False):
            if two.before is not None or one.name == "choice":
                self._coin(one, two)
        for call in [*left.calls, *left.coins]:
            self.lost += call.lost + call.doubtful
        for call in left.calls:
            self.unsure += [
                f"{where}: {call.name} noise becomes a plain number before a value is added, so "
                "what it protects is not seen: add the value to the noise first"
                for where in call.lost
            ]
        total = self.stated.total
        if total is not None and self.spent > total:
            name = "epsilon" if self.stated.rho is None else "rho"
            text = f"{name} {number_text(self.spent)} exceeds the declared {number_text(total)}"
            self.violations.append(Violation("budget", "all noise calls", text))

    def outputs(self, left: Output, right: Output) -> None:
        """Compare what the two runs returned: with equal noised values, it must be equal."""
        if left.equals(right):
            return
        text = f"{one_line(left.value)} on the left, {one_line(right.value)} on the right"
        if not self.calls:
            self.unsure.append(f"the output differs ({text}), and no noise call was recorded")
        elif self.lost or self.unsure:
            self.unsure.append(
                f"the output differs ({text}): either it depends on the data without noise, or "
                f"noise was not followed ({', '.join(dict.fromkeys(self.lost)) or 'see above'})"
            )
        else:
            self.violations.append(Violation("leak", "output", text))

    def _parameters(self, one: RecordedCall, two: RecordedCall) -> None:
        for name, value in one.parameters.items():
            other = two.parameters.get(name)
            if not same(value, other):
                text = (
                    f"{name} of {one.name} is {one_line(value)} on the left, {one_line(other)} on "
                )
                self.violations.append(Violation("scale", one.where, f"{text}the right"))

    def _primitive(self, one: RecordedCall, two: RecordedCall) -> None:
        left, right = array(one.value), array(two.value)
        if left.shape != right.shape:
            text = f"{one.name} protects values of shape {left.shape} and {right.shape}"
            self.violations.append(Violation("structure", one.where, text))
            return
        declared = None if one.declared is None else _exact("sensitivity", one.declared)
        changes = list(differences(left, right).values())
        power = self._entered(one, changes, declared, left, right)
        if self.stated.total is None or not power:
            return
        norm = one.norm or self.stated.norm
        if self.stated.rho is not None or one.epsilon is None or not declared or norm == "l2":
            self._no_law(one)
        else:
            self.spent += _exact("epsilon", one.epsilon) * power / declared

    def _compare_noise(self, one: RecordedCall, two: RecordedCall) -> None:
        changes, met = self._meetings(one, two)
        if not met:
            return
        exposed = [(each.where, each.draws) for each in one.exposed + two.exposed if each.shows]
        for where, draws in dict.fromkeys(exposed):
            if not draws.isdisjoint(changes):
                text = f"{one.name} noise that protects a value is shown, too, or taken off again"
                self.violations.append(Violation("leak", where, text))
        self.unsure += [
            f"{each.where}: {one.name} noise that protects a value becomes a plain number, too"
            for each in one.left
            if each.shows and not each.draws.isdisjoint(changes)
        ]
        self.unsure += [
            f"{each.where}: {one.name} noise that protects a value decides something by itself, too"
            for each in one.meetings
            if each.kind in ("compare", "equal", "not_equal") and each.fresh and not each.differs
            if not set(each.ids.ravel().tolist()).isdisjoint(changes)
        ]
        sides = _sides(one, two)
        power = self._entered(one, list(changes.values()), None, *sides)
        if self.stated.total is not None and power:
            self._spend(one, two, {i: d for i, d in changes.items() if d})

    def _coin(self, one: RecordedCall, two: RecordedCall) -> None:
        for name, value in one.parameters.items():
            if not same(value, two.parameters.get(name)):
                self.unsure.append(
                    f"{one.where}: {name} of {one.name} depends on the data, which is no noise "
                    "added to a value: name the function as a Primitive"
                )
        changes, _ = self._meetings(one, two)
        if changes:
            self._entered(one, list(changes.values()), None, *_sides(one, two))
            if self.stated.total is not None:
                self._no_law(one)

    def _meetings(self, one: RecordedCall, two: RecordedCall) -> tuple[dict[int, Exact], bool]:
        """The differences of the added values, by noise value; whether any value was added."""
        changes: dict[int, Exact] = {}
        met, used = False, set[int]()
        noised: dict[int, Any] = {}  # the value that noise was added to, on both sides, and the sum
        if len(two.meetings) < len(one.meetings) and not one.coin:
            text = f"{one.name} noise is used on the left only"
            where = one.meetings[len(two.meetings)].where
            self.violations.append(Violation("structure", where, text))
        for then, now in zip(one.meetings, two.meetings, strict=False):
            if (then.kind, then.value.shape) != (now.kind, now.value.shape):
                break
            added = then.kind in ("add", "compare")
            met |= added
            changes_here = differences(then.value, now.value)
            if not changes_here:
                continue
            if not added:
                self._not_added(one, then)
                continue
            ids = then.ids.ravel()
            if then.fresh and then.kind == "add":
                sums = {int(ids[i]): _sum(then, now, i) for i in changes_here}
                if all(noised.get(draw) == each for draw, each in sums.items()):
                    continue  # the same noised value once more
                noised |= {draw: each for draw, each in sums.items() if draw not in noised}
            here = {int(ids[i]) for i in changes_here}
            self._shared(one, then, ids, here, here & used if then.fresh else set())
            used |= here if then.fresh else set()
            for i, change in changes_here.items():
                before = changes.get(int(ids[i]), Fraction(0))
                changes[int(ids[i])] = None if None in (before, change) else before + change  # type: ignore[operator]
        return changes, met

    def _not_added(self, call: RecordedCall, meeting: Meeting) -> None:
        if call.coin:
            if meeting.kind == "chance":
                self.unsure.append(
                    f"{meeting.where}: a probability depends on the data, which is no noise added "
                    "to a value: audit this function with audit.private"
                )
            return
        kind = "leak" if meeting.added else "scale"
        what = "a noised value" if meeting.added else "noise"
        how = "divided by" if meeting.divides else "multiplied by"
        how = how if meeting.kind == "factor" else f"combined ({meeting.kind}) with"
        text = f"{what} ({call.name}) is {how} a value that depends on the data"
        self.violations.append(Violation(kind, meeting.where, text))

    def _shared(
        self, call: RecordedCall, meeting: Meeting, ids: Any, here: set[int], again: set[int]
    ) -> None:
        counts = Counter(ids.tolist())
        most = max(counts[i] for i in here)
        if most > 1 or again:
            times = most if most > 1 else 2
            text = f"one value of {call.name} noise is added to {times} values"
            if call.coin:
                self.unsure.append(f"{meeting.where}: {text}, which may be no noise")
            else:
                self.violations.append(Violation("shared", meeting.where, text))

    def _entered(
        self,
        call: RecordedCall,
        changes: list[Exact],
        declared: Fraction | None,
        left: Any,
        right: Any,
    ) -> Fraction | None:
        """Note a call; returns its distance (of "l2" the square), or None if it is not finite."""
        norm = call.norm or self.stated.norm
        if declared is None:
            declared = self.stated.declared
        finite = [each for each in changes if each is not None]
        power = norm_power(finite, norm) if len(finite) == len(changes) else None
        self.calls.append(NoiseCall(call.name, call.where, norm, power, declared))
        distance = f"{NORMS[norm]} distance {norm_text(power, norm)}"
        values = f"{one_line(_short(left))} on the left, {one_line(_short(right))} on the right"
        if power is None:
            text = f"{call.name}: a value is not finite, so the distance is infinite ({values})"
            self.violations.append(Violation("sensitivity", call.where, text))
        elif declared is not None and exceeds(power, declared, norm):
            text = f"{call.name}: {distance} exceeds the declared {number_text(declared)}"
            self.violations.append(Violation("sensitivity", call.where, f"{text} ({values})"))
        elif power and declared is None and self.stated.total is None:
            self.unsure.append(
                f"{call.where}: {call.name} has no declared sensitivity ({distance}): give "
                "declared=, epsilon= or rho="
            )
        return power

    def _spend(self, call: RecordedCall, other: RecordedCall, changes: dict[int, Exact]) -> None:
        names = _LAPLACE if self.stated.rho is None else _GAUSSIAN
        if call.name not in names or any(
            not m.known for m in call.meetings if m.kind in ("add", "compare")
        ):
            self._no_law(call)
            return
        scales = np.broadcast_to(call.parameters.get("scale", 1.0), call.values.shape).ravel()
        for i, change in changes.items():
            scale = exact(scales[i])
            if scale is None or change is None:
                continue
            scale *= _factor(call, other, i)
            if not scale:
                text = f"{call.name}: a value that depends on the data gets noise of scale 0"
                self.violations.append(Violation("budget", call.where, text))
                return
            size = abs(change) / scale
            self.spent += size if self.stated.rho is None else size * size / 2

    def _no_law(self, call: RecordedCall) -> None:
        self.unsure.append(
            f"{call.where}: the privacy loss of {call.name} is not known here: give declared="
        )


def differing_seeds(left: Tape, right: Tape) -> list[Violation]:
    """Seeds that two runs do not share."""
    return [
        Violation(
            "scale", where, f"the seed is {one_line(one)} on the left, {one_line(two)} on the right"
        )
        for (where, one), (_, two) in zip(left.seeds, right.seeds, strict=False)
        if not same(one, two)
    ]


def _mark_differences(one: RecordedCall, two: RecordedCall) -> None:
    """Mark the operations whose values differ between two runs."""
    for then, now in zip(one.meetings, two.meetings, strict=False):
        same_shape = then.value.shape == now.value.shape
        then.differs = now.differs = not same_shape or bool(differences(then.value, now.value))


def _factor(call: RecordedCall, other: RecordedCall, number: int) -> Fraction:
    """The product of the factors of one noise value, until a value that differs is added."""
    product = Fraction(1)
    for then, now in zip(call.meetings, other.meetings, strict=False):
        where = np.flatnonzero(then.ids.ravel() == number)
        if not where.size:
            continue
        i = int(where[0])
        if then.kind in ("add", "compare") and i in differences(then.value, now.value):
            break
        factor = exact(then.value.ravel()[i]) if then.kind == "factor" else None
        if factor:
            product *= 1 / factor if then.divides else factor
    return abs(product)


def _sum(then: Meeting, now: Meeting, place: int) -> tuple[Any, ...]:
    """What noise was added to, on both sides, and the noised value."""
    return then.value.flat[place], now.value.flat[place], then.result.flat[place]


def _sides(one: RecordedCall, two: RecordedCall) -> tuple[Any, Any]:
    """The values of the first meeting that differs, for the report."""
    for then, now in zip(one.meetings, two.meetings, strict=False):
        if then.kind in ("add", "compare") and differences(then.value, now.value):
            return then.value, now.value
    return "", ""


def _short(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value


def _exact(name: str, value: Any) -> Fraction:
    """A number that the audited code declares."""
    return non_negative(name, value.item() if isinstance(value, np.generic) else value)
