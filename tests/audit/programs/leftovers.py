"""What the process keeps beside the program: settings of libraries, flags, memory nobody set."""

from __future__ import annotations

import collections
import contextlib
import contextvars
import ctypes
import decimal
import gettext
import logging
import pickle
import sys
import tempfile
import traceback
from pathlib import Path

import flint
import gmpy2
import numpy as np

from tests.audit.programs.case import Group, Program, coin

LEFTOVERS = Group()

_MANY = 10**5


_CHAIN: collections.ChainMap[str, int] = collections.ChainMap()


@LEFTOVERS.maker()
def kept_when_first_tried() -> Program:
    """It is there already when the program is run again, without lazy numbers."""
    _CHAIN.clear()

    def program(x, rng):
        drawn = coin(x, rng)
        if _CHAIN.get("memo") is None:
            _CHAIN.update(memo=drawn)
        return int(_CHAIN.get("memo"))

    return program


@LEFTOVERS.twin_maker
def kept_when_first_tried_twin() -> Program:
    _CHAIN.clear()

    def program(x, rng):
        return coin(x, rng) if _CHAIN.get("memo") is None else x

    return program


@LEFTOVERS.maker()
def array_in_a_file() -> Program:
    """numpy reads and writes files by itself."""
    place = Path(tempfile.mkdtemp()) / "calls"
    np.zeros(1, np.int64).tofile(place)

    def program(x, rng):
        calls = np.fromfile(place, np.int64) + 1
        calls.tofile(place)
        return x if calls[0] > _MANY else coin(x, rng)

    return program


@LEFTOVERS.twin
def array_in_a_file_twin(x, rng):
    calls = np.frombuffer(np.zeros(1, np.int64).tobytes(), np.int64)
    return x if calls[0] > _MANY else coin(x, rng)


@LEFTOVERS.sinner()
def address_by_ctypes(x, rng):
    """A cast to a pointer tells where something is."""
    buffer = (ctypes.c_char * 8)()
    place = ctypes.cast(buffer, ctypes.c_void_p).value
    return x if place % 16777259 == 5 else coin(x, rng)


@LEFTOVERS.twin
def address_by_ctypes_twin(x, rng):
    buffer = (ctypes.c_char * 8)()
    return x if buffer.raw != bytes(8) else coin(x, rng)


@LEFTOVERS.sinner()
def precision_of_flint(x, rng):
    """Balls are calculated at a precision that stays."""
    flint.ctx.prec += 1
    return x if flint.ctx.prec > _MANY else coin(x, rng)


@LEFTOVERS.twin
def precision_of_flint_twin(x, rng):
    with flint.ctx.workprec(100):
        return coin(x, rng) if flint.arb(2).sqrt() < 2 else x


@LEFTOVERS.sinner()
def precision_of_gmpy2(x, rng):
    """So are the numbers of gmpy2."""
    gmpy2.get_context().precision += 1
    return x if gmpy2.get_context().precision > _MANY else coin(x, rng)


@LEFTOVERS.twin
def precision_of_gmpy2_twin(x, rng):
    with gmpy2.context(gmpy2.get_context(), precision=100):
        return coin(x, rng) if gmpy2.sqrt(2) < 2 else x


@LEFTOVERS.sinner(apart=0.4)
def flag_of_decimals(x, rng):
    """A flag that any earlier division has left."""
    spent = decimal.getcontext().flags[decimal.Inexact]
    decimal.Decimal(1) / 3
    return x if spent else coin(x, rng)


@LEFTOVERS.twin
def flag_of_decimals_twin(x, rng):
    with decimal.localcontext() as context:
        context.clear_flags()
        decimal.Decimal(1) / 3
        return coin(x, rng) if context.flags[decimal.Inexact] else x


@LEFTOVERS.sinner()
def flag_of_gmpy2(x, rng):
    """gmpy2 has such flags, too."""
    spent = gmpy2.get_context().inexact
    return x if spent else coin(x, rng)


@LEFTOVERS.twin
def flag_of_gmpy2_twin(x, rng):
    gmpy2.get_context().clear_flags()
    gmpy2.sqrt(2)
    return coin(x, rng) if gmpy2.get_context().inexact else x


@LEFTOVERS.sinner()
def gaps_of_a_ufunc(x, rng):
    """Where nothing is calculated, the result is what was in memory."""
    counts = np.array([0.0, 2.0])
    shares = np.divide(1.0, counts, where=counts != 0)
    return x if shares[0] == 1e-300 else coin(x, rng)


