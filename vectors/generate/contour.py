"""delta of any sequence of mechanisms, as an integral along a line in the complex plane.

With M(s) = E e^(sL) the transform of a mechanism's loss L, and n_i of them,

    delta(epsilon) = 1/(2 pi i) integral of prod M_i(s)^(n_i) e^(-s epsilon)/(s (s + 1)) ds

along Re s = theta, for any theta > 0, since (1 - e^-y)_+ is the same integral of
e^(sy)/(s (s + 1)). The number of steps is an exponent only. The rule of trapezoids converges
geometrically in the number of points, as the integrand is analytic around the line; theta is near
the saddle point, so that the relative error is what is small.

If all losses lie on the lattice o + g Z, the integral is over one period, with the sum of e^(-sl)
(1 - e^(epsilon - l)) over the lattice beyond epsilon in place of the kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mpmath import mp, mpc, mpf

#: A law of the loss as a quadrature rule: (loss, weight under P) of each of its points.
Rule = list[tuple[mpf, mpf]]

#: The rules of all mechanisms with their counts, at least as fine as a level says.
Rules = Callable[[int], Sequence[tuple[Rule, int]]]

Kernel = Callable[[mpc], mpc]

#: The two lines must agree to this relative accuracy.
_AGREEMENT = mpf(10) ** -43
_DIGITS = 46
_LEVELS = 5
_MOST_POINTS = 1 << 13


@dataclass(frozen=True)
class Lattice:
    """The sums of losses: first + gap * integers."""

    first: mpf
    gap: mpf

    def holds(self, rules: Sequence[tuple[Rule, int]]) -> bool:
        """Whether all sums of losses of the only mechanism lie on the lattice."""
        ((rule, count),) = rules
        steps = [(count * loss - self.first) / self.gap for loss, _ in rule]
        return all(abs(step - mp.nint(step)) < mpf(10) ** -_DIGITS for step in steps)

    def kernel(self, epsilon: mpf) -> Kernel:
        """gap times the sum of e^(-s(l - epsilon)) (1 - e^(epsilon - l)) over l > epsilon."""
        beyond = self.first + self.gap * (mp.floor((epsilon - self.first) / self.gap) + 1) - epsilon

        def kernel(s: mpc) -> mpc:
            here, there = (mp.exp(-z * beyond) / -mp.expm1(-z * self.gap) for z in (s, s + 1))
            return self.gap * (here - there)

        return kernel


@dataclass(frozen=True)
class Line:
    """e^-scale prod M_i^(n_i) at the points theta + i step j.

    closed: whether the last point is half a period away, and counts once.
    """

    theta: mpf
    step: mpf
    values: list[mpc]
    scale: mpf
    closed: bool

    def integral(self, epsilon: mpf, kernel: Kernel) -> mpf:
        """1/(2 pi i) times the integral of prod M_i^(n_i) e^(-s epsilon) kernel(s)."""
        total, last = mpf(0), len(self.values) - 1
        for j, value in enumerate(self.values):
            at = mpc(self.theta, self.step * j)
            turned = value * mp.expj(-self.step * j * epsilon) * kernel(at)
            total += turned.real if j == 0 or (self.closed and j == last) else 2 * turned.real
        return total * self.step / (2 * mp.pi) * mp.exp(self.scale - self.theta * epsilon)

    def delta(self, epsilon: mpf, lattice: Lattice | None = None) -> mpf:
        """delta(epsilon)."""
        if lattice is not None:
            return self.integral(epsilon, lattice.kernel(epsilon))
        return self.integral(epsilon, lambda s: 1 / (s * (s + 1)))

    def slope(self, epsilon: mpf) -> mpf:
        """The derivative of delta at epsilon, for losses that are not on a lattice."""
        return -self.integral(epsilon, lambda s: 1 / (s + 1))


def composed(rules: Rules, epsilon: mpf, lattice: Lattice | None = None) -> tuple[Line, mpf]:
    """A line on which delta(epsilon) is known, and its value there.

    A second line, with other and fewer points and coarser rules, must agree. The error of the
    trapezoidal rule consists of the values at other epsilons, which are smaller by a factor that
    grows with theta/step, so a smaller delta needs a finer step. The caller's working precision
    must exceed the wanted one by forty digits.
    """
    if lattice is not None and not lattice.holds(rules(0)):
        raise ArithmeticError("a loss is not on the lattice")
    theta = saddle(rules(0), epsilon)
    height = (_logs(rules(0), theta)[0] - theta * epsilon) / mp.log(10)
    fine = 1 + max(-height, mpf(0)) / _DIGITS
    for level in range(_LEVELS):
        # left of the saddle point, where tails heavier than the bulk do no harm
        here = line(rules(level), theta * 19 / 20, fine, lattice)
        fine *= mpf(3) / 2
        there = line(rules(level + 2), theta * 17 / 20, fine, lattice)
        value = there.delta(epsilon, lattice)
        if abs(here.delta(epsilon, lattice) - value) < _AGREEMENT * value:
            return there, value
    raise ArithmeticError("the integral does not settle")


def solved(rules: Rules, target: mpf) -> tuple[Line, mpf]:
    """A line, and the epsilon at which delta is the target: by Newton's method on log delta."""
    with mp.workdps(15):
        epsilon = _start(rules(0), target)
    on = None
    for _ in range(60):
        if on is None:
            on, value = composed(rules, epsilon)
        else:
            value = on.delta(epsilon)
        move = mp.log(value / target) * value / -on.slope(epsilon)
        epsilon += move
        if abs(move) < _AGREEMENT * epsilon:
            return on, epsilon
        # a line serves for epsilons nearby
        on = on if abs(move) < mpf(1) / 50 else None
    raise ArithmeticError("Newton's method does not settle")


