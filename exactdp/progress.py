"""Progress bars for long computations, on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Event, Thread
from typing import TYPE_CHECKING, NoReturn, TypeVar

if TYPE_CHECKING:
    from tqdm import tqdm

_Item = TypeVar("_Item")

#: Shorter work has no bar: it would end before anybody looks.
_MANY = 10_000

#: Seconds before a bar appears.
_PATIENCE = 2

#: Called by :func:`tick`: the innermost :func:`counted` block registers here.
_listener: ContextVar[Callable[[], object] | None] = ContextVar("listener", default=None)


def watched(items: Collection[_Item], what: str) -> Iterator[_Item]:
    """Iterate over the items; long work shows a bar if standard error is a terminal."""
    if len(items) < _MANY:
        return iter(items)
    from tqdm import tqdm

    # disable=None: no bar unless standard error is a terminal
    return iter(tqdm(items, desc=what, delay=_PATIENCE, disable=None, leave=False))


@contextmanager
def bar(total: int, what: str) -> Iterator[Callable[[int], object]]:
    """A bar for work of `total` parts; yields a function to call with the number of parts done."""
    if total < _MANY:
        yield lambda _: None
        return
    from tqdm import tqdm

    layout = "{l_bar}{bar}| {elapsed}<{remaining}"
    with tqdm(
        total=total, desc=what, delay=_PATIENCE, disable=None, leave=False, bar_format=layout
    ) as progress_bar:
        yield progress_bar.update


@contextmanager
def stages(total: int, what: str) -> Iterator[Callable[[str], object]]:
    """A bar for a few long stages; yields a function to call with the name of the next stage.

    The bar appears after two seconds even if the first stage has not ended by then.
    """
    from tqdm import tqdm

    with tqdm(total=total, desc=what, delay=_PATIENCE, disable=None, leave=False) as progress_bar:
        begun = 0

        def begin_stage(stage: str) -> None:
            nonlocal begun
            progress_bar.set_description_str(stage, refresh=False)
            progress_bar.update(1 if begun else 0)
            begun += 1

        with _redrawn(progress_bar):
            yield begin_stage


@contextmanager
def counted(what: str) -> Iterator[None]:
    """Show the time and the number of calls of :func:`tick`, for work of unknown size."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield  # nothing would be shown, and to import tqdm takes as long as a short answer
        return
    from tqdm import tqdm

    layout = "{desc}, {elapsed}"
    with tqdm(
        desc=what, delay=_PATIENCE, disable=None, leave=False, bar_format=layout
    ) as progress_bar:

        def count_step() -> None:
            progress_bar.bar_format = "{desc}: {n_fmt} steps, {elapsed}"
            progress_bar.update()

        before = _listener.set(count_step)
        try:
            with _redrawn(progress_bar):
                yield
        finally:
            _listener.reset(before)


@contextmanager
def _redrawn(progress_bar: tqdm[NoReturn]) -> Iterator[None]:
    """Redraw the bar twice a second from a thread, because a single step may take long."""
    if progress_bar.disable:
        yield
        return
    done = Event()

    def redraw() -> None:
        wait = float(_PATIENCE)
        while not done.wait(wait):
            progress_bar.refresh()
            wait = 0.5

    thread = Thread(target=redraw, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def tick() -> None:
    """Report one finished step, of about a tenth of a second or less."""
    listener = _listener.get()
    if listener is not None:
        listener()
