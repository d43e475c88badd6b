"""Questions about a composition: delta, epsilon, mu, type II error, Renyi divergences."""

from exactdp.accounting.pld.ask.adaptive import adaptive_orders
from exactdp.accounting.pld.ask.closed import ends
from exactdp.accounting.pld.ask.delta import Delta, DeltaAgainst, reversed_delta
from exactdp.accounting.pld.ask.epsilon import Epsilon, about_epsilon
from exactdp.accounting.pld.ask.mu import GaussianMu, last_width
from exactdp.accounting.pld.ask.power import Power
from exactdp.accounting.pld.ask.question import Question
from exactdp.accounting.pld.ask.renyi import best_delta, divergence

__all__ = [
    "Delta",
    "DeltaAgainst",
    "Epsilon",
    "GaussianMu",
    "Power",
    "Question",
    "about_epsilon",
    "adaptive_orders",
    "best_delta",
    "divergence",
    "ends",
    "last_width",
    "reversed_delta",
]
