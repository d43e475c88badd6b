"""Checks a privacy statement (format dp-statement/1): python dpcheck.py statement.json

Prints "valid", "not proved" or "malformed", and why (exit status 0, 1, 2). Every number is computed
anew, with integers and fractions only. A derivation gives choices: a bad choice proves less, never
something false. A claim at_most holds for all neighbours, at_least for some. SPECIFICATION.md has
the format, README.md the mathematics, and the other files compute bounds.
"""

import hashlib
import json
import re
import sys
from fractions import Fraction
from functools import partial
from math import isqrt

from dpcheck_grid import grid
from dpcheck_laws import (
    LISTED,
    ORDER,
    PARTS,
    counts,
    divergence,
    failure,
    gaussian,
    in_order,
    law_of,
    noise_rate,
    overlaps,
    pure,
    reach,
    rho,
    seen_alone,
    sum_size,
)
from dpcheck_real import NOTHING, ONE, Stop, prove, real, total

BYTES, WORK = 1 << 20, 1_600_000  # of a statement: its size and its work
NODES, WINDOW = 1 << 13, 1 << 14  # of all releases alone, of their composition
FARTHEST = 1 << 12  # the largest loss at a node

# Rules -------------------------------------------------------------------------------------------


def delta(releases, rule, epsilon, upper, named):
    """A bound on delta at epsilon.

    named: one side of the neighbours has a name, so all releases have the same order. Else each run
    may have its own: at_most takes the larger of both curves, and at_least one order for all.
    """
    name, one = rule["rule"], releases[0]
    alone, orders = len(releases) == one["times"] == 1, (0, 1) if named or not upper else (None,)
    prove(upper or not trusted(releases), "what is promised of a mechanism has no lower side")
    prove(upper or name not in ("basic", "renyi"), f"the rule {name} proves at_most alone")
    if name == "basic":
        spent = total(pure(r)[0] * r["times"] for r in releases)
        prove(spent <= epsilon, "the epsilons add up to more")
        return failures(releases)
    if name == "renyi":
        return failures(releases) + by_divergence(releases, rule["order"], epsilon)
    if name == "grid":
        ends = [grid(releases, rule, epsilon, upper, order) for order in orders]
        return Fraction(max(end.hi if upper else end.lo for end in ends), ONE)
    x = real(epsilon).exp()
    if name == "overlaps":
        prove(alone, "the rule overlaps is for one histogram")
        if one["mechanism"] == "discrete-sparse-histogram":
            prove(upper, "a histogram with integer noise has no lower side")
            return Fraction(counts(one, rule["starts"], epsilon), ONE)
        prove("sparsity" in one, "the rule overlaps is not for this mechanism")
        return Fraction(overlaps(one, rule["starts"], x, upper), ONE)
    prove(name == "curve", f"the rule {name} is not for delta")
    if all(r["mechanism"] == "gaussian" and r.get("rate", 1) == 1 for r in releases):
        mu2 = total(2 * rho(r)[1] * r["times"] for r in releases)
        laws = [partial(gaussian, real(mu2).sqrt())]
    elif alone and "k" in one:  # its curve is that of both orders
        laws = [law_of(one), lambda _: (seen_alone(one), NOTHING, 0)]
    else:
        prove(alone, "the rule curve is for one release")
        law = law_of(one)
        laws = [in_order(law, order) for order in orders]
    events = [law(x) for law in laws]
    return Fraction(max(top if upper else (p - x * q).lo for p, q, top in events), ONE)


def failures(releases):
    """The sum of all delta that stand beside an epsilon."""
    return total(failure(r) * r["times"] for r in releases)


def by_divergence(releases, a, epsilon):
    """delta from the divergence of order a.

    For every loss l, with y = e^(epsilon - l) and s = a - 1,
    (1 - y)+ = e^(s (l - epsilon)) (1 - y)+ y^s, whose last two factors are largest at y = s/a.
    """
    s, spent = a - 1, total(divergence(r, a)[1] * r["times"] for r in releases)
    power = real(s * (spent - epsilon)) + real(s) * real(s, a).log() - real(a).log()
    return Fraction(power.exp().hi, ONE)


