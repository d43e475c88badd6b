"""RAPPOR over many rounds: what reports from one memo tell together, by enumeration."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from exactdp import InvalidParameter
from exactdp.balls import ball, precision
from exactdp.local import PermanentRappor
from exactdp.samplers import SeededSource, Source, SystemSource, exact_law

F = Fraction
RAPPOR = PermanentRappor(k=2, epsilon="0.7", limit="1.5")


@pytest.mark.parametrize("rounds", [1, 2])
def test_the_exact_loss_of_several_reports_from_one_memo(rounds: int) -> None:
    def program(value: int, source: Source) -> tuple[object, ...]:
        memos = RAPPOR.memos([value], source)
        return tuple(RAPPOR.form.single(RAPPOR.copies(memos, source)[0]) for _ in range(rounds))

    laws = [exact_law(lambda s, v=v: program(v, s), residual=0) for v in range(2)]
    ratio = max(p[y] / q[y] for p, q in product(laws, laws) for y in p)
    assert ratio == RAPPOR.guarantee_of(rounds).e_epsilon


def test_the_loss_grows_to_that_of_the_memo() -> None:
    memos = [exact_law(lambda s, v=v: RAPPOR.memos([v], s).tobytes(), residual=0) for v in range(2)]
    limit = max(p[y] / q[y] for p, q in product(memos, memos) for y in p)
    assert limit == RAPPOR.lasting**2
    losses = [RAPPOR.guarantee_of(t).e_epsilon or F(0) for t in (1, 2, 3, 10, 400)]
    assert losses == sorted(losses)
    assert limit * (1 - F(1, 10**9)) < losses[-1] < limit
    for t, loss in zip((1, 2, 3, 10, 400), losses, strict=True):
        with precision(200):
            assert ball(loss) <= ball(RAPPOR.guarantee_of(t).epsilon).exp()


def test_memos_and_reports_one_by_one() -> None:
    source = SystemSource()
    memo = RAPPOR.remember(1, source)
    assert RAPPOR.repeat(memo, source) in range(4)
    for call in (
        lambda: RAPPOR.remember(1, SeededSource(1)),
        lambda: RAPPOR.repeat(memo, SeededSource(1)),
        lambda: RAPPOR.remember(2, source),
        lambda: RAPPOR.repeat(4, source),
        lambda: PermanentRappor(k=2, epsilon=1, limit=1),
        lambda: PermanentRappor(k=2, epsilon=1, limit="1.00000000000000001"),
    ):
        with pytest.raises(InvalidParameter):
            call()
