"""Fresh processes: a mechanism started anew, which remembers nothing of what it drew before.

It is sent as it was before its first call, by the pickle of multiprocessing: functions of a module
by their names, so that the module is imported anew; other functions by their code and what they
refer to; objects by what they hold. Generators are sent as new ones of their kind, with seeds that
follow from theirs and from the number of the process, because copies would all draw the same.
"""

from __future__ import annotations

import builtins
import hashlib
import io
import marshal
import os
import random
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from multiprocessing import current_process, get_all_start_methods, get_context
from multiprocessing.reduction import ForkingPickler
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactdp.audit.outputs.batch import as_outputs
from exactdp.audit.outputs.copies import fingerprint
from exactdp.audit.outputs.counting import OneByOne
from exactdp.audit.outputs.event import Event
from exactdp.processes import undisturbed

__all__ = ["Drawn", "Request", "counted", "drawn_anew", "sent"]

#: A side, and how many outputs one call draws for it.
Request = tuple[str, int]
#: Of every call, in order: the hits of an event, and the call's fingerprint.
Drawn = list[tuple[NDArray[np.bool_], str]]

_MAIN = "__main__"  # a program can only be imported by running it again
_process = 0  # number of this process among those that are started together


def sent(value: Any) -> bytes:
    """What another process makes the same value of; empty where it cannot."""
    buffer = io.BytesIO()
    try:
        _Sender(buffer).dump(value)
    except Exception:  # whatever the value's own methods raise, it cannot be sent
        return b""
    return b"" if _MAIN.encode() in buffer.getvalue() else buffer.getvalue()


class _Sender(ForkingPickler):
    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, np.random.Generator):
            return _generator, (type(value.bit_generator), _seed(value.bit_generator.state))
        if isinstance(value, np.random.RandomState):
            return _legacy, (_seed(value.get_state()),)
        if isinstance(value, random.Random) and not isinstance(value, random.SystemRandom):
            return _python, (type(value), _seed(value.getstate()))
        if isinstance(value, ModuleType):
            return import_module, (value.__name__,)
        if isinstance(value, FunctionType) and not _is_importable(value):
            return _function, _by_code(value)
        return NotImplemented


def _is_importable(function: FunctionType) -> bool:
    """Whether its module and name are enough: not for lambdas, closures, or a program's own."""
    return function.__module__ != _MAIN and "<" not in function.__qualname__


def _by_code(function: FunctionType) -> tuple[Any, ...]:
    """Code, globals (those of its module, or of a program those it names), defaults, closure."""
    scope: Any = function.__module__
    if scope == _MAIN:
        known = function.__globals__
        scope = {name: known[name] for name in sorted(_names(function.__code__)) if name in known}
    code = function.__code__.replace(co_qualname=function.__name__)
    cells = tuple(cell.cell_contents for cell in function.__closure__ or ())
    return marshal.dumps(code), scope, function.__defaults__, function.__kwdefaults__, cells


def _names(code: CodeType) -> set[str]:
    inner = (one for one in code.co_consts if isinstance(one, CodeType))
    return {*code.co_names}.union(*map(_names, inner))


def _function(code: bytes, scope: Any, defaults: Any, named: Any, cells: Any) -> FunctionType:
    known = dict(vars(import_module(scope))) if isinstance(scope, str) else scope
    known["__builtins__"] = builtins
    closure = tuple(CellType(one) for one in cells)
    made = FunctionType(marshal.loads(code), known, None, defaults, closure)  # noqa: S302
    made.__kwdefaults__ = named
    return made


def _seed(state: Any) -> int:
    """A seed that follows from the state of a generator."""
    return int.from_bytes(hashlib.sha256(repr(state).encode()).digest(), "big")


def _generator(kind: Any, seed: int) -> np.random.Generator:
    return np.random.Generator(kind([seed, _process]))


