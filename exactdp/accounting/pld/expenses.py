"""What was spent of a budget: in memory, or in a file that several processes share."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from threading import RLock
from typing import Any, Protocol

from exactdp.errors import InvalidParameter

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_FORMAT = "exactdp-budget/2"

#: Files of version 1 do not say which expenses form a series: none of theirs does.
_FORMATS = ("exactdp-budget/1", _FORMAT)


@dataclass(frozen=True)
class Entry:
    """One expense.

    neighbours: the relation for which the cost is stated; None if none is. series: a digest of what
    all expenses of a series share; None for a single expense. The first expense of a series has the
    cost of the whole series, and the others cost nothing. outcome: what became of the release that
    was paid; empty if nobody said so.
    """

    cost: dict[str, Fraction]
    note: str = ""
    neighbours: str | None = None
    series: str | None = None
    outcome: str = ""


class Ledger(Protocol):
    """A list of expenses."""

    def entries(self) -> list[Entry]:
        """All expenses so far."""

    def changing(self) -> Any:
        """A context with the list of expenses; nobody else changes it meanwhile.

        The list keeps its changes, unless an exception ends the context.
        """


@dataclass
class MemoryLedger:
    """Expenses of this process."""

    _entries: list[Entry] = field(default_factory=list)
    _lock: Any = field(default_factory=RLock)

    def entries(self) -> list[Entry]:
        """A copy of the list."""
        return list(self._entries)

    @contextmanager
    def changing(self) -> Iterator[list[Entry]]:
        """The list, locked for other threads."""
        with self._lock:
            changed = list(self._entries)
            yield changed
            self._entries = changed


@dataclass(frozen=True)
class FileLedger:
    """Expenses in a JSON file, every number an exact fraction.

    A change is written to a temporary file and moved into place, so a crash leaves the list before
    or after it. A lock on the file `path`.lock keeps other processes and threads out.
    terms: what the budget allows; a file with other terms is refused.
    """

    path: Path
    terms: dict[str, str]

    def entries(self) -> list[Entry]:
        """The list in the file; empty if there is no file yet."""
        terms, entries = read(self.path) if self.path.exists() else (self.terms, [])
        if terms != self.terms:
            expected = ", ".join(f"{name} = {value}" for name, value in self.terms.items())
            raise InvalidParameter("file", str(self.path), f"a budget with {expected}")
        return entries

    @contextmanager
    def changing(self) -> Iterator[list[Entry]]:
        """The list, locked for other processes and threads."""
        if fcntl is None:
            raise InvalidParameter("file", str(self.path), "left out on systems without fcntl")
        with self.path.with_name(f"{self.path.name}.lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            entries = self.entries()
            before = list(entries)
            yield entries
            if entries != before or not self.path.exists():
                self._write(entries)

    def _write(self, entries: list[Entry]) -> None:
        state = {
            "format": _FORMAT,
            "terms": self.terms,
            "spent": [
                {
                    "cost": {name: str(number) for name, number in entry.cost.items()},
                    "note": entry.note,
                    "neighbours": entry.neighbours,
                    "series": entry.series,
                    "outcome": entry.outcome,
                }
                for entry in entries
            ],
        }
        temporary = self.path.with_name(f"{self.path.name}.{os.getpid()}.tmp")
        try:
            with temporary.open("w", encoding="utf-8") as file:
                json.dump({**state, "checksum": _checksum(state)}, file, indent=1)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, self.path)
            _sync_folder(self.path.parent)
        except BaseException:  # Ctrl-C as well
            temporary.unlink(missing_ok=True)
            raise


def read(path: Path) -> tuple[dict[str, str], list[Entry]]:
    """The terms and the expenses in a file. Raises InvalidParameter if it was changed."""
    try:
        state = json.loads(path.read_text(encoding="utf-8"))
        whole = state.pop("checksum") == _checksum(state) and state["format"] in _FORMATS
        entries = [
            Entry(
                {n: Fraction(x) for n, x in e["cost"].items()},
                e["note"],
                e["neighbours"],
                e.get("series"),
                e.get("outcome", ""),
            )
            for e in state["spent"]
        ]
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        whole = False
    if not whole:
        raise InvalidParameter("file", str(path), "a budget file that exactdp wrote, unchanged")
    return dict(state["terms"]), entries


def _checksum(state: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(state).encode()).hexdigest()


def _sync_folder(folder: Path) -> None:
    """Write the folder to the disk, too, so that the file keeps its new name after a crash."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
