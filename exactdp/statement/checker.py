"""The checker of the repository's folder `checker`, which every installation carries.

It shares no code with exactdp: what it says of a statement is a second opinion.
"""

from __future__ import annotations

import sys
import threading
import time
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

from exactdp.errors import InvalidParameter

__all__ = ["FILES", "Verdict", "bound", "check", "folder", "parse", "quantity", "seconds"]

FILES = ("dpcheck.py", "dpcheck_more.py")

#: The checker counts its time in a variable of its module.
_LOCK = threading.RLock()


@dataclass(frozen=True)
class Verdict:
    """What the checker says. verdict: "valid", "not proved" or "malformed"."""

    verdict: str
    reason: str
    sha256: str

    #: Verdict -> exit status of a command, as of the checker itself.
    STATUS: ClassVar = {"valid": 0, "not proved": 1, "malformed": 2}

    @property
    def status(self) -> int:
        """The exit status of a command."""
        return self.STATUS[self.verdict]

    def __bool__(self) -> bool:
        return self.verdict == "valid"

    def __str__(self) -> str:
        return f"{self.verdict}: {self.reason} (sha256 {self.sha256})"


def check(text: str | bytes) -> Verdict:
    """Recompute every claim of a privacy statement.

    text: JSON in the format of checker/SPECIFICATION.md. Takes at most a minute.
    The same as ``python checker/dpcheck.py FILE``. Raises InvalidParameter unless text is text.

    >>> from exactdp import statement
    >>> statement.check("{}").verdict
    'malformed'
    """
    if not isinstance(text, str | bytes):
        raise InvalidParameter("text", text, "the text of a privacy statement, or its bytes")
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    with _LOCK:
        return Verdict(*_module("dpcheck").check(data))


def parse(text: str | bytes) -> tuple[dict[str, Any], str]:
    """The fields of a statement, and what is wrong with its form; "" if nothing is."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    with _LOCK:
        main = _module("dpcheck")
        main.prove.end = time.process_time_ns() + 10**10
        try:
            raw, _ = main.parse(data)
            made = main.read("statement", raw)
            main.agree(made["releases"], made["claims"], made["unit"]["neighbours"])
        except main.Stop as stop:
            return {}, str(stop.args[1])
    return raw, ""


def bound(
    releases: list[dict[str, Any]],
    rule: dict[str, Any],
    epsilon: Fraction,
    *,
    upper: bool,
    allowed: float = 40.0,
) -> Fraction | None:
    """The checker's bound of delta at epsilon by a rule; None if the rule proves nothing.

    releases, rule: with their numbers as text. upper: the upper bound, else the lower one.
    allowed: seconds of the processor.
    """
    derivation = _read("derivation", rule)
    found: Fraction | None = _asked(
        "delta", _read("releases", releases), derivation, epsilon, upper, allowed
    )
    return found


def quantity(
    releases: list[dict[str, Any]], claim: dict[str, Any], *, upper: bool
) -> Fraction | None:
    """The checker's bound of a rho, a divergence, the square of a mu, or a second error."""
    made = _read("claims", [{**claim, "at_most": "0"}])[0]
    found = _asked("quantity", made, _read("releases", releases), upper, Fraction(0), 40.0)
    return None if found is None else found[0]


def seconds() -> float:
    """Seconds of the processor that this process has used."""
    return time.process_time()


def folder() -> Path:
    """The folder of the checker's files: in the package, or in a clone of the repository."""
    package = Path(__file__).parents[1]
    installed = package / "checker"
    return installed if installed.exists() else package.parent / "checker"


def _read(name: str, value: Any) -> Any:
    """A field with its numbers read."""
    with _LOCK:
        module = _module("dpcheck")
        module.prove.end = time.process_time_ns() + 10**9
        return module.read(name, value)


def _asked(function: str, *arguments: Any) -> Any:
    """The answer of a function of the checker; None where it stops."""
    *given, allowed = arguments
    with _LOCK:
        main, module = _module("dpcheck"), _module("dpcheck_more")
        main.prove.end = time.process_time_ns() + int(allowed * 1e9)
        try:
            return getattr(main if function == "delta" else module, function)(*given)
        except main.Stop:
            return None


@cache
def _module(name: str) -> ModuleType:
    """A file of the checker as a module. The files import each other by their names."""
    for each in FILES:
        _loaded(each.removesuffix(".py"))
    return sys.modules[name]


def _loaded(name: str) -> None:
    if name in sys.modules:
        return
    spec = spec_from_file_location(name, folder() / f"{name}.py")
    if spec is None or spec.loader is None:
        raise ImportError(f"{name}.py is missing from this installation")
    sys.modules[name] = module_from_spec(spec)
    spec.loader.exec_module(sys.modules[name])
