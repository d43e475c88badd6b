"""An accountant in the shape of Opacus' IAccountant, with certified answers.

It can be handed to Opacus' engine in place of its own; Opacus itself is not needed here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from exactdp.accounting import pld
from exactdp.enclosure import Enclosure
from exactdp.errors import Described, InvalidParameter
from exactdp.parameters import Real, positive

__all__ = ["CertifiedAccountant"]


class CertifiedAccountant:
    """Counts training steps and says what they leaked.

    history: (noise multiplier, sample rate, steps), as in Opacus.

    >>> accountant = CertifiedAccountant()
    >>> for _ in range(16):
    ...     accountant.step(noise_multiplier=2.0, sample_rate=0.1)
    >>> accountant.history
    [(2.0, 0.1, 16)]
    >>> round(accountant.get_epsilon(delta=1e-5), 2)
    0.97
    """

    def __init__(self) -> None:
        self.history: list[tuple[float, float, int]] = []

    def step(self, *, noise_multiplier: float, sample_rate: float) -> None:
        """Count one step; both are read as the decimals they print."""
        positive("noise_multiplier", noise_multiplier)
        rate = positive("sample_rate", sample_rate)
        if rate > 1:
            raise InvalidParameter("sample_rate", sample_rate, "> 0 and <= 1")
        if self.history and self.history[-1][:2] == (noise_multiplier, sample_rate):
            count = self.history.pop()[2] + 1
        else:
            count = 1
        self.history.append((noise_multiplier, sample_rate, count))

    def loss(self) -> pld.Pld:
        """The privacy loss of all steps so far; there must be one."""
        if not self.history:
            raise InvalidParameter("history", Described("no steps"), "at least one step")
        losses = [pld.sgd(noise_multiplier=s, rate=q, steps=n) for s, q, n in self.history]
        total = losses[0]
        for loss in losses[1:]:
            total = total.then(loss)
        return total

    def enclosure(self, delta: Real, *, width: Real = "1e-3") -> Enclosure:
        """Both certified ends of epsilon."""
        return self.loss().epsilon(delta, width=width)

    def get_epsilon(self, delta: float, **_: Any) -> float:
        """An epsilon that is certainly kept: the upper end; 0 before the first step."""
        return self.enclosure(delta).float_upper() if self.history else 0.0

    def __len__(self) -> int:
        return sum(count for _, _, count in self.history)

    @classmethod
    def mechanism(cls) -> str:
        """The name under which it is registered."""
        return "certified"

    def get_optimizer_hook_fn(self, sample_rate: float) -> Callable[[Any], None]:
        """A function for the optimizer to call after each step."""

        def hook(optimizer: Any) -> None:
            accumulated = getattr(optimizer, "accumulated_iterations", 1)
            self.step(
                noise_multiplier=optimizer.noise_multiplier, sample_rate=sample_rate * accumulated
            )

        return hook

    def state_dict(self, destination: dict[str, Any] | None = None) -> dict[str, Any]:
        """What a checkpoint keeps."""
        state = {} if destination is None else destination
        state["history"] = list(self.history)
        state["mechanism"] = self.mechanism()
        return state

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Take over the history of a checkpoint of this accountant."""
        if state_dict.get("mechanism") != self.mechanism() or "history" not in state_dict:
            raise InvalidParameter(
                "state_dict", Described("another"), "one of a certified accountant"
            )
        self.history = [(s, q, n) for s, q, n in state_dict["history"]]
