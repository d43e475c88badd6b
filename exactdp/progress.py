"""Progress of long work, for people at a terminal."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Event, Thread
from typing import TYPE_CHECKING, NoReturn, TypeVar

if TYPE_CHECKING:
    from tqdm import tqdm

_Item = TypeVar("_Item")

#: Less is done before anybody looks, and a bar would cost time.
_MANY = 10_000

#: Seconds before a bar appears.
_PATIENCE = 2

#: What is to be told that a piece of work is done, while somebody watches.
_told: ContextVar[Callable[[], object] | None] = ContextVar("told", default=None)


def watched(items: Collection[_Item], what: str) -> Iterator[_Item]:
    """The items, with a bar on standard error where that is a terminal and they take a while."""
    if len(items) < _MANY:
        return iter(items)
    from tqdm import tqdm

    # disable=None: no bar unless standard error is a terminal
    return iter(tqdm(items, desc=what, delay=_PATIENCE, disable=None, leave=False))


@contextmanager
def bar(total: int, what: str) -> Iterator[Callable[[int], object]]:
    """The same for work of so many parts: yields what is to be told of parts that are done."""
    if total < _MANY:
        yield lambda _: None
        return
    from tqdm import tqdm

    layout = "{l_bar}{bar}| {elapsed}<{remaining}"
    with tqdm(
        total=total, desc=what, delay=_PATIENCE, disable=None, leave=False, bar_format=layout
    ) as drawn:
        yield drawn.update


@contextmanager
def stages(total: int, what: str) -> Iterator[Callable[[str], object]]:
    """A bar for a few long stages: yields what is to be told of a stage that begins.

    The bar appears after two seconds even if the first stage has not ended by then.
    """
    from tqdm import tqdm

    with tqdm(total=total, desc=what, delay=_PATIENCE, disable=None, leave=False) as drawn:
        begun = 0

        def told(stage: str) -> None:
            nonlocal begun
            drawn.set_description_str(stage, refresh=False)
            drawn.update(1 if begun else 0)
            begun += 1

        with _redrawn(drawn):
            yield told


@contextmanager
def counted(what: str) -> Iterator[None]:
    """Work whose size is not known before: shows the time, and every :func:`tick` inside."""
    from tqdm import tqdm

    layout = "{desc}, {elapsed}"
    with tqdm(desc=what, delay=_PATIENCE, disable=None, leave=False, bar_format=layout) as drawn:

        def told() -> None:
            drawn.bar_format = "{desc}: {n_fmt} steps, {elapsed}"
            drawn.update()

        before = _told.set(told)
        try:
            with _redrawn(drawn):
                yield
        finally:
            _told.reset(before)


@contextmanager
def _redrawn(drawn: tqdm[NoReturn]) -> Iterator[None]:
    """Draw the bar again twice a second, by a thread: a single step may take long."""
    if drawn.disable:
        yield
        return
    done = Event()

    def redraw() -> None:
        wait = float(_PATIENCE)
        while not done.wait(wait):
            drawn.refresh()
            wait = 0.5

    thread = Thread(target=redraw, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def tick() -> None:
    """A piece of work is done, of those that take about a tenth of a second or less."""
    told = _told.get()
    if told is not None:
        told()
