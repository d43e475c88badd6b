"""Programs with randomness of their own, which shows once in a thousand runs."""

from __future__ import annotations

import datetime
import os
import random
import secrets
import subprocess
import sys
import threading
import time
import uuid
from random import random as uniform
from random import randrange

import numpy as np

from tests.audit.programs.case import Group, Program, coin

SOURCES = Group()

#: How rarely the other source decides: too rarely for a few repetitions to notice.
RARE = 1000


@SOURCES.sinner()
def module_function(x, rng):
    """random.randrange beside the generator that was handed over."""
    return x if random.randrange(RARE) == 0 else coin(x, rng)


@SOURCES.twin
def module_function_twin(x, rng):
    return coin(x, rng) if rng.randrange(RARE) == 0 else coin(x, rng)


@SOURCES.sinner()
def imported_by_name(x, rng):
    """from random import randrange, before anyone could replace it."""
    return x if randrange(RARE) == 0 else coin(x, rng)


@SOURCES.twin
def imported_by_name_twin(x, rng):
    randrange = rng.randrange
    return coin(x, rng) if randrange(RARE) == 0 else coin(x, rng)


@SOURCES.sinner()
def builtin_imported_by_name(x, rng):
    """random.random is a method written in C."""
    return x if uniform() < 1 / RARE else coin(x, rng)


@SOURCES.twin
def builtin_imported_by_name_twin(x, rng):
    return coin(x, rng) if rng.random() < 1 / RARE else coin(x, rng)


@SOURCES.maker()
def captured_random() -> Program:
    """A random.Random in a closure."""
    own = random.Random(3)
    return lambda x, rng: x if own.randrange(RARE) == 0 else coin(x, rng)


@SOURCES.twin_maker
def captured_random_twin() -> Program:
    own = (3, 4)
    return lambda x, rng: coin(x, rng) if rng.randrange(RARE) == own[0] else coin(x, rng)


@SOURCES.sinner()
def new_random(x, rng):
    """A new Random seeded by the operating system."""
    return x if random.Random().randrange(RARE) == 0 else coin(x, rng)


@SOURCES.twin
def new_random_twin(x, rng):
    return coin(x, rng)


@SOURCES.sinner()
def system_random(x, rng):
    """SystemRandom, the careful choice."""
    return x if random.SystemRandom().randrange(RARE) == 0 else coin(x, rng)


@SOURCES.twin
def system_random_twin(x, rng):
    return coin(x, rng) if rng.randint(1, RARE) == 1 else coin(x, rng)


@SOURCES.sinner()
def numpy_global(x, rng):
    """numpy.random.randint draws from a global state."""
    return x if np.random.randint(RARE) == 0 else coin(x, rng)


@SOURCES.twin
def numpy_global_twin(x, rng):
    return coin(x, rng) * int(np.ones(1)[0])


@SOURCES.sinner()
def numpy_new(x, rng):
    """numpy.random.default_rng()."""
    return x if np.random.default_rng().integers(RARE) == 0 else coin(x, rng)


@SOURCES.twin
def numpy_new_twin(x, rng):
    return int(np.clip(coin(x, rng), 0, 1))


@SOURCES.maker()
def numpy_captured() -> Program:
    """A numpy Generator made before the audit."""
    own = np.random.default_rng(3)
    return lambda x, rng: x if own.integers(RARE) == 0 else coin(x, rng)


@SOURCES.twin_maker
def numpy_captured_twin() -> Program:
    own = np.arange(3)
    return lambda x, rng: coin(x, rng) * int(own[1])


@SOURCES.maker()
def bit_generator_captured() -> Program:
    """Only its raw words are drawn."""
    own = np.random.PCG64(3)
    return lambda x, rng: x if int(own.random_raw()) % RARE == 0 else coin(x, rng)


@SOURCES.twin_maker
def bit_generator_captured_twin() -> Program:
    own = 2**64 - 59
    return lambda x, rng: x if own % RARE == 0 else coin(x, rng)


@SOURCES.sinner()
def secrets_module(x, rng):
    """secrets.randbelow, as reviewers ask for."""
    return x if secrets.randbelow(RARE) == 0 else coin(x, rng)


@SOURCES.twin
def secrets_module_twin(x, rng):
    return coin(x, rng) if secrets.compare_digest("a", "a") else x


