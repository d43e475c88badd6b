"""The checker of the repository's folder `checker`, which every installation carries.

It shares no code with exactdp: what it says of a statement is a second opinion.
"""

from __future__ import annotations

import sys
import threading
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

from exactdp.display import Printed
from exactdp.errors import InvalidParameter

__all__ = ["FILES", "Verdict", "bound", "check", "folder", "most_work", "parse", "quantity", "work"]

Release = dict[str, Any]
Rule = dict[str, Any]

#: In the order in which they import each other.
FILES = ("dpcheck_real.py", "dpcheck_laws.py", "dpcheck_grid.py", "dpcheck.py")

#: Modules are loaded once.
_LOCK = threading.RLock()


@dataclass(frozen=True)
class Verdict(Printed):
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
    return Verdict(*_dpcheck().check(data))


def parse(text: str | bytes) -> tuple[dict[str, Any], str]:
    """The fields of a statement, and the fault in its form; "" if there is no fault."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    dpcheck = _dpcheck()
    try:
        raw, _ = dpcheck.parse(data)
        dpcheck.agree(dpcheck.read("statement", raw))
    except dpcheck.Stop as stop:
        return {}, str(stop.args[1])
    return raw, ""


def bound(
    releases: list[Release],
    neighbours: str,
    rule: Rule,
    epsilon: Fraction,
    *,
    upper: bool,
    units: int | None = None,
) -> Fraction | None:
    """The checker's bound of delta at epsilon by a rule; None if the rule proves nothing.

    releases, rule: with their numbers as text. upper: the upper bound, else the lower one.
    units: of work, the most for both bounds together; None: as many as for a statement.
    """
    dpcheck = _dpcheck()
    fields, claim = dpcheck.read("releases", releases), _claim(rule)
    named = neighbours in ("add-remove", "zero-out")
    try:
        dpcheck.limit({"releases": fields, "claims": [claim]})
        if units is not None and dpcheck.work(claim, fields) > units:
            return None
        bound: Fraction = dpcheck.delta(fields, claim["derivation"], epsilon, upper, named)
    except dpcheck.Stop:
        return None
    return bound


def most_work() -> int:
    """The most units of work that a checker does for one statement."""
    units: int = _dpcheck().WORK
    return units


def work(releases: list[Release], rule: Rule) -> int:
    """The units of work of a checker for both bounds of delta by a rule."""
    dpcheck = _dpcheck()
    units: int = dpcheck.work(_claim(rule), dpcheck.read("releases", releases))
    return units


def quantity(
    releases: list[Release], neighbours: str, claim: dict[str, Any], *, upper: bool
) -> Fraction | None:
    """The checker's bound of a rho, a divergence, the square of a mu, or a second error."""
    dpcheck = _dpcheck()
    fields = dpcheck.read("claims", [{**claim, "at_most": "0"}])[0]
    named = neighbours in ("add-remove", "zero-out")
    try:
        bound: Fraction = dpcheck.quantity(fields, dpcheck.read("releases", releases), upper, named)
    except dpcheck.Stop:
        return None
    return bound


def folder() -> Path:
    """The folder of the checker's files: in the package, or in a clone of the repository."""
    package = Path(__file__).parents[1]
    installed = package / "checker"
    return installed if installed.exists() else package.parent / "checker"


def _claim(rule: Rule) -> dict[str, Any]:
    """A claim of both bounds of delta by a rule, with its numbers read."""
    claim = {"measure": "delta", "epsilon": "0", "at_most": "0", "at_least": "0"}
    fields: dict[str, Any] = _dpcheck().read("claims", [{**claim, "derivation": rule}])[0]
    return fields


@cache
def _dpcheck() -> ModuleType:
    """The checker as a module. Its files import each other by their names."""
    with _LOCK:
        for file in FILES:
            name = file.removesuffix(".py")
            if name not in sys.modules:
                _load(name)
        return sys.modules["dpcheck"]


def _load(name: str) -> None:
    spec = spec_from_file_location(name, folder() / f"{name}.py")
    if spec is None or spec.loader is None:
        raise ImportError(f"{name}.py is missing from this installation")
    sys.modules[name] = module_from_spec(spec)
    spec.loader.exec_module(sys.modules[name])
