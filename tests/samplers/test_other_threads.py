"""Products of big integers leave the interpreter to other threads where that is asked for."""

from __future__ import annotations

import time
from contextlib import nullcontext
from threading import Thread

import gmpy2
import pytest
from gmpy2 import mpz

from exactdp.samplers.binary_polynomials import other_threads_run


@pytest.mark.few(1)
@pytest.mark.parametrize("allowed", [False, True])
def test_another_thread_runs_during_a_product(allowed: bool) -> None:
    factor = mpz(3) ** 20_000_000  # a product takes some tenths of a second
    seen: list[float] = []
    done = False

    def look() -> None:
        while not done:
            seen.append(time.monotonic())
            time.sleep(0.001)

    thread = Thread(target=look)
    thread.start()
    with other_threads_run() if allowed else nullcontext():
        start = time.monotonic()
        factor * (factor + 1)
        end = time.monotonic()
    done = True
    thread.join()
    assert (sum(start + 0.01 < at < end - 0.01 for at in seen) > 1) == allowed
    assert not gmpy2.get_context().allow_release_gil
