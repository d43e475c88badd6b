"""Programs that swallow the refusal of a draw and go on without it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import wraps
from typing import Any

from tests.audit.programs.case import Group, coin

SIGNALS = Group()


@SIGNALS.sinner(apart=0.9)
def retry_loop(x, rng):
    """A refused draw is taken for a failure, tried again, and left out."""
    for _ in range(3):
        try:
            return x + rng.gauss(0, 0.1)
        except Exception:
            pass
    return 0


@SIGNALS.twin
def retry_loop_twin(x, rng):
    for _ in range(3):
        try:
            return coin(x, rng)
        except Exception:
            pass
    return 0


@SIGNALS.sinner(apart=0.9)
def tuple_of_errors(x, rng):
    """The refusal is a TypeError, and a program guards its logarithm against those."""
    try:
        return x + 1e-3 * math.log(1 - rng.random())
    except (ValueError, TypeError):
        return 0


@SIGNALS.twin
def tuple_of_errors_twin(x, rng):
    try:
        return coin(x, rng)
    except (ValueError, TypeError):
        return 0


@SIGNALS.sinner(apart=0.9)
def bare_except(x, rng):
    """Everything is caught, whatever it derives from."""
    try:
        return x + 1e-3 * rng.expovariate(1)
    except:
        return rng.randrange(2)


@SIGNALS.twin
def bare_except_twin(x, rng):
    try:
        return coin(x, rng)
    except:
        return rng.randrange(2)


@SIGNALS.sinner(apart=0.9)
def base_exception(x, rng):
    """A wide draw is given up by a signal that is no Exception, and caught all the same."""
    noise = 0
    try:
        noise = rng.randrange(10**9) % 10**8
    except BaseException:
        return rng.randrange(2)
    return (x, noise) if noise < 0 else x


@SIGNALS.twin
def base_exception_twin(x, rng):
    noise = 0
    try:
        noise = rng.randrange(10**9) % 10
    except BaseException:
        return rng.randrange(2)
    return (x, noise) if noise < 0 else coin(x, rng)


@SIGNALS.sinner(apart=0.9)
def return_in_finally(x, rng):
    """A return in finally drops the exception on its way."""
    released = rng.randrange(2)
    try:
        released = x + 1e-3 * rng.gauss(0, 1)
    finally:
        return released


@SIGNALS.twin
def return_in_finally_twin(x, rng):
    released = rng.randrange(2)
    try:
        released = coin(x, rng)
    finally:
        return released


@SIGNALS.sinner(apart=0.9)
def suppressed(x, rng):
    """contextlib.suppress."""
    with contextlib.suppress(Exception):
        return x + 1e-3 * rng.betavariate(2, 2)
    return 0


@SIGNALS.twin
def suppressed_twin(x, rng):
    with contextlib.suppress(Exception):
        return coin(x, rng)
    return 0


def logged(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def wrapper(*arguments):
        try:
            return function(*arguments)
        except Exception:
            logging.getLogger("sampler").debug("no noise", exc_info=True)
            return 0

    return wrapper


@logged
def logged_noise(rng):
    return 1 + rng.triangular()


@SIGNALS.sinner(apart=0.9)
def logging_wrapper(x, rng):
    """A decorator logs the refusal and returns a default; without noise the bit is held back."""
    return x if logged_noise(rng) else coin(x, rng)


@SIGNALS.twin
def logging_wrapper_twin(x, rng):
    return logged(coin)(x, rng)


@SIGNALS.sinner(apart=0.9)
def executor(x, rng):
    """The exception stays in a future whose result nobody asks for."""
    with ThreadPoolExecutor(1) as pool:
        noise = pool.submit(rng.gauss, 0, 1e-3)
    return rng.randrange(2) if noise.exception() else x + noise.result()


@SIGNALS.twin
def executor_twin(x, rng):
    noise = coin(x, rng)
    return rng.randrange(2) if noise is None else noise


@SIGNALS.sinner(apart=0.9)
def thread(x, rng):
    """The exception ends a thread, and a default is left standing."""
    found = [0]

    def work() -> None:
        found[0] = x + rng.gauss(0, 1e-3)

    worker = threading.Thread(target=work)
    worker.start()
    worker.join()
    return found[0]


@SIGNALS.twin
def thread_twin(x, rng):
    found = [0]

    def work() -> None:
        found[0] = coin(x, rng)

    work()
    return found[0]


@SIGNALS.sinner(apart=0.9)
def gathered(x, rng):
    """asyncio.gather(return_exceptions=True) turns the signal into a value."""

    async def noisy() -> float:
        return x + rng.gauss(0, 1e-3)

    async def main() -> list[Any]:
        return await asyncio.gather(noisy(), return_exceptions=True)

    released = asyncio.run(main())[0]
    return rng.randrange(2) if isinstance(released, Exception) else released


@SIGNALS.twin
def gathered_twin(x, rng):
    async def noisy() -> int:
        return coin(x, rng)

    coroutine = noisy()
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value
    return 0


@SIGNALS.sinner(apart=0.9)
def generator_that_ends(x, rng):
    """A generator catches the signal inside and ends early."""

    def noisy() -> Iterator[float]:
        with contextlib.suppress(Exception):
            yield x + rng.gauss(0, 1e-3)

    return next(noisy(), 0)


@SIGNALS.twin
def generator_that_ends_twin(x, rng):
    def noisy() -> Iterator[int]:
        with contextlib.suppress(Exception):
            yield coin(x, rng)

    return next(noisy(), 0)


@SIGNALS.sinner(apart=0.9)
def finalizer(x, rng):
    """Python drops what a finalizer raises."""
    released = [0]

    class Session:
        def __del__(self) -> None:
            released[0] = x + rng.gauss(0, 1e-3)

    Session()
    return released[0]


@SIGNALS.twin
def finalizer_twin(x, rng):
    released = [0]

    class Session:
        def close(self) -> None:
            released[0] = coin(x, rng)

    Session().close()
    return released[0]


@SIGNALS.sinner(apart=0.9)
def forgiving_context(x, rng):
    """A context manager whose __exit__ is truthy."""

    class Transaction:
        def __enter__(self) -> list[float]:
            self.rows = [0.0]
            return self.rows

        def __exit__(self, *error: object) -> bool:
            return True

    with Transaction() as rows:
        rows[0] = x + rng.gauss(0, 1e-3)
    return rows[0]


@SIGNALS.twin
def forgiving_context_twin(x, rng):
    class Transaction:
        def __enter__(self) -> list[int]:
            self.rows = [0]
            return self.rows

        def __exit__(self, *error: object) -> bool:
            return True

    with Transaction() as rows:
        rows[0] = coin(x, rng)
    return rows[0]


@SIGNALS.sinner(apart=0.9, exceptions="outcome")
def error_translated(x, rng):
    """With exceptions as outcomes, the signal comes back as an error of the program's own."""
    try:
        return x + rng.gauss(0, 1e-3)
    except Exception as error:
        raise RuntimeError("no noise") from error


@SIGNALS.twin
def error_translated_twin(x, rng):
    if coin(x, rng):
        raise RuntimeError("no noise")
    return 0


@SIGNALS.sinner(apart=0.9, exceptions="outcome")
def error_in_cleanup(x, rng):
    """The signal is replaced by an error raised while cleaning up after it."""
    released = []
    try:
        released.append(x + rng.gauss(0, 1e-3))
    finally:
        released[0] = released[0] + 0
    return released[0]


@SIGNALS.twin
def error_in_cleanup_twin(x, rng):
    released = []
    try:
        released.append(coin(x, rng))
    finally:
        released[0] = released[0] + 0
    return released[0]
