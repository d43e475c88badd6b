"""numpy's own answers for a uniform double that is chosen.

A formula for what numpy computes from a double may differ from numpy in the last digit: formulas
change with versions and compilers. So numpy itself is asked, with a bit generator whose next words
are known: random() is k 2^-53 for the word 2^11 k.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from exactdp.errors import NotEnumerable

_SHIFT = 11


class _Forced:
    """numpy's generator, whose next uniform double is chosen and whose following one is 0."""

    def __init__(self) -> None:
        self._bits = np.random.Philox(0)
        self._generator = np.random.Generator(self._bits)
        self._rest: Any = self._bits.state
        self._state: Any = self._bits.state
        ends = (0, 1, (1 << 53) - 1)
        self._works = all(self._number("random", (), k) == k * 2.0**-53 for k in ends)

    def answer(self, name: str, options: tuple[Any, ...], k: int) -> Any:
        """What a method draws from the double k 2^-53; None if it takes no or several doubles."""
        if not self._works:
            raise NotEnumerable("numpy's bits cannot be chosen here, so its laws are unknown")
        return self._number(name, options, k)

    def _number(self, name: str, options: tuple[Any, ...], k: int) -> Any:
        # numpy takes no position below 1, so the first of the four words is spent
        self._state["buffer"][:] = (0, k << _SHIFT, 0, 0)
        self._state["buffer_pos"] = 1
        self._bits.state = self._state
        number = getattr(self._generator, name)(*options)
        after = self._bits.state
        self._bits.state = self._rest  # a program's run leaves every generator but its own alone
        same_words = (after["state"]["counter"] == self._state["state"]["counter"]).all()
        return number if same_words and after["buffer_pos"] == 2 else None


#: Made before any program runs: a run may not make a generator of its own.
FORCED = _Forced()