@SOURCES.sinner()
def operating_system(x, rng):
    """os.urandom itself."""
    return x if int.from_bytes(os.urandom(8), "big") % RARE == 0 else coin(x, rng)


@SOURCES.twin
def operating_system_twin(x, rng):
    return x if int.from_bytes(b"random", "big") % RARE == 0 else coin(x, rng)


@SOURCES.sinner()
def device(x, rng):
    """/dev/urandom opened as a file."""
    with open("/dev/urandom", "rb") as file:
        word = int.from_bytes(file.read(8), "big")
    return x if word % RARE == 0 else coin(x, rng)


@SOURCES.twin
def device_twin(x, rng):
    word = int.from_bytes(b"8 bytes.", "big")
    return x if word % RARE == 0 else coin(x, rng)


@SOURCES.sinner()
def random_uuid(x, rng):
    """uuid4 hides os.urandom."""
    return x if uuid.uuid4().int % RARE == 0 else coin(x, rng)


@SOURCES.twin
def random_uuid_twin(x, rng):
    return x if uuid.UUID(int=1).int % RARE == 0 else coin(x, rng)


@SOURCES.sinner()
def clock(x, rng):
    """The low digits of a clock are a generator of sorts."""
    return x if time.time_ns() // 1000 % RARE == 0 else coin(x, rng)


@SOURCES.twin
def clock_twin(x, rng):
    return x if 1_700_000_000_000_000_001 % RARE == 0 else coin(x, rng)


@SOURCES.sinner()
def monotonic_clock(x, rng):
    """So is a stopwatch."""
    return x if time.perf_counter_ns() // 1000 % RARE == 0 else coin(x, rng)


@SOURCES.twin
def monotonic_clock_twin(x, rng):
    return x if time.struct_time(range(9)).tm_hour == 0 else coin(x, rng)


@SOURCES.sinner()
def today(x, rng):
    """datetime.now asks the clock from C."""
    return x if datetime.datetime.now().microsecond % RARE == 0 else coin(x, rng)


@SOURCES.twin
def today_twin(x, rng):
    return x if datetime.datetime(2020, 1, 1).microsecond else coin(x, rng)


@SOURCES.sinner()
def address(x, rng):
    """id() of a new object changes from process to process."""
    return x if id(object()) // 16 % RARE == 0 else coin(x, rng)


@SOURCES.twin
def address_twin(x, rng):
    return x if len(str(object.__name__)) % RARE == 0 else coin(x, rng)


@SOURCES.sinner()
def hash_of_text(x, rng):
    """hash of str is salted once per process: reproducible here, random between restarts."""
    return x if hash(f"user {3}") % RARE == 0 else coin(x, rng)


@SOURCES.twin
def hash_of_text_twin(x, rng):
    return x if hash(12345) % RARE == 0 else coin(x, rng)


@SOURCES.sinner()
def set_order(x, rng):
    """The order of a set of strings follows their salted hashes."""
    order = list({"ant", "bee", "cat", "dog", "elk", "fox", "gnu"})
    return x if order == sorted(order) else coin(x, rng)


@SOURCES.twin
def set_order_twin(x, rng):
    order = sorted({"ant", "bee", "cat", "dog", "elk", "fox", "gnu"})
    return x if order != sorted(order) else coin(x, rng)


@SOURCES.sinner()
def other_process(x, rng):
    """A child process with a generator of its own."""
    word = subprocess.run(
        [sys.executable, "-IS", "-c", "import os; print(os.urandom(8)[0])"],
        capture_output=True,
        check=True,
    ).stdout
    return x if int(word) == 7 else coin(x, rng)


@SOURCES.twin
def other_process_twin(x, rng):
    return x if int(b"77") == 7 else coin(x, rng)


@SOURCES.sinner()
def race(x, rng):
    """Which of two threads is first."""
    order: list[int] = []
    workers = [threading.Thread(target=order.append, args=(i,)) for i in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return x if order == [1, 0] else coin(x, rng)


@SOURCES.twin
def race_twin(x, rng):
    order: list[int] = []
    for i in range(2):
        order.append(i)
    return x if order == [1, 0] else coin(x, rng)


@SOURCES.sinner()
def process_number(x, rng):
    """os.getpid differs from run to run."""
    return x if os.getpid() % RARE == 0 else coin(x, rng)


@SOURCES.twin
def process_number_twin(x, rng):
    return x if os.sep == "RARE" else coin(x, rng)