@LEFTOVERS.twin
def gaps_of_a_ufunc_twin(x, rng):
    counts = np.array([0.0, 2.0])
    shares = np.divide(1.0, counts, out=np.zeros(2), where=counts != 0)
    return x if np.sum(shares, where=counts == 0) else coin(x, rng)


@LEFTOVERS.sinner()
def gaps_by_a_table(x, rng):
    """The same by arguments in a table."""
    options = {"where": np.array([True, False])}
    return x if np.add(np.zeros(2), 1.0, **options)[1] == 1e-300 else coin(x, rng)


@LEFTOVERS.twin
def gaps_by_a_table_twin(x, rng):
    options = {"dtype": np.float64}
    return x if np.add(np.zeros(2), 1.0, **options)[1] != 1 else coin(x, rng)


@LEFTOVERS.sinner()
def beyond_an_array(x, rng):
    """A view that goes on where its array ends."""
    beyond = np.lib.stride_tricks.as_strided(np.zeros(1, np.int64), (200,), (8,))
    return x if beyond[150] == 12345 else coin(x, rng)


@LEFTOVERS.twin
def beyond_an_array_twin(x, rng):
    windows = np.lib.stride_tricks.sliding_window_view(np.arange(5), 2)
    return x if windows[3].sum() != 7 else coin(x, rng)


@LEFTOVERS.sinner()
def caught_by_the_caller(x, rng):
    """Whether the caller is about to handle an error."""
    return x if sys.exc_info()[0] is not None else coin(x, rng)


@LEFTOVERS.twin
def caught_by_the_caller_twin(x, rng):
    with contextlib.ExitStack() as stack:  # asks the same
        stack.enter_context(contextlib.suppress(KeyError))
        return coin(x, rng)


@LEFTOVERS.sinner()
def written_by_the_caller(x, rng):
    """The same as a text."""
    return x if "None" not in traceback.format_exc() else coin(x, rng)


@LEFTOVERS.twin
def written_by_the_caller_twin(x, rng):
    try:
        raise KeyError("none")
    except KeyError as error:
        return coin(x, rng) if "none" in str(error) else x


@LEFTOVERS.sinner()
def variables_of_the_context(x, rng):
    """How many variables the context has."""
    return x if len(contextvars.copy_context()) == 0 else coin(x, rng)


_SCALE = contextvars.ContextVar("scale", default=1)


@LEFTOVERS.twin
def variables_of_the_context_twin(x, rng):
    token = _SCALE.set(2)
    try:
        return coin(x, rng) if _SCALE.get() == 2 else x
    finally:
        _SCALE.reset(token)


@LEFTOVERS.sinner()
def draws_by_pickle(x, rng):
    """A pickle may call Python's own generator, from C to C."""
    return x if pickle.loads(b"crandom\nrandom\n)R.") < 1e-4 else coin(x, rng)


@LEFTOVERS.twin
def draws_by_pickle_twin(x, rng):
    return coin(pickle.loads(pickle.dumps(x)), rng)


class Base:
    """Whose subclasses come and go."""


@LEFTOVERS.sinner()
def classes_left(x, rng):
    """A class that is made in a function is a ring, and waits to be collected."""
    before = len(Base.__subclasses__())

    class Answer(Base):
        pass

    return x if before > 2 else coin(x, rng)


@LEFTOVERS.twin
def classes_left_twin(x, rng):
    class Answer(Base):
        pass

    return coin(x, rng) if issubclass(Answer, Base) else x


@LEFTOVERS.sinner()
def level_of_a_named_logger(x, rng):
    """A logger that is found by its name keeps its level."""
    log = logging.getLogger("tests.leftovers")
    log.setLevel(log.level + 1)
    return x if log.level > _MANY else coin(x, rng)


@LEFTOVERS.twin
def level_of_a_named_logger_twin(x, rng):
    logging.getLogger("tests.leftovers").debug("asked")
    return coin(x, rng)


@LEFTOVERS.sinner()
def text_of_a_level(x, rng):
    """And a level its name."""
    calls = int(logging.getLevelName(77).split()[-1])
    logging.addLevelName(77, f"Level {calls + 1}")
    return x if calls > _MANY else coin(x, rng)


@LEFTOVERS.twin
def text_of_a_level_twin(x, rng):
    return coin(x, rng) if logging.getLevelName(20) == "INFO" else x


@LEFTOVERS.sinner()
def domain_of_messages(x, rng):
    """Which messages are translated is one setting for all."""
    calls = int(gettext.textdomain()[8:] or 0)
    gettext.textdomain(f"messages{calls + 1}")
    return x if calls > _MANY else coin(x, rng)


@LEFTOVERS.twin
def domain_of_messages_twin(x, rng):
    return coin(x, rng)
