"""All errors of exactdp, as one tree. In parentheses: a further class that the error derives from.

.. code-block:: text

    ExactDPError
        InvalidParameter (ValueError)
            UnreadableEvent
        Undecided (ArithmeticError)
            TooLong
            TooCoarse
        Exhausted
        EngineError
        RandomnessError (OSError)
        OutOfRange (OverflowError)
        NotPlain (TypeError)
        NotEnumerable (TypeError)
        NotReproducible
        TooManyBranches
        CopiedRandomness (RuntimeError)
        CommandFailed (RuntimeError)
        TargetFailed (RuntimeError)
        MissingExtra (ImportError)
    AuditFailed (RuntimeError)
    Signal (BaseException)

A class of exceptions that is defined elsewhere in exactdp derives from Signal.
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "AuditFailed",
    "CommandFailed",
    "CopiedRandomness",
    "Described",
    "EngineError",
    "ExactDPError",
    "Exhausted",
    "InvalidParameter",
    "MissingExtra",
    "NotEnumerable",
    "NotPlain",
    "NotReproducible",
    "OutOfRange",
    "RandomnessError",
    "Signal",
    "TargetFailed",
    "TooCoarse",
    "TooLong",
    "TooManyBranches",
    "Undecided",
    "UnreadableEvent",
    "one_line",
]


class ExactDPError(Exception):
    """Root of every error raised on purpose by this library."""

    #: The exit status of a command that ends with this error: 2 for bad input.
    exit_code = 2

    def __reduce__(self) -> tuple[Any, ...]:
        # without a call of __init__, whose parameters are not the message
        return type(self).__new__, (type(self), *self.args), self.__dict__

    def _render_traceback_(self) -> list[str]:
        """What a notebook shows: the message, without the library's lines above."""
        return [f"{type(self).__name__}: {self}"]


class InvalidParameter(ExactDPError, ValueError):
    """A parameter is outside its domain; the message names it, its value and what is allowed."""

    def __init__(self, name: str, value: object, allowed: str) -> None:
        super().__init__(f"{name} must be {allowed}, got {one_line(value)}")
        self.name = name
        self.value = value
        self.allowed = allowed


class UnreadableEvent(InvalidParameter):
    """An event of dp_accounting whose privacy loss is not known.

    event: the innermost event that is the reason.
    """

    def __init__(self, event: Any, error: ExactDPError) -> None:
        ExactDPError.__init__(self, f"{type(event).__name__}: {error}")
        self.event = event


class Undecided(ExactDPError, ArithmeticError):
    """The allowed precision does not decide the question; exactdp never guesses."""

    exit_code = 3


class TooLong(Undecided):
    """A composition needs more nodes than a transform may have."""

    def __init__(self, most: int) -> None:
        super().__init__(
            f"the composition needs a grid of more than {most} nodes; a larger width needs fewer, "
            "and `renyi_delta` bounds delta without a grid"
        )


class TooCoarse(Undecided):
    """The step of the grid is too coarse for the law of the losses."""

    def __init__(self) -> None:
        super().__init__("the step of the grid is too coarse for the law of the losses")


class Exhausted(ExactDPError):
    """A mechanism would have cost more than is left of a budget; nothing was spent."""


class EngineError(ExactDPError):
    """A data frame engine returned pairs that break an assumption of the guarantee."""

    exit_code = 4  # the fault is the engine's, not the input's


class RandomnessError(ExactDPError, OSError):
    """Reading randomness failed, or the bits that were read cannot be random."""


class OutOfRange(ExactDPError, OverflowError):
    """A draw is outside int64, which has probability below 2^-180."""


class NotPlain(ExactDPError, TypeError):
    """An audit was given a value of a type that may hold more than its text shows.

    kind: the name of its type. advice: what to return instead.
    """

    def __init__(self, kind: str, advice: str) -> None:
        super().__init__(f"a value of type {kind}; return {advice}")
        self.kind, self.advice = kind, advice


class NotEnumerable(ExactDPError, TypeError):
    """A program uses randomness in a way that has no exact law here."""


class NotReproducible(ExactDPError):
    """A program made other choices, or gave another result, on the same randomness."""


class TooManyBranches(ExactDPError):
    """A program has too many branches to enumerate."""


class CopiedRandomness(ExactDPError, RuntimeError):
    """Outputs are copies of each other: they are not independent, nothing can be concluded."""

    def __init__(self, sign: str) -> None:
        super().__init__(
            f"{sign}; so the outputs are not independent and nothing can be concluded. "
            "run(dataset, n) must return n outputs, each drawn anew with randomness from the "
            "operating system"
        )


class CommandFailed(ExactDPError, RuntimeError):
    """A command did not return the outputs of an audit; nothing can be concluded."""


class TargetFailed(ExactDPError, RuntimeError):
    """A target of an audit raised an exception instead of returning outputs; no verdict follows."""


class MissingExtra(ExactDPError, ImportError):
    """A library is not installed; the message names the extra of exactdp that installs it."""


class AuditFailed(RuntimeError):
    """A fault of exactdp in a forked child, with the traceback there; please report it."""


class Signal(BaseException):
    """Ends a run or a search early; exactdp catches every signal, so that users never see it."""


class Described(str):
    """A description of a value that is too large to show, or private.

    >>> print(InvalidParameter("items", Described("an item twice"), "distinct"))
    items must be distinct, got an item twice
    """

    __slots__ = ()


def one_line(value: object, limit: int = 60) -> str:
    """Any value as text for an error message: one line of at most `limit` characters.

    >>> one_line("abc"), one_line(-1)
    ("'abc'", '-1')
    """
    try:
        if isinstance(value, int) and value.bit_length() > 4 * limit:
            return f"an integer of {value.bit_length()} bits"
        if isinstance(value, Described):  # may contain a name with control characters
            text = "".join(c if " " <= c <= "~" else ascii(c)[1:-1] for c in value)
        else:
            text = ascii(value) if isinstance(value, str | bytes) else str(value)
    except Exception:  # a foreign __str__ may raise anything; the message must still appear
        text = f"a {type(value).__name__}"
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 3] + "..."
