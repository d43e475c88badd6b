# fmt: off
"""Checks a privacy statement (format dp-statement/1): python dpcheck.py statement.json

Prints "valid", "not proved" or "malformed", and why (exit status 0, 1, 2). Every number is computed
anew, with integers and fractions only. A derivation gives choices: a bad choice proves less, never
something false. A claim at_most holds for all neighbours, at_least for some. SPECIFICATION.md has
the format, README.md the mathematics. dpcheck_more.py has more mechanisms; loaded when needed.
"""
import hashlib
import json
import re
import sys
import time
from bisect import bisect_right
from fractions import Fraction
from functools import partial
from itertools import pairwise
from math import isqrt, lcm

P = 256  # real numbers are enclosed by multiples of 2^-P
ONE, SPARE = 1 << P, 1 << P - 80
SECONDS, BYTES = 50, 1 << 20  # of the processor for a check, of a statement
NODES, WINDOW = 1 << 13, 1 << 14  # of all releases alone, of their composition

class Stop(Exception):
    """The verdict and its reason."""

def prove(fact, reason, verdict="not proved"):
    if not fact:
        raise Stop(verdict, reason)
    if time.process_time_ns() > prove.end:
        raise Stop("not proved", f"the check takes more than {SECONDS} seconds")

# Real numbers ------------------------------------------------------------------------------------
def up(n, bits):
    """n / 2^bits, rounded up, as n >> bits is rounded down."""
    return -(-n >> bits)

