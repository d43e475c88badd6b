"""The set of keys that occur, where users have several keys: noisy weights, in rounds."""

from exactdp.mechanisms.key_sets.rounds import MAD2R, SIPS, KeyRounds, WeightedGaussian
from exactdp.mechanisms.key_sets.weights import Pairs

__all__ = ["MAD2R", "SIPS", "KeyRounds", "Pairs", "WeightedGaussian"]
