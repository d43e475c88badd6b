"""SVA, Lemmas 22 and 23: information through a private channel, and through a degraded one."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from exactdp.accounting.divergence import hockey_stick, max_loss
from exactdp.balls import ball, precision
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.sva._channels import (
    Channel,
    degrade,
    leak,
    mutual_information,
    randomized_response,
)
from exactdp.proofs_check.claims.sva._tails import at_most
from exactdp.proofs_check.entries import SVA, varied

__all__ = ["CLAIMS"]

_SIZES = (2, 3, 12)
_FACTORS = (Fraction(101, 100), Fraction(3, 2), Fraction(27, 10))
_LEAKS = (Fraction(0), Fraction(1, 10), Fraction(1, 2), Fraction(9, 10))
_ETAS = (Fraction(1, 100), Fraction(1, 2))
_PURE = tuple(product(_SIZES, _FACTORS, _ETAS))


def _delta(channel: Channel, factor: Fraction) -> Fraction:
    """The least delta over all pairs of inputs; the channels are symmetric in their inputs."""
    return hockey_stick(channel[0], channel[1], e_epsilon=factor).upper


def _information(share: Fraction) -> str:
    """I <= 0.127 eps^2 + share * (delta/eps) log|S| in nats, eps < 1."""
    tried = 0
    with precision(96):
        for size, factor, part in product(_SIZES, _FACTORS, _LEAKS):
            epsilon = ball(factor).log()
            delta = part * (factor - 1) / factor  # below epsilon
            channel = leak(randomized_response(size, factor), delta)
            bound = ball(Fraction(127, 1000)) * epsilon**2
            bound += ball(share * delta) / epsilon * ball(size).log()
            case = f"|S|={size}, e^eps={factor}, delta={delta}: information, bound"
            at_most(mutual_information(channel), bound, case)
            tried += 1
    return f"{tried} channels: randomized response that leaks its input with probability delta"


def _pure(share: Fraction) -> str:
    """I <= share * epsilon^2 for delta = 0; two inputs come close to epsilon^2/8."""
    with precision(96):
        near = mutual_information(randomized_response(2, _FACTORS[0]))
        low = ball(Fraction(99, 100) * Fraction(101, 800)) * ball(_FACTORS[0]).log() ** 2
        at_most(low, near, "two inputs: 0.99 of the bound, information")
        for size, factor in product(_SIZES, _FACTORS):
            found = mutual_information(randomized_response(size, factor))
            at_most(found, ball(share) * ball(factor).log() ** 2, f"|S|={size}, e^eps={factor}")
    return f"{len(_SIZES) * len(_FACTORS)} channels"


def _reached(size: int, factor: Fraction, eta: Fraction) -> Fraction:
    """e^eps' - 1 of degraded randomized response over eta (e^eps - 1)."""
    weaker = degrade(randomized_response(size, factor), eta)
    return (Fraction(max_loss(weaker[0], weaker[1])) - 1) / (eta * (factor - 1))


def _degraded(scale: Fraction) -> str:
    """A degraded channel is private at e^eps' = 1 + scale eta (e^eps - 1), delta' = eta delta."""
    tried, nearest = 0, max(_reached(*case) for case in _PURE)
    require(nearest >= Fraction(99, 100), f"e^eps' - 1 is {float(nearest):.4g} of that at most")
    for size, factor, eta in product(_SIZES, (Fraction(1), *_FACTORS), _ETAS):
        for delta in (Fraction(0), Fraction(1, 20)):
            channel = leak(randomized_response(size, factor), delta)
            weaker = degrade(channel, eta)
            found = _delta(weaker, 1 + scale * eta * (factor - 1))
            case = f"|S|={size}, e^eps={factor}, eta={eta}: delta', eta delta"
            at_most(found, eta * delta, case)
            tried += 1
    return f"{tried} channels; log(1 + eta (e^eps - 1)) <= eta (e^eps - 1) = O(eta eps)"


CLAIMS = (
    SVA.verified(
        "Lemma 22",
        "For uniform V in S and an (epsilon, delta)-private channel, delta < epsilon = "
        "O(1): I(V; Q(V)) = O(epsilon^2 + (delta/epsilon) log|S| + (delta/epsilon) "
        "log(epsilon/delta)); on the tested channels at most 0.127 epsilon^2 + (delta/epsilon) "
        "log|S|: the third term is not needed there.",
        "certified numerics",
        **varied(_information, Fraction(1), Fraction(9, 10), "0.9 (delta/epsilon) log|S|"),
    ),
    SVA.verified(
        "Lemma 22, pure",
        "With delta = 0 randomized response carries at most 1.01 epsilon^2/8 nats per report for "
        "the sizes and epsilons tried; for two inputs and e^epsilon = 1.01 more than 0.99 of that.",
        "certified numerics",
        **varied(_pure, Fraction(101, 800), Fraction(99, 800), "at most 0.99 epsilon^2/8"),
        ours=True,
    ),
    SVA.verified(
        "Lemma 23",
        "Feeding a private channel its input only with probability eta, else a uniform "
        "one, gives (O(eta epsilon), O(eta delta)) for epsilon = O(1): e^eps' = 1 + eta (e^eps - "
        "1) and delta' = eta delta; with delta = 0, e^eps' - 1 comes up to 0.99 of that.",
        "enumeration",
        **varied(_degraded, Fraction(1), Fraction(49, 50), "e^eps' - 1 two percent smaller"),
    ),
)