class Real:
    """Some number from lo / 2^P to hi / 2^P: every operation rounds lo down and hi up."""
    def __init__(self, lo, hi):
        self.lo, self.hi = lo, hi
    def __add__(self, other):
        return Real(self.lo + other.lo, self.hi + other.hi)
    def __sub__(self, other):
        return Real(self.lo - other.hi, self.hi - other.lo)
    def __mul__(self, other):
        ends = [a * b for a in (self.lo, self.hi) for b in (other.lo, other.hi)]
        return Real(min(ends) >> P, up(max(ends), P))
    def over(self, other):
        prove(self.lo >= 0 and other.lo > 0, "a quotient of numbers that may be negative or 0")
        return Real((self.lo << P) // other.hi, -(-(self.hi << P) // other.lo))
    def sqrt(self):
        return Real(isqrt(max(self.lo, 0) << P), isqrt(self.hi << P) + 1)
    def exp(self):
        """e^x = (e^y)^(2^k), y = x / 2^k < 2^-8; e^-x = 1 / e^x. e^hi <= e^lo (1 + 2 (hi - lo))."""
        n, width = abs(self.lo), self.hi - self.lo
        prove(width <= ONE and n < ONE << 15, "the argument of e^x is too large")
        k = max(n.bit_length() - P + 8, 0)
        at = series(ONE, Real(n >> k, up(n, k)), 1, 1)
        for _ in range(k):
            at = at * at
        at = UNIT.over(at) if self.lo < 0 else at
        return Real(at.lo, up(at.hi * (ONE + 2 * width), P))
    def log(self):
        """ln x = k ln 2 + 2 atanh((m - 1)/(m + 1)), x = m 2^k. ln hi <= ln lo + (hi - lo)/lo."""
        prove(self.lo > 0, "a logarithm of a number that may be 0")
        k = self.lo.bit_length() - P - 1
        m = Real(self.lo >> k, up(self.lo, k)) if k > 0 else Real(self.lo << -k, self.lo << -k)
        at = TWO * atanh((m - UNIT).over(m + UNIT)) + LN2 * real(k)
        return Real(at.lo, at.hi - (self.lo - self.hi) * ONE // self.lo)
    def tail(self):
        """Phi(-x) = 1/2 - phi(x) (x + x^3/3 + x^5/(3 5) + ...) if x >= 0, else 1 - Phi(x).

        For x >= 19 it is below phi(x)/x < 2^-P. Its slope is above -1/2.
        """
        n, square = abs(self.lo), Real(self.lo**2 >> P, up(self.lo**2, P))
        at = Real(0, 1)
        if n < 19 * ONE:
            at = HALF - series(n, square, 3, 2).over((HALF * square).exp() * ROOT_2PI)
        at = UNIT - at if self.lo < 0 else at
        return Real(max(at.lo - up(self.hi - self.lo, 1), 0), max(at.hi, 0))

def series(t, r, j, step):
    """t + t r/j + t r^2/(j (j + step)) + ..., r >= 0: once r/j <= 1/2 and a term is below one unit,
    so is the rest."""
    s, s_up, t_up = t, t, t
    while t_up > 1 or 2 * r.hi > j << P:
        t, t_up, j = (t * r.lo >> P) // j, -(-up(t_up * r.hi, P) // j), j + step
        s, s_up = s + t, s_up + t_up
    return Real(s, s_up + 1)

def atanh(z):
    """z + z^3/3 + z^5/5 + ..., 0 <= z <= 1/3: terms after the 82nd are below 2^-268 together."""
    low, high, s, s_up, square = z.lo, z.hi, 0, 1, z * z
    for j in range(1, 165, 2):
        s, s_up = s + low // j, s_up - (-high // j)
        low, high = low * square.lo >> P, up(high * square.hi, P)
    return Real(s, s_up)

def real(number, other=1):
    n, d = number.numerator * other.denominator << P, number.denominator * other.numerator
    return Real(n // d, -(-n // d))

UNIT, NOTHING, TWO, HALF = real(1), real(0), real(2), real(1, 2)
LN2 = TWO * atanh(real(1, 3))
PI = 314159265358979323846264338327950288419716939937510582097494459230781640628620899
ROOT_2PI = Real(real(2 * PI, 10**80).lo, real(2 * PI + 2, 10**80).hi).sqrt()

# Mechanisms --------------------------------------------------------------------------------------
#
# With densities p on some data and q on their neighbour, the curve of this pair in this order is
# G(x) = sup over events S of P(S) - x Q(S). It is convex, falls with slope >= -1 from G(0) = 1, and
# the best event is {p > x q}. delta at epsilon is the largest G(e^epsilon) of all pairs and orders.
# A law maps an enclosure of x to (P(S), Q(S), top): an event's enclosed probabilities, and a
# top / 2^P >= G(y) for all y in the enclosure.

def gaussian(mu, x):
    """N(mu, 1) against N(0, 1): ln p/q = mu z - mu^2/2 exceeds ln x for z > (ln x)/mu + mu/2."""
    t, half = x.log() * UNIT.over(mu), mu * HALF
    p, q = (t - half).tail(), (t + half).tail()
    return p, q, (p - x * q).hi

def outcomes(pairs):
    """Outcomes with enclosed probabilities (p, q). S: those with p.hi >= x.lo q.lo, the first by
    p.hi/q.lo. top, the sum of p.hi - x.lo q.lo over S, is at least that of all (p - x q)+."""
    pairs = sorted(pairs, key=lambda pair: pair[1].lo > 0)
    always, sums = sum(q.lo <= 0 for _, q in pairs), [(NOTHING, NOTHING)]
    pairs[always:] = sorted(pairs[always:], key=lambda pair: -(pair[0].hi << P) // pair[1].lo)
    for p, q in pairs:
        sums.append((sums[-1][0] + p, sums[-1][1] + q))
    keys = [-((p.hi << P) // q.lo) for p, q in pairs[always:]]

    def law(x):
        p, q = sums[always + bisect_right(keys, -x.lo)]
        return p, q, (p - Real(x.lo, x.lo) * q).hi

    return law

def sampled(law, rate, x):
    """rate p + (1 - rate) q against q: exceeds x if p > u q, and its curve is rate G(u). If u <= 0,
    or undecided, S is everything: the curve is <= 1 - x + the width of what is undecided."""
    u = (x - real(1 - rate)) * real(1, rate)
    if u.lo <= 0:
        return UNIT, UNIT, ONE - x.lo + u.hi - u.lo
    p, q, top = law(u)
    return real(rate) * p + real(1 - rate) * q, q, up(real(rate).hi * top, P)

def backward(law, x):
    """q against p: the event is the complement, and sup Q(S) - x P(S) = 1 - x + x G(1/x)."""
    p, q, top = law(UNIT.over(x))
    return UNIT - q, UNIT - p, (UNIT - x + x * Real(top, top)).hi

# Composition on a grid ---------------------------------------------------------------------------
#
# Masses p_i on nodes x_i = e^(i step), and p_oo, have the curve C(x) = p_oo + sum p_i (1 - x/x_i)+.
# To compose, masses multiply and losses add: p_oo + sum p_i C2(x/x_i), and the same with 1 and 2
# exchanged. So a curve that is larger (smaller) everywhere stays so in every composition.

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
    share = left[:meet] + right[meet:]
    masses = [0] * n
    for k in range(n):
        own, rest = real(share[k], ONE), real(ONE - share[k - 1], ONE) if k else NOTHING
        p, q = (own * c + rest * d for c, d in zip(cells[k], cells[k - 1], strict=True))
        node = next((j for j in (k, k - 1) if j >= 0 and (x[j] * q).hi <= p.lo), None)
        if node is not None:
            masses[node] += (x[node] * q).lo
    return [max(mass, 0) >> P - bits for mass in masses], max(infinite, 0) >> P - bits

def compose(a, b, window, bits, upper):
    """All products of masses, by one product of long integers. What leaves the window moves up, to
    its first node and to infinity (if not upper: it is dropped, and moves to the last node)."""
    (i, p, s), (j, q, t), (low, high) = a, b, window
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
    sizes = [last - first + 1 for first, last in [*rule["nodes"], window]]
    prove(sum(sizes[:-1]) <= NODES and sizes[-1] <= WINDOW, "the grid has too many nodes")
    for r, (first, last) in zip(releases, rule["nodes"], strict=True):
        first, last = (-last, -first) if order else (first, last)  # the losses of the other order
        nodes = [real(i * step - shift).exp() for i in range(first, last + 1)]
        start = (above if upper else below)(laws(r)[order], nodes, bits)
        power, times = (first, *start), r["times"]
        while times:
            if times & 1:
                result = compose(result, power, window, bits, upper) if result else power
            times >>= 1
            power = compose(power, power, window, bits, upper) if times else None
    total = real(result[2], 1 << bits)
    for i, mass in enumerate(result[1], result[0]):
        if mass and i * step > epsilon:
            total += real(mass, 1 << bits) * (UNIT - real(epsilon - i * step).exp())
    return total

# Rules -------------------------------------------------------------------------------------------
def more():
    """The second file, which uses this one."""
    sys.modules.setdefault("dpcheck", sys.modules[__name__])
    import dpcheck_more
    return dpcheck_more

def laws(r):
    """The law of the worst pair of neighbours, in both orders."""
    name = r["mechanism"]
    if name == "gaussian":
        law = partial(gaussian, real(r["sensitivity"], r["sigma"]))
    elif name == "finite-law":
        law = outcomes([(real(p), real(q)) for p, q in r["outcomes"]])
    else:
        law = more().law(r)
    law = partial(sampled, law, r["rate"]) if r.get("rate", 1) < 1 else law
    return law, partial(backward, law)

def delta(releases, rule, epsilon, upper):
    """A bound on delta at epsilon."""
    promised = any(r["mechanism"] in ("approximate", "zcdp") for r in releases)
    prove(upper or not promised, "what is promised of a mechanism has no lower side")
    if rule["rule"] == "grid":
        ends = [grid(releases, rule, epsilon, upper, order) for order in (0, 1)]
        return Fraction(max(end.hi if upper else end.lo for end in ends), ONE)
    if rule["rule"] != "curve" or "k" in releases[0]:
        return more().delta(releases, rule, epsilon, upper)
    if all(r["mechanism"] == "gaussian" and r.get("rate", 1) == 1 for r in releases):
        mu2 = sum(Fraction(r["sensitivity"], r["sigma"]) ** 2 * r["times"] for r in releases)
        curves = [partial(gaussian, real(mu2).sqrt())]
    else:
        prove(len(releases) == releases[0]["times"] == 1, "the rule curve is for one release")
        curves = laws(releases[0])
    x = real(epsilon).exp()
    events = [law(x) for law in curves]
    return Fraction(max(top if upper else (p - x * q).lo for p, q, top in events), ONE)

# Statements --------------------------------------------------------------------------------------
FIELDS = {  # of each object, and of each variant of it; "?": may be left out
    "statement": "format unit releases claims premises not_shown made_by about?",
    "unit": "neighbours of bounds", "bounds": "what at_most checked", "releases": "mechanism times",
    "claims": "measure derivation at_most? at_least?", "derivation": "rule",
    "made_by": "name version"}
VARIANTS = {
    "mechanism": {
        "gaussian": "sigma sensitivity rate?", "discrete-gaussian": "sigma2 sensitivity rate?",
        "laplace": "scale sensitivity rate?", "discrete-laplace": "scale sensitivity rate?",
        "randomized-response": "epsilon rate?", "finite-law": "outcomes", "zcdp": "rho",
        "approximate": "epsilon delta", "gaussian-sparse-histogram": "k sigma tau",
        "correlated-sparse-histogram": "k sigma tau"},
    "measure": {
        "delta": "epsilon", "type-two": "epsilon type_one", "rho": "", "mu": "", "renyi": "order"},
    "rule": {"curve": "", "basic": "", "sum": "", "renyi": "order", "overlaps": "starts",
             "grid": "step mass_bits nodes window"}}
DEPTHS = {"bounds": 1, "releases": 1, "claims": 1, "premises": 1, "not_shown": 1, "starts": 1,
          "window": 1, "outcomes": 2, "nodes": 2, "about": 2}  # of lists
LEAVES = {  # the type, and what is allowed; a Fraction is a text in JSON, and never negative
    "format": (str, lambda v: v == "dp-statement/1"), "checked": (bool, lambda v: True),
    "neighbours": (str, lambda v: v in ("add-remove", "replace-one", "zero-out", "pair")),
    "of what name version premises not_shown about": (str, lambda v: 0 < len(v) <= 2000),
    "sigma sensitivity scale sigma2 step": (Fraction, lambda v: v > 0),
    "rate": (Fraction, lambda v: 0 < v <= 1), "order": (Fraction, lambda v: v > 1),
    "delta type_one outcomes": (Fraction, lambda v: v <= 1),
    "epsilon rho tau at_most at_least": (Fraction, lambda v: True),
    "mass_bits": (int, lambda v: 16 <= v <= 160), "k times": (int, lambda v: 1 <= v <= 10**9),
    "nodes window starts": (int, lambda v: abs(v) <= 10**9)}
LEAVES = {name: kind for names, kind in LEAVES.items() for name in names.split()}
NUMBER = re.compile("(0|[1-9][0-9]*)(([.][0-9]+)?(e-?[1-9][0-9]{0,2})?|/[1-9][0-9]*)")
demand = partial(prove, verdict="malformed")

def read(name, value, depth=0):
    """The value of a field, with its numbers read."""
    if depth < DEPTHS.get(name, 0):
        demand(type(value) is list, f"{name} is not a list")
        return [read(name, item, depth + 1) for item in value]
    if name in FIELDS:
        demand(type(value) is dict, f"{name} is not an object")
        names = FIELDS[name].split()
        for tag, variants in VARIANTS.items():
            if tag in names:
                variant = value.get(tag)
                demand(type(variant) is str and variant in variants, f"the {tag} is unknown")
                names += variants[variant].split()
        fit = {n for n in names if n[-1] != "?"} <= value.keys() <= {n.rstrip("?") for n in names}
        demand(fit, f"{name} is not an object with the fields {' '.join(names)}")
        return {n: v if n in VARIANTS else read(n, v) for n, v in value.items()}
    kind, allowed = LEAVES[name]
    if kind is Fraction and type(value) is str and len(value) <= 60 and NUMBER.fullmatch(value):
        value = Fraction(value)
    demand(type(value) is kind and allowed(value), f"{name} has a value that is not allowed")
    return value

def parse(data):
    """The JSON in these bytes, without floats, long numbers and fields that are there twice."""
    def whole(digits):
        short = len(digits) < 12 and digits != "-0" and digits.lstrip("-").isdecimal()
        demand(short, "numbers are short and whole, or texts")
        return int(digits)
    def unique(pairs):
        demand(len(dict(pairs)) == len(pairs), "a field is there twice")
        return dict(pairs)
    demand(len(data) <= BYTES, f"more than {BYTES} bytes")
    try:
        raw = json.loads(data.decode(), object_pairs_hook=unique, parse_int=whole,
                         parse_float=whole, parse_constant=whole)
        form = json.dumps(raw, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return raw, hashlib.sha256(form.encode()).hexdigest()
    except (ValueError, RecursionError):
        raise Stop("malformed", "this is not JSON in UTF-8") from None

def agree(releases, claims, neighbours):
    """What fields demand of each other."""
    demand(0 < len(releases) <= 500 and claims, "releases are 1 to 500, and claims at least 1")
    for r in releases:
        pairs = r.get("outcomes", [[1, 1]])
        demand({len(pair) for pair in pairs} == {2}, "outcomes are pairs")
        for column in zip(*pairs, strict=True):
            d = lcm(*(p.denominator for p in column))
            total = sum(p.numerator * (d // p.denominator) for p in column)
            demand(total == d, "the probabilities of outcomes do not add up to 1")
        demand(neighbours == "add-remove" or not {"rate", "k"} & r.keys(),
               "sampling and sparse histograms are for add-remove neighbours")
    for claim in claims:
        demand({"at_most", "at_least"} & claim.keys(), "a claim is at_most, at_least or both")
        if claim["derivation"]["rule"] == "grid":
            pairs = [claim["derivation"]["window"], *claim["derivation"]["nodes"]]
            fit = all(len(p) == 2 and p[0] <= p[1] for p in pairs)
            demand(fit and len(pairs) == len(releases) + 1, "nodes or window are no pairs in order")

def check(data):
    """The verdict on these bytes, its reason, and the SHA-256 of the canonical form."""
    digest, prove.end = "none", time.process_time_ns() + SECONDS * 10**9
    try:
        raw, digest = parse(data)
        s = read("statement", raw)
        agree(s["releases"], s["claims"], s["unit"]["neighbours"])
        for i, claim in enumerate(s["claims"], 1):
            for side in sorted({"at_most", "at_least"} & claim.keys()):
                upper, claimed, rule = side == "at_most", claim[side], claim["derivation"]
                if claim["measure"] == "delta":
                    found = min(delta(s["releases"], rule, claim["epsilon"], upper), 1)
                else:
                    found, claimed = more().quantity(claim, s["releases"], upper, claimed)
                prove(found <= claimed if upper else found >= claimed, f"claim {i}, {side}, fails")
        return "valid", f"claims proved: {len(s['claims'])}", digest
    except Stop as stop:
        return *stop.args, digest

if __name__ == "__main__":
    with open(sys.argv[1], "rb") as file:
        result = check(file.read(BYTES + 1))
    print("{}: {} (sha256 {})".format(*result))
    sys.exit(["valid", "not proved", "malformed"].index(result[0]))
