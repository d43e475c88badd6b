"""Worker processes of an audit."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

from exactdp.processes import undisturbed


class Workers(ProcessPoolExecutor):
    """Worker processes that ignore Ctrl-C; the command that started them ends them."""

    def __init__(self, processes: int) -> None:
        super().__init__(processes, mp_context=get_context("spawn"))

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Submit a task; this may start a process."""
        with undisturbed():
            return super().submit(fn, *args, **kwargs)
