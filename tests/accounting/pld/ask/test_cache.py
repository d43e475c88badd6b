"""The cache keeps what was used last, within its limit."""

import gc
import tracemalloc
from fractions import Fraction

import pytest

from exactdp.accounting import pld
from exactdp.accounting.pld.ask import search
from exactdp.accounting.pld.ask.search import cached_bytes
from exactdp.caches import BoundedCache, clear_caches


def test_the_result_used_longest_ago_goes_first() -> None:
    cache = BoundedCache[str](8, len)
    missing = []
    for key in ("a", "b", "a", "c", "a", "b"):
        if cache.get(key) is None:
            missing.append(key)
            cache.keep(key, key * 4)
        assert cache.get(key) == key * 4
    assert missing == ["a", "b", "c", "b"]
    assert cache.nbytes == 8


def test_a_result_above_the_limit_is_not_kept() -> None:
    cache = BoundedCache[str](8, len)
    assert cache.keep("long", "x" * 9) == "x" * 9
    assert cache.get("long") is None
    assert cache.nbytes == 0


def test_cleared_caches_keep_nothing_and_change_no_answer() -> None:
    loss = pld.sgd(noise_multiplier=1, rate="0.01", steps=20)
    before = loss.epsilon("1e-5")
    kept = cached_bytes()
    clear_caches()
    assert kept > cached_bytes() == 0
    assert loss.epsilon("1e-5") == before


@pytest.mark.slow
def test_measures_and_compositions_stay_within_their_limits() -> None:
    for steps in range(200, 230):
        pld.gaussian(sigma=1).sampled("0.01").composed(steps).epsilon("1e-5", width="1e-2")
    assert 0 < cached_bytes() <= 2 << 26


def test_what_is_kept_is_counted_in_full() -> None:
    """numpy reports its arrays to tracemalloc; two objects of the caches share the weights."""
    clear_caches()
    tracemalloc.start()
    try:
        for sigma in range(20, 40):
            loss = pld.gaussian(sigma=Fraction(sigma, 20)).sampled("0.01").composed(100)
            loss.epsilon("1e-5")
        counted, before = cached_bytes(), tracemalloc.get_traced_memory()[0]
        for cache in (search._MEASURES, search._COMPOSITIONS):
            cache.cache_clear()
        gc.collect()
        freed = before - tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert counted > 0.8 * freed > 0
