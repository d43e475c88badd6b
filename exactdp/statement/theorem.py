"""A statement as a theorem: a file that Rocq (coqc) accepts by computing, if the claim follows.

The definitions and the rules are in checker/rocq. The file says what was released and what is
claimed in their words; its proof is one computation in Rocq's kernel.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from exactdp.errors import InvalidParameter
from exactdp.statement.document import Statement

_RULES = ("curve", "basic", "renyi", "grid")
_PROMISES = ("approximate", "zcdp")  # without a lower side
_DISCRETE_HISTOGRAM = "discrete-sparse-histogram"
_SPARE = 96  # binary digits beyond the first one of the claimed number
_LISTS_SPARE = 64  # the same for a sparse histogram, which lists thousands of probabilities
_HAIRS = 192  # binary digits that show the 2^-100 by which nodes are moved down
_GRID_SPARE = 16  # and beyond those of the masses on a grid, and of e^loss
_NEAREST = 200  # no number of a statement, which has 60 characters, is closer to 1 than 2^-200

_HEAD = """\
(* A privacy statement as a theorem. SHA-256 of the statement: {sha256}

   Compile this file with checker/rocq of exactdp:  coqc -Q checker/rocq DP FILE.v

   claim_at_most named releases (Delta epsilon) delta (file Measures.v) says: whatever an analyst
   runs, one release after the other, each with fresh noise and chosen by what was seen before, and
   whatever event E is made of all that was seen, the probabilities P of E for some data and Q of E
   for neighbouring data obey P(E) <= e^epsilon Q(E) + delta. If named is true, one side of the
   neighbours has a name (with the user, without), all releases have the same order, and both orders
   are meant; if it is false, each release may have its own order. Rho and RenyiDivergence bound
   divergences of all that was seen, and Mu says that it is no easier to tell than a number with
   Gaussian noise that was moved by mu standard deviations. claim_at_least says that one pair of
   neighbours comes as close to the number as you like; for SecondError, that no test has a smaller
   second error. *)
From Coq Require Import Reals QArith List.
Import ListNotations.
From DP Require Import Statement Checker Measures Claims.
"""

_CLAIM = """
(* Claim {number}: {words} is {side} {bound}. *)
Theorem claim_{number}_{name} : {meaning} releases ({measure}) (Q2R {bound_q}).
Proof.
  apply ({checker}_sound {precision} {unknown}
    ({rule})).
  vm_cast_no_check (eq_refl true).
Qed.
Print Assumptions claim_{number}_{name}.
"""

_HISTOGRAM = """\
(* A privacy statement as a theorem. SHA-256 of the statement: {sha256}

   Compile this file with checker/rocq of exactdp:  coqc -Q checker/rocq DP FILE.v

   private_histogram k sigma2 tau epsilon delta (file Histogram.v) is about counts of keys. Each
   count gets noise z with probabilities in proportion to e^(-z^2/(2 sigma2)), and is shown with its
   key if it exceeds 1 + tau. One user has at most k keys. The count of a key that others have as
   well moves by at most 1 with this user; a key that no one else has is counted once with the user,
   and not shown without. Whatever event E is made of all that is shown, its probabilities P and Q
   with the user and without obey P(E) <= e^epsilon Q(E) + delta, and the same with P and Q
   exchanged. *)
From Coq Require Import Reals ZArith QArith List.
Import ListNotations.
From DP Require Import Statement Histogram.
"""

_HISTOGRAM_CLAIM = """
(* Claim {number}: delta at epsilon = {epsilon} is at most {bound}. *)
Theorem claim_{number}_at_most :
  private_histogram {k} ({sigma2}) {tau} (Q2R {epsilon_q}) (Q2R {bound_q}).
Proof.
  apply (program_histogram_sound {precision} _ _ _ _ _
    [{starts}]%Z).
  vm_cast_no_check (eq_refl true).
