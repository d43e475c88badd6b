"""BV, Section 3: mixing with a law that reaches every output buys back pure privacy."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product

from exactdp.accounting.divergence import hockey_stick, max_loss, total_variation
from exactdp.law import Law
from exactdp.mechanisms.mixing import mixed_law, required_distance
from exactdp.proofs_check.claim import Mutant, require
from exactdp.proofs_check.entries import BV, varied
from exactdp.samplers import Source, exact_law

__all__ = ["CLAIMS"]

_F = Fraction
_FACTORS = (_F(9, 8), _F(3, 2), _F(3), _F(10))
_GAMMAS = (_F(1, 2), _F(1, 4), _F(1, 100))


def _algebra(weight: int) -> str:
    """At one output: e^eps ((1-g)(Q-d) + g p) - ((1-g)(e^eps Q + d) + g p) = 0 at equality in (1).

    P <= e^eps Q, P' <= P + d, Q' >= Q - d are all that is used, and p >= min D.
    """
    import sympy

    e, g, d, p, q = sympy.symbols("e g d p q", positive=True)
    upper = (1 - g) * (e * q + d) + g * p
    lower = (1 - g) * (q - d) + g * p
    allowed = (e - 1) / (e + weight) * g / (1 - g) * p
    slope = sympy.diff(sympy.expand(e * lower - upper), d)
    require(sympy.simplify(slope + (1 - g) * (1 + e)) == 0, f"slope {slope}")
    rest = sympy.simplify((e * lower - upper).subs(d, allowed))
    require(rest == 0, f"e^eps Q* - P* = {rest} at delta = {allowed}")
    return "zero at equality and falling in delta: -(1 - gamma)(1 + e^eps)"


def _response(high: Fraction) -> Law[int]:
    return Law({0: high, 1: 1 - high})


def _attained(stretch: Fraction) -> str:
    """Randomised response moved by delta, mixed with a fair coin: ratio e^eps."""
    cases = 0
    for e, gamma in product(_FACTORS, _GAMMAS):
        delta = required_distance(e_epsilon=e, gamma=gamma, least=_F(1, 2)) * stretch
        if delta > 1 / (e + 1):
            continue
        coin = Law({0: _F(1, 2), 1: _F(1, 2)})
        p = mixed_law(_response(e / (e + 1) + delta), coin, gamma)
        q = mixed_law(_response(1 / (e + 1) - delta), coin, gamma)
        worst = max_loss(p, q)
        require(worst == e, f"e^eps={e}, gamma={gamma}, delta={delta}: ratio {worst}")
        cases += 1
    return f"equality in all {cases} cases"


def _distance(bound: Callable[[Fraction, Fraction], Fraction]) -> str:
    """The mixture lies within gamma + delta of M."""
    laws = [_response(_F(k, 8)) for k in range(9)]
    for m, near, other in product(laws, repeat=3):
        delta = total_variation(m, near).upper
        for gamma in _GAMMAS:
            gap = total_variation(mixed_law(near, other, gamma), m).upper
            require(gap <= bound(gamma, delta), f"gamma={gamma}, delta={delta}: distance {gap}")
    return "729 triples of laws, three gammas"


def _program(gamma: Fraction) -> str:
    """Algorithm 1 run through its choices: (1 - gamma) M' + gamma D."""
    first, second = Law({0: _F(1, 3), 1: _F(2, 3)}), Law({1: _F(1, 4), 2: _F(3, 4)})
    for stated in _GAMMAS:

        def run(source: Source, stated: Fraction = stated) -> int:
            law = second if source.bernoulli(stated) else first
            outcomes = sorted(law)
            return outcomes[0] if source.bernoulli(law[outcomes[0]]) else outcomes[1]

        weight = stated if gamma == 1 else 1 - stated
        exact = Law({
            x: (1 - weight) * first[x] + weight * second[x] for x in (0, 1, 2)
        })  # fmt: skip
        law = exact_law(run, residual=0)
        require(law == exact, f"gamma={stated}: {law} instead of {exact}")
    return "three gammas, every outcome"


