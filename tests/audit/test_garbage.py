"""Collections of garbage in the middle of a watched run, and who is told of them."""

from __future__ import annotations

import gc
import time

from exactdp.audit import foreign_law


def test_who_is_told_of_collections_is_not_taken_for_the_program() -> None:
    times: list[float] = []

    def told(phase: str, info: dict[str, int]) -> None:
        times.append(time.perf_counter())

    gc.callbacks.append(told)
    try:
        assert len(foreign_law(lambda rng: (rng.randrange(3), [1]))) == 3
        assert told in gc.callbacks
    finally:
        gc.callbacks.remove(told)


def test_the_collector_is_left_as_it_was() -> None:
    before, frozen = (gc.isenabled(), gc.get_threshold(), gc.callbacks[:]), gc.get_freeze_count()
    foreign_law(lambda rng: rng.randrange(3))
    assert (gc.isenabled(), gc.get_threshold(), gc.callbacks[:]) == before
    assert gc.get_freeze_count() <= frozen
