"""Composition on a grid for dpcheck.py.

Masses p_i on nodes x_i = e^(i step), and p_oo, have the curve C(x) = p_oo + sum p_i (1 - x/x_i)+.
To compose, masses multiply and losses add: p_oo + sum p_i C2(x/x_i), and the same with 1 and 2
exchanged. So a curve that is larger (smaller) everywhere stays so in every composition.
"""

from fractions import Fraction
from itertools import pairwise

from dpcheck_laws import in_order, law_of
from dpcheck_real import NOTHING, ONE, UNIT, P, Real, prove, real, up

SPARE = 1 << P - 80


def above(law, x, bits):
    """Masses in units of 2^-bits on nodes x, with a curve above the law's: above its values v at 0
    and at all nodes, hence above their chords, hence (as G is convex) above G. Chords that fall at
    rates f are the curve of the masses x_k (f_k-1 - f_k); without those < 0 it is larger."""
    v = [min(law(t)[2], ONE) for t in x]
    for k in reversed(range(len(v) - 1)):
        v[k] = max(v[k], v[k + 1])
    falls, gaps = pairwise([ONE, *v]), pairwise([NOTHING, *x])
    f = [Real(a - b, a - b).over(t - s) for (a, b), (s, t) in zip(falls, gaps, strict=True)]
    masses = [(t * (a - b)).hi for t, a, b in zip(x, f, [*f[1:], NOTHING], strict=True)]
    return [up(max(mass, 0), P - bits) for mass in masses], up(v[-1], P - bits)


def below(law, x, bits):
    """Masses whose curve is below the law's. Node k gets a share of the outcomes x_k < p/q <= x_k+1
    and the rest of those below it: forgetting which it was lowers the curve. Of their sum (p, q),
    p is lowered to x q, x this node or the last. Any shares will do; these make p equal x q, from
    both ends to the node where least is lost."""
    tails, n = [law(t)[:2] for t in x], len(x)
    cells = [(p - r, q - s) for (p, q), (r, s) in pairwise(tails)]
    infinite = tails[-1][0].lo if tails[-1][1].hi <= 0 else 0
    cells.append((NOTHING, NOTHING) if infinite > 0 else tails[-1])
    share, masses = shares(cells, x), [0] * n
    for k in range(n):
        own, rest = real(share[k], ONE), real(ONE - share[k - 1], ONE) if k else NOTHING
        p, q = (own * c + rest * d for c, d in zip(cells[k], cells[k - 1], strict=True))
        node = next((j for j in (k, k - 1) if j >= 0 and (x[j] * q).hi <= p.lo), None)
        if node is not None:
            masses[node] += (x[node] * q).lo
    return [max(mass, 0) >> P - bits for mass in masses], max(infinite, 0) >> P - bits


def shares(cells, x):
    """The share of each cell that its own node gets, in units of 2^-P."""
    n = len(x)
    over = [max((p - t * q).lo, 0) for (p, q), t in zip(cells, x, strict=True)]
    under = [max((t * q - p).hi, 1) for (p, q), t in zip(cells, x[1:], strict=False)]
    left, right, lost, meet, least = [0] * n, [ONE] * n, [0] * n, n - 1, None
    for k in reversed(range(n - 1)):
        right[k] = ONE - max(right[k + 1] - SPARE, 0) * over[k + 1] // under[k]
        right[k], lost[k] = max(right[k], 0), lost[k + 1] + max(-right[k], 0) * under[k]
    for k in range(n):
        left[k] = SPARE + (ONE - left[k - 1]) * under[k - 1] // max(over[k], 1) if k else 0
        if left[k] > ONE:
            break
        loss = lost[k] + (right[k] - left[k]) * over[k]
        if right[k] >= left[k] and (least is None or loss < least):
            meet, least = k, loss
    return left[:meet] + right[meet:]


def compose(a, b, window, bits, upper):
    """All products of masses, by one product of long integers. What leaves the window moves up, to
    its first node and to infinity (if not upper: it is dropped, and moves to the last node)."""
    (i, p, s), (j, q, t), (low, high) = a, b, window
    prove(max(sum(p) + s, sum(q) + t) <= 2 << bits, "the masses add up to more than 2")
    size = (max(p).bit_length() + max(q).bit_length() + len(p).bit_length() + 7) // 8
    pack = [b"".join(v.to_bytes(size, "little") for v in masses) for masses in (p, q)]
    n, m = (int.from_bytes(packed, "little") for packed in pack)
    cells = len(p) + len(q) - 1
    raw = (n * n if p is q else n * m).to_bytes(size * (cells + 1), "little")
    r = [int.from_bytes(raw[k * size : k * size + size], "little") for k in range(cells)]
    infinite = s * (sum(q) + t) + sum(p) * t
    below, above = max(low - i - j, 0), max(i + j + cells - 1 - high, 0)
    prove(below + above < cells, "the window is empty")
    if upper:
        infinite, r[below] = infinite + sum(r[cells - above :]), sum(r[: below + 1])
    else:
        r[cells - above - 1] = sum(r[cells - above - 1 :])
    r = [up(v, bits) if upper else v >> bits for v in r[below : cells - above]]
    return i + j + below, r, up(infinite, bits) if upper else infinite >> bits


def grid(releases, rule, epsilon, upper, order):
    """delta of the composition: p_oo + sum p_i (1 - e^(epsilon - i step))+."""
    step, bits, window, result = rule["step"], rule["mass_bits"], rule["window"], None
    shift = Fraction(0 if upper else 1, 1 << 100)  # so outcomes at nodes are above them for certain
    epsilon += shift * sum(r["times"] for r in releases)
    for r, (first, last) in zip(releases, rule["nodes"], strict=True):
        first, last = (-last, -first) if order == 1 else (first, last)  # losses of the other order
        nodes = [real(i * step - shift).exp() for i in range(first, last + 1)]
        start = (above if upper else below)(in_order(law_of(r), order), nodes, bits)
        power, times = (first, *start), r["times"]
        while times:
            if times & 1:
                result = compose(result, power, window, bits, upper) if result else power
            times >>= 1
            power = compose(power, power, window, bits, upper) if times else None
    mass = real(result[2], 1 << bits)
    for i, part in enumerate(result[1], result[0]):
        if part and i * step > epsilon:
            mass += real(part, 1 << bits) * (UNIT - real(epsilon - i * step).exp())
    return mass