def _uniform_is_best(most: Fraction) -> str:
    """No law on r outputs has a least probability above 1/r."""
    for size in (2, 3, 4):
        for parts in product(range(1, 13), repeat=size - 1):
            rest = 12 - sum(parts)
            if rest > 0:
                least = _F(min(*parts, rest), 12)
                require(least <= most / size, f"{(*parts, rest)}/12: least {least}")
    return "all laws in twelfths on 2 to 4 outputs; uniform attains 1/r"


def _from_approximate(weight: Fraction) -> str:
    """Mixing an (eps, delta)-DP mechanism with the uniform law on r outputs: pure from
    delta <= (e^eps - 1) gamma/(1 - gamma)/r on."""
    cases = 0
    for e, gamma, size in product(_FACTORS, _GAMMAS, (2, 3, 5)):
        delta = weight * (e - 1) * gamma / (1 - gamma) / size
        if delta >= 1:
            continue
        p = Law({0: delta, 1: 1 - delta})
        q = Law({1: _F(1)})
        require(hockey_stick(p, q, e_epsilon=e).upper == delta, "not (eps, delta)")
        even = Law.uniform(range(size))
        worst = max_loss(mixed_law(p, even, gamma), mixed_law(q, even, gamma))
        require(worst <= e, f"e^eps={e}, gamma={gamma}, r={size}: ratio {worst}")
        cases += 1
    return f"{cases} cases with an output that only one data set can give; equality"


CLAIMS = (
    BV.proved(
        "Lemma 3.1",
        "If M is (eps, 0)-DP and M' within delta of it on every data set, "
        "(1 - gamma) M' + gamma D is (eps, 0)-DP when "
        "delta <= (e^eps - 1)/(e^eps + 1) gamma/(1 - gamma) min D.",
        "symbolic",
        **varied(_algebra, 1, 0, "delta <= (e^eps - 1)/e^eps gamma/(1 - gamma) min D"),
        note="for gamma = 1 the bound divides by 0: nothing is required then",
    ),
    BV.verified(
        "Lemma 3.1, equation (1)",
        "The bound on delta cannot be improved: randomised response and a fair coin "
        "attain e^eps exactly.",
        "enumeration",
        check=lambda: _attained(_F(1)),
        mutant=Mutant("delta may be 1 % larger", lambda: _attained(_F(101, 100))),
    ),
    BV.verified(
        "Algorithm 1",
        "The algorithm's law is (1 - gamma) M'(D) + gamma D.",
        "exact law",
        check=lambda: _program(_F(1)),
        mutant=Mutant("gamma M'(D) + (1 - gamma) D", lambda: _program(_F(0))),
        note="the text reads 'with probability 1gamma' in step 1; 1 - gamma is meant",
    ),
    BV.verified(
        "Section 3, distance of the mixture",
        "The mixture lies within gamma + delta of M in total variation.",
        "enumeration",
        check=lambda: _distance(lambda gamma, delta: gamma + delta),
        mutant=Mutant("within max(gamma, delta)", lambda: _distance(max)),
    ),
    BV.verified(
        "Section 3, uniform mixing law",
        "The uniform law on the outputs makes the least probability largest.",
        "enumeration",
        check=lambda: _uniform_is_best(_F(1)),
        mutant=Mutant("no law reaches 1/r", lambda: _uniform_is_best(_F(99, 100))),
    ),
    BV.verified(
        "Section 1, from approximate to pure",
        "An (eps, delta)-DP mechanism with delta small against 1/|R| becomes (eps, 0)-DP "
        "by a uniform output of small probability gamma: "
        "delta <= (e^eps - 1) gamma/((1 - gamma)|R|) is needed and enough.",
        "enumeration",
        check=lambda: _from_approximate(_F(1)),
        mutant=Mutant("delta may be 1 % larger", lambda: _from_approximate(_F(101, 100))),
        note="the text gives no constant; derived here",
    ),
    BV.not_checkable(
        "Lemma 3.1, running time",
        "O(log(1/gamma)) + Time(M') + Time(D).",
        "asymptotic running time in the word RAM model",
    ),
)
