"""What every mechanism answers: the types of exactdp.mechanisms and exactdp.local."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

from exactdp.accounting.guarantee import Guarantee
from exactdp.law import Law
from exactdp.samplers import Source

Data = TypeVar("Data", contravariant=True)


class Mechanism(Protocol[Data]):
    """A mechanism with values for its parameters.

    A class method makes it for a target: `for_target`, or `of` where one number determines the
    noise. Its parameters are the mechanism's own, so that this type does not state them.
    """

    @property
    def guarantee(self) -> Guarantee:
        """The privacy guarantee of every release, for any data."""

    def release(self, data: Data, /, source: Source) -> Any:
        """Publish data under the guarantee.

        source: randomness fit for a release, such as SystemSource; every other one is refused.
        """


class Simulated(Mechanism[Data], Protocol[Data]):
    """A mechanism whose outcomes can be drawn and listed without a release.

    A mechanism with public hash functions has `draw` and `law` for given ones, and another type.
    """

    def draw(self, data: Data, /, source: Source) -> Any:
        """An outcome with randomness from any source, for simulations and proofs."""

    def law(self, data: Data, /) -> Law[Any]:
        """The law of the outcomes, exact but for its residual; for small instances."""