def line(
    rules: Sequence[tuple[Rule, int]], theta: mpf, fineness: mpf, lattice: Lattice | None
) -> Line:
    """The values on the line through theta, up to where they are negligible."""
    scale = mp.fsum(n * mp.log(_transform(rule, theta)) for rule, n in rules)
    step = 2 * mp.pi * theta / (mp.log(10) * _DIGITS) / fineness
    half = None
    if lattice is not None:
        half = int(mp.ceil(mp.pi / lattice.gap / step))
        step = mp.pi / lattice.gap / half
    walkers = [_Walker(rule, theta, step) for rule, _ in rules]
    values: list[mpc] = []
    small = 0
    while small < 20 and (half is None or len(values) <= half):
        value = mpc(1)
        for walker, (_, n) in zip(walkers, rules, strict=True):
            value *= walker.value() ** n
            walker.advance()
        values.append(value)
        small = small + 1 if abs(value) < mpf(10) ** -(_DIGITS + 5) else 0
        if len(values) > _MOST_POINTS:
            raise ArithmeticError("the integrand does not fall off")
    return Line(theta, step, values, scale, half is not None and len(values) == half + 1)


def _transform(rule: Rule, s: mpf) -> mpf:
    return mp.fsum(weight * mp.exp(s * loss) for loss, weight in rule)


class _Walker:
    """M(theta + i step j)/M(theta) for j = 0, 1, ...: every point turns by its own angle."""

    def __init__(self, rule: Rule, theta: mpf, step: mpf) -> None:
        tilted = [(loss, weight * mp.exp(theta * loss)) for loss, weight in rule]
        total = mp.fsum(weight for _, weight in tilted)
        kept = [(loss, weight / total) for loss, weight in tilted if weight > mp.eps * total]
        self._terms = [mpc(weight) for _, weight in kept]
        self._turns = [mp.expj(step * loss) for loss, _ in kept]

    def value(self) -> mpc:
        return mp.fsum(self._terms)

    def advance(self) -> None:
        self._terms = [a * b for a, b in zip(self._terms, self._turns, strict=True)]


def saddle(rules: Sequence[tuple[Rule, int]], epsilon: mpf) -> mpf:
    """About the theta > 0 at which the integrand is least: the saddle point."""

    def right(theta: mpf) -> bool:
        return bool(_logs(rules, theta)[1] < epsilon)

    return _bisected(right)


def _start(rules: Sequence[tuple[Rule, int]], target: mpf) -> mpf:
    """About the epsilon at which the integrand at its saddle point equals the target."""

    def large(theta: mpf) -> bool:
        height, epsilon = _logs(rules, theta)
        return bool(height - theta * epsilon > mp.log(target))

    return _logs(rules, _bisected(large))[1]


def _logs(rules: Sequence[tuple[Rule, int]], theta: mpf) -> tuple[mpf, mpf]:
    """The logarithm of prod M_i^(n_i)/(theta (theta + 1)), and its derivative."""
    height, slope = -mp.log(theta * (theta + 1)), -1 / theta - 1 / (theta + 1)
    for rule, n in rules:
        tilted = [weight * mp.exp(theta * loss) for loss, weight in rule]
        total = mp.fsum(tilted)
        height += n * mp.log(total)
        slope += n * mp.fdot(tilted, [loss for loss, _ in rule]) / total
    return height, slope


def _bisected(larger: Callable[[mpf], bool]) -> mpf:
    """About the least positive number for which `larger` does not hold."""
    low, high = mpf(10) ** -4, mpf(10) ** 4
    with mp.workdps(15):
        while high > low * mpf("1.001"):
            middle = mp.sqrt(low * high)
            low, high = (middle, high) if larger(middle) else (low, middle)
    return +high