def _legacy(seed: int) -> np.random.RandomState:
    return np.random.RandomState(np.random.MT19937([seed, _process]))


def _python(kind: Any, seed: int) -> random.Random:
    made: random.Random = kind()
    made.seed(f"{seed} {_process}")
    return made


def drawn_anew(
    run: bytes | None,
    data: dict[str, Any],
    event: Event,
    plans: Sequence[list[Request]],
    single: bool,
) -> list[Drawn] | None:
    """What fresh processes draw, one for each plan; None where none can start, or all draw alike.

    run: as sent() before its first call. plans: the calls of each process; processes 0 and 1, 2
    and 3, ... have equal plans, which shows whether they draw alike. single: whether run is called
    once for every output.
    """
    task = sent((data, event, single))
    if not run or not task or current_process().daemon:
        return None
    context: Any = get_context("forkserver" if "forkserver" in get_all_start_methods() else "spawn")
    if context.get_start_method() == "forkserver":
        context.set_forkserver_preload([__name__])
    at_once, found = os.cpu_count() or 1, list[Drawn | None]()
    with _no_program():
        for start in range(0, len(plans), at_once):
            numbered = [*enumerate(plans)][start : start + at_once]
            found += _in_processes(context, run, task, numbered)
    drawn = [one for one in found if one is not None]
    marks = [[(mark, hits.tobytes()) for hits, mark in one] for one in drawn]
    varied = any(mark or 0 < hits.sum() < len(hits) for one in drawn for hits, mark in one)
    alike = varied and marks[::2] == marks[1::2]
    return drawn if len(drawn) == len(plans) and not alike else None


def _in_processes(
    context: Any, run: bytes, task: bytes, plans: Sequence[tuple[int, list[Request]]]
) -> list[Drawn | None]:
    """What one process for each plan answers, all at the same time; plans come with numbers."""
    started = []
    try:
        for number, plan in plans:
            answer, told = context.Pipe(duplex=False)
            process = context.Process(target=_in_a_process, args=(told, run, task, number, plan))
            with undisturbed():
                process.start()
            told.close()  # here, so that the end of the other side is noticed
            started.append((process, answer))
        return [_answer(answer) for _, answer in started]
    finally:
        for process, answer in started:
            process.terminate()
            process.join()
            answer.close()


def _answer(pipe: Any) -> Drawn | None:
    try:
        found, error = pipe.recv()
    except EOFError:
        raise ChildProcessError(
            "a fresh process of the mechanism ended without an answer"
        ) from None
    if error is not None:
        raise error
    drawn: Drawn | None = found
    return drawn


def _in_a_process(told: Any, run: bytes, task: bytes, number: int, plan: list[Request]) -> None:
    global _process
    _process = number
    try:
        told.send((_drawn(run, task, plan), None))
    except Exception as error:  # whatever the mechanism raises is raised where it was called
        told.send((None, error if sent(error) else ChildProcessError(repr(error))))


def _drawn(run: bytes, task: bytes, plan: list[Request]) -> Drawn | None:
    try:
        (data, event, single), mechanism = map(ForkingPickler.loads, (task, run))
    except (ImportError, AttributeError):  # a module that was made while the program ran
        return None
    np.random.seed()  # the server that started this process has seeded the legacy generator
    return counted(OneByOne(mechanism) if single else mechanism, data, event, plan)


def counted(run: Any, data: dict[str, Any], event: Event, plan: list[Request]) -> Drawn:
    """The calls of a plan, drawn here, one after the other."""
    batches = (as_outputs(run(data[side], size), size) for side, size in plan)
    return [(event.hits(outputs), fingerprint(outputs)) for outputs in batches]


@contextmanager
def _no_program() -> Iterator[None]:
    """Processes started in this block do not run the program that this process is running."""
    program = sys.modules[_MAIN]
    sys.modules[_MAIN] = ModuleType(_MAIN)
    try:
        yield
    finally:
        sys.modules[_MAIN] = program