def quantity(claim, releases, upper, named):
    """A bound on rho, a Renyi divergence, the square of mu, or a second error."""
    rule, measure = claim["derivation"], claim["measure"]
    if measure == "type-two":  # b: 1 - b <= e^epsilon a + delta, and 1 - a <= e^epsilon b + delta
        prove(not upper, "the second error is proved at_least")
        a, x = claim["type_one"], Fraction(real(claim["epsilon"]).exp().hi, ONE)
        left = 1 - delta(releases, rule, claim["epsilon"], True, named)
        return max(left - x * a, Fraction(left - a, x))
    prove(rule["rule"] == "sum", "this quantity needs the rule sum")
    prove(measure != "mu" or all(r["mechanism"] == "gaussian" for r in releases), "no mu is known")
    beside = claim.get("delta", Fraction(0))
    prove(failures(releases) <= beside, "the deltas of the releases add up to more")
    prove(upper or not beside, "beside a delta there is no lower side")
    parts = [divergence(r, claim["order"]) if measure == "renyi" else rho(r) for r in releases]
    bound = total(part[upper] * r["times"] for part, r in zip(parts, releases, strict=True))
    return 2 * bound if measure == "mu" else bound


def trusted(releases):
    """The numbers of the releases of which a guarantee is stated, and not the mechanism."""
    return [i for i, r in enumerate(releases, 1) if r["mechanism"] in ("approximate", "zcdp")]


# Work --------------------------------------------------------------------------------------------


