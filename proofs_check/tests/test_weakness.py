"""Every check of a statement about privacy notices a mechanism that is a little weaker."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from exactdp_proofs.comparisons import at_most
from exactdp_proofs.registry import ledger
from exactdp_proofs.statements import Part, loose
from exactdp_proofs.weakness import about_privacy, blind
from parts import part

from exactdp.accounting.divergence import max_loss
from exactdp.law import Law

ABOUT_PRIVACY = [part for part in ledger() if about_privacy(part)]


def marked(part: Part) -> object:
    return pytest.param(part, id=part.id, marks=[pytest.mark.slow] if part.slow else [])


@pytest.mark.parametrize("part", [marked(part) for part in ABOUT_PRIVACY])
def test_a_weaker_mechanism_is_noticed(part: Part) -> None:
    assert list(blind(part)) == []


def test_reasons_stand_only_where_a_statement_is_about_privacy() -> None:
    for known in ledger():
        if not about_privacy(known):
            assert not known.no_mechanism, known.id
            assert not known.noticed, known.id


def exact(bound: int = 0, loss: Fraction = Fraction(1)) -> None:
    """Randomised response is epsilon-LDP."""
    at_most(loss, Fraction(1001, 1000) - bound)


def hidden(bound: int = 0, loss: Fraction = Fraction(1)) -> None:
    """The mechanism is (epsilon, 1/4)-DP."""
    at_most(loss, Fraction(5, 4) - bound)


def lowered(bound: int = 0, threshold: Fraction = Fraction(1)) -> None:
    """A threshold keeps delta, so that counts are private."""
    at_most(Fraction(9, 10), threshold - bound)


def deaf(bound: int = 0) -> None:
    """The mechanism is epsilon-DP."""
    at_most(bound, 0)


def measuring(bound: int = 0) -> None:
    """Two laws differ by a factor of at most 3."""
    p, q = Law({0: Fraction(3, 4), 1: Fraction(1, 4)}), Law({0: Fraction(1, 4), 1: Fraction(3, 4)})
    at_most(Fraction(max_loss(p, q)), 3 - bound)


def raising(bound: int = 0, loss: Fraction = Fraction(1)) -> None:
    """A mechanism is private."""
    at_most(bound, 0)
    if loss > 1:
        raise ZeroDivisionError


@pytest.mark.parametrize(
    ("check", "more", "doubt"),
    [
        (exact, {}, ""),
        (hidden, {}, "passes with a weaker mechanism, loss = 103/100"),
        (hidden, {"loose": "1/4 hides it", "noticed": {"loss": Fraction(5, 4)}}, "loss = 5/4"),
        (hidden, {"loose": "1/4 hides it", "noticed": {"loss": Fraction(13, 10)}}, ""),
        (exact, {"loose": "none", "noticed": {"loss": Fraction(5, 4)}}, "is noticed: none"),
        (lowered, {}, "passes with a weaker mechanism, threshold = 97/100"),
        (lowered, {"loose": "so", "noticed": {"threshold": Fraction(4, 5)}}, ""),
        (deaf, {}, "speaks of privacy, and its check takes none of the arguments"),
        (deaf, {"no_mechanism": "an identity"}, ""),
        (measuring, {}, "speaks of privacy, and its check takes none of the arguments"),
        (exact, {"no_mechanism": "an identity"}, "nothing to explain: an identity"),
    ],
)
def test_doubts(check: Callable[..., object], more: dict[str, Any], doubt: str) -> None:
    doubt_text = "; ".join(blind(part(check, **more)))
    assert doubt in doubt_text
    assert bool(doubt) == bool(doubt_text)


def test_an_error_is_not_taken_for_a_failing_comparison() -> None:
    with pytest.raises(ZeroDivisionError):
        list(blind(part(raising)))


def test_the_decorator_gives_reason_and_arguments() -> None:
    check = loose("1/4 hides it", loss=Fraction(13, 10))(hidden)
    claim = part(check, **vars(check).pop("arguments"))
    assert claim.loose == "1/4 hides it"
    assert list(blind(claim)) == []