Qed.
Print Assumptions claim_{number}_at_most.
"""


def theorem(statement: Statement) -> str:
    """The text of a file for coqc, with a theorem for each bound that has a rule in checker/rocq.

    Raises InvalidParameter if checker/rocq has no rule for a claim or a mechanism. A lower bound
    beside an upper one is left out where it has no rule: see `left_out`.
    """
    fields = statement.fields
    if [(r["mechanism"], r["times"]) for r in fields["releases"]] == [(_DISCRETE_HISTOGRAM, 1)]:
        return _HISTOGRAM.format(sha256=statement.sha256) + "".join(
            _histogram_claim(i, claim, fields["releases"][0])
            for i, claim in enumerate(fields["claims"], 1)
        )
    claims = [
        _claim(i, claim, side, fields)
        for i, claim in enumerate(fields["claims"], 1)
        for side in ("at_most", "at_least")
        if side in claim and (side, i) not in left_out(statement)
    ]
    releases = ";\n  ".join(_release(release) for release in fields["releases"])
    whose = (
        f"\n(* Neighbours: {fields['unit']['neighbours']}. The mechanisms are those of section 3"
        " of SPECIFICATION.md. *)\n"
    )
    return (
        _HEAD.format(sha256=statement.sha256)
        + whose
        + f"Definition releases : list release := [\n  {releases}].\n"
        + "".join(claims)
    )


def left_out(statement: Statement) -> list[tuple[str, int]]:
    """The lower bounds, with the numbers of their claims, that stand beside an upper one alone."""
    fields = statement.fields
    known = all(release["mechanism"] not in _PROMISES for release in fields["releases"])
    return [
        ("at_least", i)
        for i, claim in enumerate(fields["claims"], 1)
        if {"at_most", "at_least"} <= claim.keys()
        and not (known and claim["measure"] in ("delta", "mu"))
    ]


def _claim(number: int, claim: dict[str, Any], side: str, fields: Mapping[str, Any]) -> str:
    measure, words = _measure(number, claim, side)
    named = str(fields["unit"]["neighbours"] in ("add-remove", "zero-out")).lower()
    one_pair = str(fields["unit"].get("one_pair", False)).lower()
    derivation = claim["derivation"]
    grid = derivation["rule"] == "grid"
    place = "kernel" if grid else "program"  # the kernel's long integers, or Rocq's Z
    below = side == "at_least"
    epsilon = _rational(claim.get("epsilon", "0"))
    return _CLAIM.format(
        number=number,
        name=side,
        words=words,
        side=side.replace("_", " "),
        bound=claim[side],
        meaning=f"claim_at_least {named} {one_pair}" if below else f"claim_at_most {named}",
        measure=measure,
        bound_q=_rational(claim[side]),
        checker=f"{place}_{'least' if below else 'most'}",
        precision=_precision(claim, side),
        unknown=f"_ _ _ _ _ {epsilon}" if below else "_ _ _ _",
        rule=_rule(derivation),
    )


def _histogram_claim(number: int, claim: dict[str, Any], release: dict[str, Any]) -> str:
    rule, sides = claim["derivation"], claim.keys() & {"at_most", "at_least"}
    if (claim["measure"], rule["rule"], sides) != ("delta", "overlaps", {"at_most"}):
        what = f"claim {number}: {claim['measure']} by the rule {rule['rule']}"
        allowed = "delta at_most by the rule overlaps, for a sparse histogram"
        raise InvalidParameter("statement", what, allowed)
    return _HISTOGRAM_CLAIM.format(
        number=number,
        epsilon=claim["epsilon"],
        bound=claim["at_most"],
        k=release["k"],
        sigma2=_fraction(release["sigma2"]),
        tau=math.floor(Fraction(release["tau"])),
        epsilon_q=_rational(claim["epsilon"]),
        bound_q=_rational(claim["at_most"]),
        precision=_digits(claim["at_most"]) + _LISTS_SPARE,
        starts="; ".join(map(str, rule["starts"])),
    )


def _digits(bound: str) -> int:
    """Binary digits before the first one of a number that is not 0."""
    return math.ceil(1 / Fraction(bound)).bit_length() if Fraction(bound) else 0


def _measure(number: int, claim: dict[str, Any], side: str) -> tuple[str, str]:
    """The measure in the words of Measures.v, and in those of a reader."""
    measure, rule = claim["measure"], claim["derivation"]["rule"]
    if (measure, side) in (("delta", "at_most"), ("type-two", "at_least")) and rule in _RULES:
        if measure == "type-two":
            return f"SecondError {_rational(claim['type_one'])}", (
                f"the second error of a test with the first error {claim['type_one']}"
            )
        return f"Delta {_rational(claim['epsilon'])}", f"delta at epsilon = {claim['epsilon']}"
    if (measure, side) == ("delta", "at_least") and rule in ("curve", "grid"):
        return f"Delta {_rational(claim['epsilon'])}", f"delta at epsilon = {claim['epsilon']}"
    if (measure, side, rule) == ("rho", "at_most", "sum") and not Fraction(claim.get("delta", 0)):
        return "Rho", "rho"
    if (measure, rule) == ("mu", "sum"):
        return "Mu", "mu"
    if (measure, side, rule) == ("renyi", "at_most", "sum"):
        order = claim["order"]
        return f"RenyiDivergence {_rational(order)}", f"the divergence of order {order}"
    what = f"claim {number}: {measure} {side} by the rule {rule}"
    raise InvalidParameter("statement", what, "a claim with a rule in checker/rocq")


def _precision(claim: dict[str, Any], side: str) -> int:
    """Binary digits of the numbers in a proof. No choice of them proves what is false."""
    derivation = claim["derivation"]
    least = _HAIRS if side == "at_least" else 0
    if derivation["rule"] == "grid":  # masses on its nodes are exact to their last digit
        largest = max(abs(node) for pair in derivation["nodes"] for node in pair)
        loss = _digits_of_exponential(largest * Fraction(derivation["step"]))
        return max(least, int(derivation["mass_bits"]) + _GRID_SPARE + loss)
    digits = _NEAREST if claim["measure"] == "type-two" else _digits(claim[side])
    order = Fraction(derivation.get("order", 1)).numerator.bit_length()
    growth = _digits_of_exponential(Fraction(claim.get("epsilon", 0)))
    return max(least, max(_SPARE, order) + digits + growth)


def _digits_of_exponential(loss: Fraction) -> int:
    return math.ceil(loss * 3 / 2)  # e < 2^(3/2)


def _rule(derivation: dict[str, Any]) -> str:
    rule = derivation["rule"]
    if rule == "renyi":
        return f"ByDivergence {_rational(derivation['order'])}"
    if rule != "grid":  # a sum makes no choice
        return "Derived BasicRule" if rule == "basic" else "Derived CurveRule"
    nodes = "; ".join(_pair(pair) for pair in derivation["nodes"])
    step, bits, window = derivation["step"], derivation["mass_bits"], derivation["window"]
    return f"Derived (GridRule ({_fraction(step)}) {bits} [{nodes}] {_pair(window)})"


def _release(release: dict[str, Any]) -> str:
    name, rate = release["mechanism"], Fraction(release.get("rate", 1))
    if name == "finite-law":
        pairs = "; ".join(f"({_rational(p)}, {_rational(q)})" for p, q in release["outcomes"])
        mechanism = f"FiniteLaw [{pairs}]"
    elif name == "randomized-response":
        mechanism = f"RandomizedResponse {_rational(release['epsilon'])}"
    elif name == "approximate":
        promise = _rational(release["epsilon"]), _rational(release["delta"])
        mechanism = "Approximate {} {}".format(*promise)
    elif name == "zcdp":
        mechanism = f"ZeroConcentrated {_rational(release['rho'])}"
    elif name in ("discrete-laplace", "discrete-gaussian"):
        size = release["scale"] if name == "discrete-laplace" else release["sigma2"]
        kind = "DiscreteLaplace" if name == "discrete-laplace" else "DiscreteGaussian"
        mechanism = f"{kind} ({_fraction(size)}) {Fraction(release['sensitivity'])}"
    elif name in ("gaussian", "laplace"):
        size = release["sigma"] if name == "gaussian" else release["scale"]
        sizes = f"({_fraction(size)}) ({_fraction(release['sensitivity'])})"
        mechanism = f"{name.capitalize()} {sizes}"
    else:
        allowed = "a statement about mechanisms with a rule in checker/rocq"
        raise InvalidParameter("statement", f"the mechanism {name}", allowed)
    sampling = "None" if rate == 1 else f"(Some ({_fraction(rate)}))"
    return f"Release ({mechanism}) {sampling} {release['times']}"


def _rational(text: str) -> str:
    value = Fraction(text)
    return f"({value.numerator} # {value.denominator})"


def _fraction(text: str | Fraction) -> str:
    value = Fraction(text)
    return f"Fraction {value.numerator} {value.denominator}"


def _pair(pair: list[int]) -> str:
    return "({}, {})%Z".format(*pair)