def work(claim, releases):
    """A bound on the work for a claim: one unit for an outcome of a law, 64 for a point of a curve.

    It is known before any work is done. A unit takes about 25 microseconds.
    """
    rule = claim["derivation"]
    order = rule.get("order", claim.get("order", 0))
    units = 128 + 24 * len(releases)
    if rule["rule"] == "overlaps":
        units += parts_work(releases[0], rule["starts"])
    if order and order <= ORDER:
        units += sum(16 * (int(order) + 1) for r in releases if r["mechanism"] == "gaussian")
    if rule["rule"] in ("curve", "grid"):
        outcomes = sum(map(outcomes_of, releases))
        units += outcomes if rule["rule"] == "curve" else 2 * outcomes
    if rule["rule"] == "grid":
        (first, last), width = rule["window"], max(b - a + 1 for a, b in rule["nodes"])
        digits = max(last - first + 1, width) * (rule["mass_bits"] // 4 + 4)
        products = sum(r["times"].bit_length() + r["times"].bit_count() for r in releases)
        points = sum(b - a + 1 for a, b in rule["nodes"])
        units += 2 * (
            64 * points + 4 * (last - first) + products * (64 + digits * isqrt(digits) // 8000)
        )
    return units * len({"at_most", "at_least"} & claim.keys())


def parts_work(r, starts):
    """The work for parts of the numbers of shared keys."""
    sizes = []
    if r["mechanism"] == "discrete-sparse-histogram":
        lasts = [first - 1 for first in starts if 1 < first <= r["k"]]
        sizes = [sum_size(noise_rate(r), j) for j in (1, r["k"], *lasts)]
    return 64 * len(starts) + 2 * sum(size for size in sizes if size <= LISTED)


def outcomes_of(r):
    """The outcomes that a law lists, twice if computed; 0 for a law that is refused at once."""
    if r["mechanism"] in ("discrete-gaussian", "discrete-laplace"):
        size = 2 * reach(2 if "sigma2" in r else 1, noise_rate(r)) + int(r["sensitivity"])
        return 2 * size if size <= PARTS else 0
    return len(r.get("outcomes", ()))


# Statements --------------------------------------------------------------------------------------

FIELDS = {  # of each object, and of each variant of it; "?": may be left out
    "statement": "format unit releases claims premises not_shown made_by about?",
    "unit": "neighbours of bounds one_pair?",
    "bounds": "what at_most checked",
    "releases": "mechanism times",
    "claims": "measure derivation at_most? at_least?",
    "derivation": "rule",
    "made_by": "name version",
}
VARIANTS = {
    "mechanism": {
        "gaussian": "sigma sensitivity rate?",
        "laplace": "scale sensitivity rate?",
        "discrete-gaussian": "sigma2 sensitivity rate?",
        "discrete-laplace": "scale sensitivity rate?",
        "randomized-response": "epsilon rate?",
        "finite-law": "outcomes",
        "approximate": "epsilon delta",
        "zcdp": "rho",
        "gaussian-sparse-histogram": "k sigma tau",
        "correlated-sparse-histogram": "sparsity sigma tau",
        "discrete-sparse-histogram": "k sigma2 tau",
    },
    "measure": {
        "delta": "epsilon",
        "type-two": "epsilon type_one",
        "rho": "delta?",
        "mu": "",
        "renyi": "order",
    },
    "rule": {
        "curve": "",
        "basic": "",
        "sum": "",
        "renyi": "order",
        "overlaps": "starts",
        "grid": "step mass_bits nodes window",
    },
}
DEPTHS = {  # of lists
    "bounds premises not_shown releases claims starts window": 1,
    "outcomes nodes about": 2,
}
LEAVES = {  # the type, and what is allowed; a Fraction is a text in JSON, and never negative
    "format": (str, lambda v: v == "dp-statement/1"),
    "checked one_pair": (bool, lambda v: True),
    "neighbours": (str, lambda v: v in ("add-remove", "replace-one", "zero-out", "pair")),
    "of what name version premises not_shown about": (str, lambda v: 0 < len(v) <= 2000),
    "sigma sensitivity scale sigma2 step": (Fraction, lambda v: v > 0),
    "rate": (Fraction, lambda v: 0 < v <= 1),
    "order": (Fraction, lambda v: v > 1),
    "delta type_one outcomes": (Fraction, lambda v: v <= 1),
    "epsilon rho tau at_most at_least": (Fraction, lambda v: True),
    "mass_bits": (int, lambda v: 16 <= v <= 160),
    "k sparsity times": (int, lambda v: 1 <= v <= 10**9),
    "nodes window starts": (int, lambda v: abs(v) <= 10**9),
}
DEPTHS = {name: depth for names, depth in DEPTHS.items() for name in names.split()}
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
        fields = FIELDS[name].split()
        for tag in fields[:]:
            if tag in VARIANTS:
                variant = value.get(tag)
                demand(type(variant) is str and variant in VARIANTS[tag], f"the {tag} is unknown")
                fields += VARIANTS[tag][variant].split()
        for field in fields:
            demand(field[-1] == "?" or field in value, f"{name}: the field {field} is missing")
        known = {field.rstrip("?") for field in fields}
        demand(value.keys() <= known, f"{name}: a field is none of {' '.join(sorted(known))}")
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
        raw = json.loads(
            data.decode(),
            object_pairs_hook=unique,
            parse_int=whole,
            parse_float=whole,
            parse_constant=whole,
        )
        form = json.dumps(raw, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return raw, hashlib.sha256(form.encode()).hexdigest()
    except (ValueError, RecursionError):
        raise Stop("malformed", "this is not JSON in UTF-8") from None


def agree(s):
    """What the fields of a statement demand of each other."""
    releases, claims = s["releases"], s["claims"]
    demand(0 < len(releases) <= 500 and claims, "releases are 1 to 500, and claims at least 1")
    for r in releases:
        pairs = r.get("outcomes", [[Fraction(1)] * 2])
        demand(0 < len(pairs) <= PARTS, f"outcomes are 1 to {PARTS}")
        demand({len(pair) for pair in pairs} == {2}, "outcomes are pairs")
        for column in zip(*pairs, strict=True):
            sums = total(column, "malformed") == 1
            demand(sums, "the probabilities of outcomes do not add up to 1")
        integers = r["mechanism"].startswith("discrete-") and "sensitivity" in r
        fit = not integers or r["sensitivity"].denominator == 1
        demand(fit, "sensitivity: that of integers is a whole number")
        fit = s["unit"]["neighbours"] == "add-remove" or not {"rate", "tau"} & r.keys()
        demand(fit, "sampling and sparse histograms are for add-remove neighbours")
    for claim in claims:
        demand({"at_most", "at_least"} & claim.keys(), "a claim is at_most, at_least or both")
        if claim["derivation"]["rule"] == "grid":
            pairs = [claim["derivation"]["window"], *claim["derivation"]["nodes"]]
            fit = all(len(p) == 2 and p[0] <= p[1] for p in pairs)
            demand(fit and len(pairs) == len(releases) + 1, "nodes or window are no pairs in order")


def limit(s):
    """Refuse, before any work is done, what would take too long."""
    for rule in (claim["derivation"] for claim in s["claims"]):
        if rule["rule"] == "grid":
            sizes = [last - first + 1 for first, last in [*rule["nodes"], rule["window"]]]
            fit = sum(sizes[:-1]) <= NODES and sizes[-1] <= WINDOW
            prove(fit, "the grid has too many nodes")
            far = max(abs(i) for pair in rule["nodes"] for i in pair) * rule["step"]
            prove(far <= FARTHEST, f"a node is at a loss beyond {FARTHEST}")
    units = sum(work(claim, s["releases"]) for claim in s["claims"])
    prove(units <= WORK, f"the claims need more than {WORK} units of work")


def prove_claim(claim, side, s):
    """Whether one side of a claim follows."""
    releases, upper, claimed = s["releases"], side == "at_most", claim[side]
    named = s["unit"]["neighbours"] in ("add-remove", "zero-out")
    if not upper and claim["measure"] != "type-two":
        once = sum(r["times"] for r in releases) == 1 or s["unit"].get("one_pair", False)
        prove(once, "at_least of several runs needs one_pair: neighbours that attain all of them")
    if claim["measure"] == "delta":
        bound = min(delta(releases, claim["derivation"], claim["epsilon"], upper, named), 1)
    else:
        bound = quantity(claim, releases, upper, named)
    claimed = claimed**2 if claim["measure"] == "mu" else claimed
    return bound <= claimed if upper else bound >= claimed


def praise(s):
    """What a valid statement shows, and what it takes on trust."""
    claims, taken = len(s["claims"]), trusted(s["releases"])
    text = "1 claim follows" if claims == 1 else f"{claims} claims follow"
    if taken:
        names = ", ".join(map(str, taken[:5])) + (
            f" and {len(taken) - 5} more" if taken[5:] else ""
        )
        one = len(taken) == 1
        kind = (
            f"release {names} (a stated guarantee)"
            if one
            else f"releases {names} (stated guarantees)"
        )
        text += f"; taken on trust: {kind}"
    return text


def check(data):
    """The verdict on these bytes, its reason, and the SHA-256 of the canonical form."""
    digest = "none"
    try:
        raw, digest = parse(data)
        s = read("statement", raw)
        agree(s)
        limit(s)
        for i, claim in enumerate(s["claims"], 1):
            for side in sorted({"at_most", "at_least"} & claim.keys()):
                prove(prove_claim(claim, side, s), f"claim {i}, {side}, fails")
        return "valid", praise(s), digest
    except Stop as stop:
        verdict, reason = stop.args
        return verdict, reason, digest


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as file:
        result = check(file.read(BYTES + 1))
    print("{}: {} (sha256 {})".format(*result))
    sys.exit(["valid", "not proved", "malformed"].index(result[0]))
