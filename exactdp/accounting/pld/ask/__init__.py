"""Questions about a composition: delta, epsilon, mu, type II error, Renyi divergences."""

from exactdp.accounting.pld.ask.adaptive import adaptive_orders
from exactdp.accounting.pld.ask.closed import ends
from exactdp.accounting.pld.ask.delta import against, ceiling, delta, reversed_delta
from exactdp.accounting.pld.ask.epsilon import epsilon
from exactdp.accounting.pld.ask.extremes import gaussian_mu, type_two_error
from exactdp.accounting.pld.ask.renyi import best_delta, divergence
from exactdp.accounting.pld.ask.search import epsilon_guess, guess

__all__ = [
    "adaptive_orders",
    "against",
    "best_delta",
    "ceiling",
    "delta",
    "divergence",
    "ends",
    "epsilon",
    "epsilon_guess",
    "gaussian_mu",
    "guess",
    "reversed_delta",
    "type_two_error",
]
