"""A JSON list of mechanisms as one loss: the same as composed by hand, or a clear error."""

import json

import pytest

from exactdp.accounting import pld
from exactdp.audit.numbers.sequences import loss_of
from exactdp.errors import InvalidParameter

GAUSSIAN = {"mechanism": "gaussian", "count": "3", "sigma": "2"}


def test_the_same_as_by_hand() -> None:
    laplace = {"mechanism": "laplace", "count": "2", "scale": "5", "rate": "0.5"}
    events = json.dumps([GAUSSIAN, laplace])
    delta = loss_of(events=events, neighbours="add-remove").delta("1")
    parts = pld.laplace(scale=5).sampled("0.5").composed(2)
    expected = pld.gaussian(sigma=2).composed(3).then(parts).delta("1")
    assert (delta.lower, delta.upper) == (expected.lower, expected.upper)


def test_replacement_moves_twice_as_far() -> None:
    delta = loss_of(events=json.dumps([GAUSSIAN]), neighbours="replace-one").delta("1")
    assert delta.lower <= pld.gaussian(sigma=1).composed(3).delta("1").upper
    assert pld.gaussian(sigma=1).composed(3).delta("1").lower <= delta.upper


def test_answers_of_two_kinds() -> None:
    """With noise 1/2 the own answer has 3/4: e^epsilon is 3, and one response leaks ln 3."""
    response = {"mechanism": "randomized-response", "count": "1", "noise": "0.5", "answers": "2"}
    loss = loss_of(events=json.dumps([response]), neighbours="replace-one")
    assert "1/2" in loss.delta("0")
    assert loss.delta("1.0986122").lower > 0
    assert loss.delta("1.0986123").upper < 1e-12


@pytest.mark.parametrize(
    ("events", "message"),
    [
        ("", "a JSON list"),
        ("{}", "a JSON list"),
        ("[]", "a JSON list"),
        ("[3]", "an object"),
        ('[{"mechanism": ["gaussian"]}]', "an object"),
        ('[{"mechanism": "magic", "count": "1"}]', "an object"),
        ('[{"mechanism": "gaussian", "count": "1"}]', "with sigma"),
        ('[{"mechanism": "gaussian", "count": "0", "sigma": "1"}]', "count"),
        ('[{"mechanism": "gaussian", "count": "1", "sigma": "-1"}]', "sigma"),
    ],
)
def test_what_is_no_sequence(events: str, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        loss_of(events=events, neighbours="add-remove")


def test_neighbours_must_be_known() -> None:
    with pytest.raises(InvalidParameter, match="neighbours"):
        loss_of(events=json.dumps([GAUSSIAN]), neighbours="")
