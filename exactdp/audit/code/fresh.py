"""Runs repeated in four fresh interpreters with other hash seeds.

They import the program's modules anew, so whatever these draw, or order by hashes, is drawn and
ordered anew. They are started by the first request and serve all later ones. A request that is not
answered ends them, so that no later request reads an answer to this one.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import threading
import time
from multiprocessing import Pipe
from multiprocessing.connection import Connection

from exactdp.audit.code.forks import end_with_parent, in_fork
from exactdp.audit.code.lines import is_program
from exactdp.audit.code.program import Program
from exactdp.audit.code.search import Leaf, repeated_alike
from exactdp.audit.code.state import state_digest
from exactdp.audit.sending import received, sent, variables
from exactdp.errors import ExactDPError, NotEnumerable, NotPlain, NotReproducible

_SEEDS = ("1", "2", "3", "4")
_MOST_LEAVES = 512
#: A fresh interpreter has this time, and ten times the time that the law took here, in seconds.
_PATIENCE = 300.0
_INSIDE = "EXACTDP_FRESH_INTERPRETER"  # set in their environment
_LOCK = threading.Lock()
_started: list[tuple[subprocess.Popen[bytes], Connection]] = []
_owner: int | None = None  # the process that has started them: a fork of it starts its own


#: Why the program could not be rebuilt, or ""; the error to be raised, or None; digests of the
#: variables that the program names.
_Answer = tuple[str, ExactDPError | None, dict[str, str]]


def in_fresh_interpreters(
    program: Program, leaves: list[Leaf], forked: bool, seconds: float
) -> tuple[int, str]:
    """The number of fresh interpreters that reproduce the leaves; the reason if it is 0.

    forked: whether each leaf needs a fork of its own. seconds: how long the law took here. Raises
    NotReproducible if a leaf differs, NotEnumerable if an interpreter ends or does not answer.
    """
    if _INSIDE in os.environ:
        return 0, "this is a fresh interpreter"
    request = sent((program, leaves[:: 1 + len(leaves) // _MOST_LEAVES], forked), _variables())
    if not request:
        return 0, "it uses a class of the script, or an object that cannot be copied"
    if not _can_start():
        return 0, "Python cannot be started by sys.executable"
    answers = _answers(request, _PATIENCE + 10 * seconds)
    for failed, error, _ in answers:
        if failed:
            return 0, f"it cannot be made in a fresh interpreter ({failed})"
        if error is not None:
            raise error
    states = [state for *_, state in answers]
    for name in sorted({name for state in states for name in state}):
        if len({state.get(name) for state in states}) > 1:
            raise NotReproducible(
                f"{name} differs from process to process: what was drawn when its module was "
                "imported is not drawn again; draw it inside the run"
            )
    return len(_SEEDS), ""


def _can_start() -> bool:
    """Whether fresh interpreters are there, or can be started."""
    with _LOCK:
        try:
            for pipe in _interpreters():
                pipe.send(None)
                if not pipe.poll(_PATIENCE) or pipe.recv() is not None:
                    raise EOFError
        except (EOFError, OSError, TypeError):
            _end()
            return False
    return True


def _variables() -> dict[int, tuple[str, str]]:
    """id of each object in the modules of programs -> module and name, which import it anew."""
    return {
        id(value): (title, name)
        for title, module in list(sys.modules.items())
        if title != "__main__" and getattr(module, "__spec__", None) is not None
        if is_program(getattr(module, "__file__", None) or "<frozen ")
        for name, value in list(vars(module).items())
    }


def _answers(request: bytes, seconds: float) -> list[_Answer]:
    """The answers of all interpreters, which work at the same time."""
    until = time.monotonic() + seconds
    with _LOCK:
        try:
            pipes = _interpreters()
            for pipe in pipes:
                pipe.send((sys.path, request))
            return [_answer(pipe, until) for pipe in pipes]
        except (EOFError, OSError):
            _end()
            raise NotEnumerable("the program ended a fresh interpreter") from None
        except BaseException:  # an interrupt, for one
            _end()
            raise


def _answer(pipe: Connection, until: float) -> _Answer:
    if not pipe.poll(max(0.0, until - time.monotonic())):
        raise NotEnumerable(
            "the program has ended here, but not in a fresh interpreter, which took more than ten "
            "times as long"
        )
    answer: _Answer = pipe.recv()
    return answer


def _interpreters() -> list[Connection]:
    global _owner
    if any(process.poll() is not None for process, _ in _started):
        _end()  # something else has ended one, such as a command that was told to stop
    if _owner != os.getpid():
        _owner, _started[:] = os.getpid(), []
        for seed in _SEEDS:
            _started.append(_start(seed))
    return [pipe for _, pipe in _started]


def _start(seed: str) -> tuple[subprocess.Popen[bytes], Connection]:
    here, there = Pipe()
    code = f"from exactdp.audit.code.fresh import serve; serve({there.fileno()})"
    process = subprocess.Popen(  # noqa: S603 (this very interpreter)
        [sys.executable, "-c", f"import sys; sys.path[:] = {sys.path!r}; {code}"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,  # what a program prints has been shown here
        pass_fds=[there.fileno()],
        env={**os.environ, "PYTHONHASHSEED": seed, _INSIDE: "1"},
        start_new_session=True,  # Ctrl-C is for this process, which then ends the interpreters
    )
    there.close()
    return process, here


@atexit.register
def _end() -> None:
    global _owner
    if _owner != os.getpid():
        return
    _owner = None
    for process, pipe in _started:
        process.kill()
        process.wait()
        pipe.close()


# -- in a fresh interpreter ------------------------------------------------------------------------


def serve(descriptor: int) -> None:
    """Answer requests until the other side ends."""
    end_with_parent()
    del os.environ["PYTHONHASHSEED"]  # all that differs between the environments
    pipe = Connection(descriptor)
    while True:
        try:
            message = pipe.recv()
        except EOFError:
            return
        if message is None:  # whether this interpreter answers
            pipe.send(None)
            continue
        sys.path[:], request = message
        pipe.send(_served(request))


def _served(request: bytes) -> _Answer:
    try:
        program, leaves, forked = received(request)
    except Exception as error:  # whatever the user's modules raise
        return f"{type(error).__name__}: {error}", None, {}
    shares = [[(paths[:1], expected)] for paths, expected in leaves] if forked else [leaves]
    try:
        repetitions = [in_fork(repeated_alike, program, share, ()) for share in shares]
    except NotEnumerable as error:
        return "", NotEnumerable(f"in a fresh interpreter, {error}"), {}
    for each in repetitions:
        if each.differs is not None:
            reason = (
                f"in a fresh interpreter {each.differs}: the program depends on the order of a "
                "set, on hash() of text, or on what its module drew or kept; sort sets before they "
                "are used, and draw and keep inside the run"
            )
            return "", NotReproducible(reason), {}
    named = variables.union(*(each.named for each in repetitions))
    state: dict[str, str] = {}
    for module, name in sorted(named):
        if module not in sys.modules:
            continue  # such as the one that collections.namedtuple makes up
        try:
            state[f"{module}.{name}"] = state_digest(vars(sys.modules[module]).get(name))
        except NotPlain as error:
            return "", _untold(f"{module}.{name}", error.kind), {}
    return "", None, state


def _untold(name: str, kind: str) -> NotEnumerable:
    return NotEnumerable(
        f"{name} holds an object of type {kind}, and nobody can tell whether it holds what was "
        "drawn when its module was imported; keep numbers, texts, tuples, lists and dictionaries "
        "there, or make the object inside the run"
    )
