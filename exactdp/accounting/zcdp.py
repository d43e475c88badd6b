"""Zero-concentrated differential privacy (zCDP): from rho, or a Renyi curve, to delta and back.

With b = alpha - 1 the bound of Canonne, Kamath and Steinke is exp(h(b)), where
h(b) = b ((b + 1) rho - epsilon) + b log b - (1 + b) log(1 + b), and its derivative
h'(b) = (2 b + 1) rho - epsilon - log(1 + 1/b) increases from -infinity to infinity. So h is convex,
and the only root of h' minimises h. At the root, exp(h(b)) = exp(-b^2 rho)/(1 + b), which decreases
in b: two points at which h' provably has opposite signs enclose the infimum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction

from flint import arb, ctx

from exactdp.accounting.certify import inversion
from exactdp.accounting.certify.checking import decide
from exactdp.balls import ball, refine
from exactdp.bisection import least
from exactdp.enclosure import Enclosure
from exactdp.errors import Described, InvalidParameter
from exactdp.lazy import own_names
from exactdp.parameters import Real, choice, delta_target, non_negative, positive, rational

__all__ = ["DEFAULT_RULE", "RULES", "delta", "epsilon", "from_rdp", "gaussian_rho", "rho"]

RULES = ("optimal", "simple")
DEFAULT_RULE = "optimal"

#: The range of log(alpha - 1) that is searched. Parameters are at most 1e10000, so the minimiser is
#: below exp(50000). Where it is below exp(-10^6), delta is 1 to far more digits than needed.
_LEAST_LOG, _MOST_LOG = -1_000_000, 50_000


def delta(*, rho: Real, epsilon: Real, rule: str = DEFAULT_RULE) -> Enclosure:
    """The delta for which rho-zCDP implies (epsilon, delta)-DP.

    rho: >= 0. epsilon: >= 0.
    rule: "optimal" (best order alpha of Canonne, Kamath, Steinke 2020, Proposition 12: the infimum
    over alpha > 1 of exp((alpha - 1)(alpha rho - epsilon)) (1 - 1/alpha)^alpha / (alpha - 1)), or
    "simple" (epsilon = rho + 2 sqrt(rho log(1/delta)), solved for delta).
    Returns an enclosure of that value, relative width <= 1e-12. Raises InvalidParameter, Undecided.
    Source: CSH, Lemma 7.3 (Bun and Steinke 2016, Proposition 1.3) for "simple".

    >>> from exactdp.accounting import zcdp
    >>> print(zcdp.delta(rho="0.5", epsilon=3), zcdp.delta(rho="0.5", epsilon=3, rule="simple"))
    [0.005143184063, 0.005143184064] [0.04393693362, 0.04393693363]
    """
    budget, loss = non_negative("rho", rho), non_negative("epsilon", epsilon)
    if choice("rule", rule, RULES) == "simple":
        return _simple(budget, loss)
    if not budget:
        return Enclosure.exact(0)
    return refine(lambda: optimal(ball(budget), ball(budget - loss))).clamped(0, 1)


def epsilon(*, rho: Real, delta: Real, rule: str = DEFAULT_RULE) -> Enclosure:
    """The least epsilon for which rho-zCDP implies (epsilon, delta)-DP by the rule.

    rho: >= 0. delta: > 0 and < 1. rule: as in :func:`delta`.
    Returns an enclosure of relative width <= 1e-12; 0 where delta is kept at epsilon 0.
    Raises InvalidParameter, Undecided.

    >>> from exactdp.accounting import zcdp
    >>> print(zcdp.epsilon(rho="2.56", delta="1e-10"))
    [17.15830871, 17.15830872]
    """
    budget, target = non_negative("rho", rho), delta_target("delta", delta)
    simple = choice("rule", rule, RULES) == "simple"
    if not budget:
        return Enclosure.exact(0)
    if simple:
        return refine(lambda: ball(budget) + 2 * (ball(budget) * -ball(target).log()).sqrt())

    def at(loss: Fraction) -> Enclosure:
        return decide(lambda: optimal(ball(budget), ball(budget - loss)), target, tight=False).delta

    return inversion.least(at, target, zero=True)


def rho(*, epsilon: Real, delta: Real, rule: str = DEFAULT_RULE) -> Enclosure:
    """The largest rho for which rho-zCDP implies (epsilon, delta)-DP by the rule.

    epsilon: > 0. delta: > 0 and < 1. rule: as in :func:`delta`.
    Returns an enclosure of relative width <= 1e-12: every rho up to its lower end provably
    suffices, and no rho above its upper end does. Raises InvalidParameter, Undecided.

    >>> from exactdp.accounting import zcdp
    >>> print(zcdp.rho(epsilon=1, delta="1e-6"))
    [0.02435597035, 0.02435597036]
    """
    loss, target = positive("epsilon", epsilon), delta_target("delta", delta)
    if choice("rule", rule, RULES) == "simple":
        return refine(lambda: _simple_rho(ball(loss), ball(target)))
    return refine(lambda: _optimal_rho(ball(loss), ball(target)))


def gaussian_rho(*, sensitivity: Real = 1, sigma2: Real) -> Fraction:
    """rho of Gaussian noise, continuous or discrete: sensitivity^2 / (2 sigma2), exactly.

    sensitivity: l2 sensitivity of the query, > 0 (of an integer query, for discrete noise).
    sigma2: the square of sigma, > 0, in the units of the query squared.
    Source: CSH, Lemma 7.4 (Canonne, Kamath, Steinke, Theorem 2.13), with one sigma.

    >>> from exactdp.accounting import zcdp
    >>> zcdp.gaussian_rho(sigma2=100)
    Fraction(1, 200)
    """
    size, variance = positive("sensitivity", sensitivity), positive("sigma2", sigma2)
    return size**2 / (2 * variance)


def from_rdp(
    *, curve: Callable[[Fraction], Real | Enclosure], epsilon: Real, orders: Iterable[Real]
) -> Enclosure:
    """The smallest delta that a Renyi curve implies at the given orders.

    curve: from an order alpha to an upper bound >= 0 on the Renyi divergence of that order between
    neighbours, as a number or an Enclosure.
    epsilon: >= 0. orders: at least one, each > 1.
    Returns an enclosure of the smallest bound, of relative width <= 1e-12 where the curve is exact;
    its upper end is a valid delta. Raises InvalidParameter, Undecided.
    Source: Canonne, Kamath, Steinke 2020, Proposition 12.

    >>> from exactdp.accounting import zcdp
    >>> print(zcdp.from_rdp(curve=lambda alpha: alpha / 2, epsilon=3, orders=[2, 3, "3.4", 4]))
    [0.005250979866, 0.005250979867]
    """
    loss = non_negative("epsilon", epsilon)
    bounds = [_at_order(curve, _order(order), loss) for order in orders]
    if not bounds:
        raise InvalidParameter("orders", Described("none"), "at least one order > 1")
    return Enclosure(min(e.lower for e in bounds), min(e.upper for e in bounds)).clamped(0, 1)


def _order(value: Real) -> Fraction:
    order = rational("orders", value)
    if order <= 1:
        raise InvalidParameter("orders", value, "> 1")
    return order


def _at_order(
    curve: Callable[[Fraction], Real | Enclosure], alpha: Fraction, loss: Fraction
) -> Enclosure:
    value = curve(alpha)
    name = "curve"
    ends = value if isinstance(value, Enclosure) else Enclosure.exact(rational(name, value))
    if ends.lower < 0:
        raise InvalidParameter(name, value, ">= 0 at every order")

    def bound(divergence: Fraction) -> Enclosure:
        def compute() -> arb:
            b = ball(alpha - 1)
            return (b * ball(divergence - loss) + b * b.log() - (1 + b) * (1 + b).log()).exp()

        return refine(compute)

    low = bound(ends.lower)
    return low if not ends.width else Enclosure(low.lower, bound(ends.upper).upper)


def _simple(budget: Fraction, loss: Fraction) -> Enclosure:
    if budget >= loss:
        return Enclosure.exact(1 if budget else 0)
    if not budget:
        return Enclosure.exact(0)
    exponent = (loss - budget) ** 2 / (4 * budget)
    return refine(lambda: (-ball(exponent)).exp()).clamped(0, 1)


def _simple_rho(epsilon: arb, delta: arb) -> arb:
    log = -delta.log()
    root: arb = epsilon / ((log + epsilon).sqrt() + log.sqrt())
    return root * root


def optimal(rho: arb, gap: arb) -> arb:
    """Ball around the infimum over all orders, for rho > 0 and gap = rho - epsilon."""
    w = rising_root(
        lambda w: 2 * w.exp() * rho + gap - (-w).exp().log1p(),
        lambda w: 2 * w.exp() * rho + 1 / (1 + w.exp()),
    )
    if w is None:  # the minimiser is below exp(_LEAST_LOG)
        b = arb(_LEAST_LOG).exp()
        return _value(b, rho).union(arb(1))
    if not w.is_finite():
        return arb(0.5, 0.5)
    return _value(w.lower().exp(), rho).union(_value(w.upper().exp(), rho))


def _value(b: arb, rho: arb) -> arb:
    return (-b * b * rho).exp() / (1 + b)


def _optimal_rho(epsilon: arb, delta: arb) -> arb:
    """Ball around rho. At the optimal order, rho and delta are explicit, and decrease in b."""

    def budget(w: arb) -> arb:
        return (epsilon + (-w).exp().log1p()) / (2 * w.exp() + 1)

    def excess(w: arb) -> arb:
        b = w.exp()
        return b * b * budget(w) + b.log1p() + delta.log()

    def slope(w: arb) -> arb:
        b, here = w.exp(), budget(w)
        fall = 1 / (1 + b) + 2 * b * here
        return 2 * b * b * here - b * b * fall / (2 * b + 1) + b / (1 + b)

    w = rising_root(excess, slope)
    if w is None or not w.is_finite():
        return arb("nan")
    return budget(w.lower()).union(budget(w.upper()))


def rising_root(function: Callable[[arb], arb], slope: Callable[[arb], arb]) -> arb | None:
    """A ball around the only root of an increasing function on [_LEAST_LOG, _MOST_LOG].

    None when the function is provably positive at the lower end; NaN when the working precision is
    too low to decide. The slope only guides the search: at the two ends of the ball the function
    provably has opposite signs.
    """
    low, high = _LEAST_LOG, _MOST_LOG
    start = function(arb(low))
    if start > 0:
        return None
    if not start < 0:
        return arb("nan")
    high = least(low + 1, high, lambda w: not function(arb(w)) < 0)
    low = high - 1
    w = arb(low) + arb(0.5)
    for _ in range(ctx.prec.bit_length() + 8):
        step = (function(w) / slope(w)).mid()
        if not step.is_finite():
            break
        w = (w - step).mid().max(arb(low)).min(arb(high)).mid()
        if abs(step) < (1 + abs(w)) * arb(2) ** (8 - ctx.prec):
            break
    radius = (1 + abs(w)) * arb(2) ** (16 - ctx.prec)
    while True:
        left, right = (w - radius).lower(), (w + radius).upper()
        if function(left) < 0 and function(right) > 0:
            return left.union(right)
        if radius > 1:
            return arb("nan")
        radius *= 16


__dir__ = own_names(__name__)
