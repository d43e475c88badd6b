"""A statement as a theorem: a file that Rocq (coqc) accepts by computing, if the claim follows.

The definitions and the rules are in checker/rocq. The file says what was released and what is
claimed in their words; its proof is one computation in Rocq's kernel.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from exactdp.errors import InvalidParameter
from exactdp.statement.document import Statement

_RULES = ("curve", "basic", "renyi", "grid")
_SPARE = 96  # binary digits beyond the first one of the claimed number

_HEAD = """\
(* A privacy statement as a theorem. SHA-256 of the statement: {sha256}

   Compile this file with checker/rocq of exactdp:  coqc -Q checker/rocq DP FILE.v

   private_releases named releases epsilon delta (file Statement.v) says: whatever an analyst runs,
   one release after the other, each with fresh noise and chosen by what was seen before, and
   whatever event E is made of all that was seen, the probabilities P of E for some data and Q of E
   for neighbouring data obey P(E) <= e^epsilon Q(E) + delta. If named is true, one side of the
   neighbours has a name (with the user, without), all releases have the same order, and both orders
   are meant; if it is false, each release may have its own order. *)
From Coq Require Import Reals QArith List.
Import ListNotations.
From DP Require Import Statement Checker.
"""

_CLAIM = """
(* Claim {number}: delta at epsilon = {epsilon} is at most {at_most}. *)
Theorem claim_{number} : private_releases {named} releases (Q2R {epsilon_q}) (Q2R {at_most_q}).
Proof.
  apply ({checker} {precision} _ _ _ _
    ({rule})).
  vm_cast_no_check (eq_refl true).
Qed.
Print Assumptions claim_{number}.
"""


def theorem(statement: Statement) -> str:
    """The text of a file for coqc, with a theorem for each upper bound of delta.

    Raises InvalidParameter if checker/rocq has no rule for a claim or a mechanism.
    """
    fields = statement.fields
    named = fields["unit"]["neighbours"] in ("add-remove", "zero-out")
    claims = [_claim(i, claim, named) for i, claim in enumerate(fields["claims"], 1)]
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


def _claim(number: int, claim: dict[str, Any], named: bool) -> str:
    rule = claim["derivation"]["rule"]
    if claim["measure"] != "delta" or rule not in _RULES:
        what = f"claim {number}: {claim['measure']} by the rule {rule}"
        raise InvalidParameter("statement", what, f"delta by one of the rules {', '.join(_RULES)}")
    if "at_most" not in claim:
        raise InvalidParameter("statement", f"claim {number}: at_least alone", "a claim at_most")
    at_most = Fraction(claim["at_most"])
    digits = max(0, (1 / at_most).__ceil__().bit_length()) if at_most else 0
    bits = claim["derivation"].get("mass_bits", 0)
    long_integers = "kernel" if rule == "grid" else "program"  # the kernel's own, or Rocq's Z
    return _CLAIM.format(
        number=number,
        epsilon=claim["epsilon"],
        at_most=claim["at_most"],
        named=str(named).lower(),
        epsilon_q=_rational(claim["epsilon"]),
        at_most_q=_rational(claim["at_most"]),
        precision=max(digits + _SPARE, bits),
        rule=_rule(claim["derivation"]),
        checker=f"check_in_{long_integers}_sound",
    )


def _rule(derivation: dict[str, Any]) -> str:
    if derivation["rule"] == "renyi":
        order = Fraction(derivation["order"])
        if order.denominator > 1:
            raise InvalidParameter("statement", f"the order {order}", "a whole order")
        return f"RenyiRule {order}"
    if derivation["rule"] != "grid":
        return f"{derivation['rule'].capitalize()}Rule"
    nodes = "; ".join(_pair(pair) for pair in derivation["nodes"])
    step, bits, window = derivation["step"], derivation["mass_bits"], derivation["window"]
    return f"GridRule ({_fraction(step)}) {bits} [{nodes}] {_pair(window)}"


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
