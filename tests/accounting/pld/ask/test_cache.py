"""The cache keeps what was used last, within its limit."""

import pytest

from exactdp.accounting import pld
from exactdp.accounting.pld.ask.search import BoundedCache, cached_bytes


def test_the_result_used_longest_ago_goes_first() -> None:
    computed: list[str] = []

    def ask(key: str) -> str:
        return cache.get(key, lambda: computed.append(key) or key * 4)  # type: ignore[func-returns-value]

    cache = BoundedCache[str](8, len)
    for key in ("a", "b", "a", "c", "a", "b"):
        assert ask(key) == key * 4
    assert computed == ["a", "b", "c", "b"]
    assert cache.nbytes == 8


def test_a_result_above_the_limit_is_not_kept() -> None:
    cache = BoundedCache[str](8, len)
    assert cache.get("long", lambda: "x" * 9) == "x" * 9
    assert cache.nbytes == 0


@pytest.mark.slow
def test_measures_and_compositions_stay_within_their_limits() -> None:
    for steps in range(200, 230):
        pld.gaussian(sigma=1).sampled("0.01").composed(steps).epsilon("1e-5", width="1e-2")
    assert 0 < cached_bytes() <= 2 << 26
