"""Audits of other implementations: exact laws where code allows, certified statistics elsewhere.

- canaries: the guesses about the canaries of one training run
- promises: what can be promised, in each currency
- outputs: outputs of run(dataset, n), with the events to look for and the bounds they certify
- code: code that is handed its random generator, by its exact law
- glue: what a pipeline gives to its noise, on two neighbouring data sets
- numbers: a stated delta, epsilon, sigma or tau
"""

from exactdp.lazy import face

__getattr__, __dir__, __all__ = face(__name__)
