"""No program makes the white box say more than it knows, and every honest twin is proved."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.audit.programs.addresses import ADDRESSES
from tests.audit.programs.aliases import ALIASES
from tests.audit.programs.answers import ANSWERS
from tests.audit.programs.arithmetic import ARITHMETIC, MIXED
from tests.audit.programs.borrowed import BORROWED, BORROWED_FROM_NUMPY
from tests.audit.programs.case import EPSILON, Pair, assert_not_proved, assert_proved, distance
from tests.audit.programs.cupboards import CUPBOARDS
from tests.audit.programs.cycles import CYCLES
from tests.audit.programs.detours import DETOURS
from tests.audit.programs.floats import FLOATS
from tests.audit.programs.generators import GENERATORS, NUMPY_GENERATORS
from tests.audit.programs.hidden_state import HIDDEN_STATE
from tests.audit.programs.hideouts import HIDEOUTS
from tests.audit.programs.keepsakes import KEEPSAKES
from tests.audit.programs.kinds import KINDS
from tests.audit.programs.kinship import KINSHIP, NUMPY_KINSHIP
from tests.audit.programs.leftovers import LEFTOVERS
from tests.audit.programs.lookups import LOOKUPS
from tests.audit.programs.numpy_calls import NUMPY_CALLS
from tests.audit.programs.outputs import OUTPUTS
from tests.audit.programs.processes import PROCESSES
from tests.audit.programs.recesses import RECESSES
from tests.audit.programs.registries import REGISTRIES
from tests.audit.programs.reveals import REVEALS
from tests.audit.programs.samplers import SAMPLERS
from tests.audit.programs.shared import SHARED
from tests.audit.programs.signals import SIGNALS
from tests.audit.programs.sources import SOURCES
from tests.audit.programs.stand_ins import NUMPY_STAND_INS, STAND_INS
from tests.audit.programs.state import STATE
from tests.audit.programs.strict import STRICT

GROUPS = (
    ADDRESSES,
    ALIASES,
    SIGNALS,
    STATE,
    HIDDEN_STATE,
    SOURCES,
    ARITHMETIC,
    MIXED,
    KINDS,
    FLOATS,
    OUTPUTS,
    ANSWERS,
    BORROWED,
    BORROWED_FROM_NUMPY,
    CUPBOARDS,
    CYCLES,
    DETOURS,
    HIDEOUTS,
    LEFTOVERS,
    LOOKUPS,
    GENERATORS,
    NUMPY_GENERATORS,
    NUMPY_CALLS,
    PROCESSES,
    STAND_INS,
    STRICT,
    NUMPY_STAND_INS,
    KINSHIP,
    NUMPY_KINSHIP,
    KEEPSAKES,
    RECESSES,
    REGISTRIES,
    SHARED,
    REVEALS,
    SAMPLERS,
)
PAIRS = [pair for group in GROUPS for pair in group.pairs]

#: Of hundreds of pairs, one like another, every second one is slow.
SECOND = {pair.name for group in GROUPS for pair in group.pairs[1::2]}

_MAKE = {"random": random.Random, "numpy": np.random.default_rng}
_RUNS = 200

# numpy warns where it wraps; a thread or finalizer that dies of our signal is reported by Python
pytestmark = pytest.mark.filterwarnings(
    "ignore::RuntimeWarning",
    "ignore:you are shuffling:UserWarning",
    "ignore::pytest.PytestUnhandledThreadExceptionWarning",
    "ignore::pytest.PytestUnraisableExceptionWarning",
)


#: Seconds each, together with their twins.
LONG = {
    *("scale_between_calls", "context_between_calls", "list_of_draws", "drawn_array"),
    *("toggled_beside_much", "flat_iterator", "list_with_fields", "width_of_a_format"),
    *("float_with_an_exponent", "power_with_a_modulus"),
}


def by_name(pair: Pair) -> str:
    return pair.name


def marked(pair: Pair) -> object:
    return pytest.param(pair, marks=[pytest.mark.slow] if pair.name in LONG | SECOND else [])


every_pair = pytest.mark.parametrize("pair", [*map(marked, PAIRS)], ids=by_name)


@every_pair
def test_never_proved(pair: Pair) -> None:
    assert_not_proved(pair)


@every_pair
def test_the_twin_is_proved(pair: Pair) -> None:
    assert_proved(pair)


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if pair.apart], ids=by_name)
def test_production_does_leak(pair: Pair) -> None:
    """The sin is real: run with an ordinary generator, the outputs tell 0 from 1."""
    assert distance(pair.make(), _MAKE[pair.interface], _RUNS) >= pair.apart


def test_the_twins_spend_what_they_may() -> None:
    assert 1.1 < np.exp(float(EPSILON)) < 1.106
    assert len(PAIRS) >= 80
    assert len({pair.name for pair in PAIRS}) == len(PAIRS)
    assert {pair.name for pair in PAIRS} > LONG
