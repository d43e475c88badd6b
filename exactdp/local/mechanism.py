"""What every local mechanism is: a client that reports, a wire format, a state that merges.

A mechanism is a frozen set of public parameters, the same on both sides. Its client turns one
user's value into a report; its server tallies reports into counters, which is all that a state
holds, and estimates from them.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import fields
from fractions import Fraction
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np

from exactdp.accounting.guarantee import Guarantee
from exactdp.container import Kind
from exactdp.enclosure import Enclosure
from exactdp.errors import Described, InvalidParameter
from exactdp.local.bulk_choices import Integers
from exactdp.local.report_formats import Form, Report, Reports, pack, unpack
from exactdp.parameters import decimal_text, integer
from exactdp.samplers.source import Source, require_secure

V = TypeVar("V")

NEIGHBOURS = "any two values of one user (local model)"

STATE = Kind("local state", 1, ("configuration", "n"))
REPORTS = Kind("local reports", 1, ("configuration", "n"))

#: Files of more reports are refused.
_MOST = 1 << 62


class LocalMechanism(ABC, Generic[V]):
    """A response of one user to a question with public parameters; V is the type of a value.

    A subclass says how its reports look (form), what they are made of (_respond), how many counters
    a server keeps (cells) and what a batch of reports adds to them (_tally).
    """

    @property
    @abstractmethod
    def epsilon_per_report(self) -> Fraction:
        """The epsilon that one report was asked to keep."""

    @property
    @abstractmethod
    def e_epsilon(self) -> Fraction:
        """The exact e^epsilon of one report: the largest ratio of two of its probabilities."""

    @property
    @abstractmethod
    def form(self) -> Form:
        """How reports look, in memory and on the wire."""

    @property
    @abstractmethod
    def cells(self) -> int:
        """Counters of a state."""

    @property
    @abstractmethod
    def source(self) -> str:
        """The statement that the guarantee rests on."""

    @abstractmethod
    def configuration(self) -> Mapping[str, str | int]:
        """Every public parameter, as text or integer: what two sides must agree on."""

    @abstractmethod
    def _checked(self, values: Any) -> Any:
        """Values of many users in the form _respond wants; raises InvalidParameter."""

    @abstractmethod
    def _respond(self, values: Any, source: Source) -> Reports:
        """One report per checked value."""

    @abstractmethod
    def _tally(self, reports: Reports) -> Integers:
        """What checked reports add to the counters."""

    @abstractmethod
    def _estimate(self, counts: Integers, n: int, method: str) -> Any:
        """The estimate from the counters of n >= 1 reports."""

    def _possible(self, counts: Integers, n: int) -> bool:
        """Whether n reports can lead to these counters, as far as that is quickly seen."""
        return True

    @property
    def bits(self) -> int:
        """Bits of one report on the wire."""
        return self.form.bits

    def report(self, value: V, source: Source) -> Report:
        """What one user sends. source: must be fit for a release, as SystemSource is."""
        require_secure(source)
        return self.draw(value, source)

    def report_many(self, values: Any, source: Source) -> Reports:
        """What many users send: one row per value. source: as for report."""
        require_secure(source)
        return self.draw_many(values, source)

    def draw(self, value: V, source: Source) -> Report:
        """One report from any source, for simulations and proofs."""
        return self.form.single(self.draw_many([value], source)[0])

    def draw_many(self, values: Any, source: Source) -> Reports:
        """The reports of many users from any source."""
        return self._respond(self._checked(values), source)

    def guarantee(self, reports: int = 1) -> Guarantee:
        """What so many reports of one user promise together, each drawn independently."""
        times = integer("reports", reports, least=1)
        return Guarantee(
            self.epsilon_per_report * times,
            Enclosure.exact(0),
            NEIGHBOURS,
            self.source,
            self.e_epsilon**times,
        )

    def pack(self, reports: Any) -> bytes:
        """Reports on the wire: bits of each one after the other, and zeros to a whole byte."""
        return pack(self.form, self.form.rows(reports))

    def unpack(self, data: bytes, n: int) -> Reports:
        """The n reports of :meth:`pack`; raises InvalidParameter."""
        return unpack(self.form, data, integer("n", n, least=0))

    def reports_to_bytes(self, reports: Any) -> bytes:
        """A checked file of reports, with the configuration; for :meth:`reports_from_bytes`."""
        rows, configuration = self.form.rows(reports), self.fingerprint_text
        return REPORTS.pack({"configuration": configuration, "n": len(rows)}, pack(self.form, rows))

    def reports_from_bytes(self, data: bytes) -> Reports:
        """The reports again; refuses those of another configuration. Raises InvalidParameter."""
        payload, n = self._opened(REPORTS, data)
        return unpack(self.form, bytes(payload), n)

    def aggregate(self) -> State:
        """The empty state of a server."""
        return State(self, np.zeros(self.cells, np.int64), 0)

    def state_from_bytes(self, data: bytes) -> State:
        """The state of :meth:`State.to_bytes`; refuses one of another mechanism or configuration.

        Raises InvalidParameter.
        """
        payload, n = self._opened(STATE, data)
        if len(payload) != 8 * self.cells:
            raise InvalidParameter(
                "state", Described(f"{len(payload)} bytes"), f"{self.cells} counters"
            )
        counts = np.frombuffer(payload, "<i8").astype(np.int64)
        if not self._possible(counts, n):
            raise InvalidParameter("state", Described("counters"), f"those of {n} reports")
        return State(self, counts, n)

    def _require_reports(self, state: State) -> None:
        """Refuse a state of another configuration, and an empty one."""
        if state.mechanism.fingerprint_text != self.fingerprint_text:
            raise InvalidParameter("state", state.mechanism.fingerprint_text, self.fingerprint_text)
        if not state.n:
            raise InvalidParameter("state", Described("no reports"), "at least one report")

    def _opened(self, kind: Kind, data: bytes) -> tuple[memoryview, int]:
        """Payload and number of reports of a file of this very configuration."""
        header, payload = kind.unpack(data)
        if header["configuration"] != self.fingerprint_text:
            raise InvalidParameter(kind.name, header["configuration"], self.fingerprint_text)
        n = integer("n", header["n"] or 0, least=0)
        if n > _MOST:
            raise InvalidParameter("n", n, "<= 2^62")
        return payload, n

    @cached_property
    def fingerprint_text(self) -> str:
        """The configuration in the one way it is written."""
        named = {"mechanism": type(self).__name__, **self.configuration()}
        return json.dumps(named, separators=(",", ":"), sort_keys=True)

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the configuration: states and reports of another one do not mix."""
        return hashlib.sha256(self.fingerprint_text.encode()).hexdigest()


def public_fields(mechanism: Any) -> dict[str, str | int]:
    """The parameters that a dataclass is made of, as they are written in a configuration."""
    named = {f.name: getattr(mechanism, f.name) for f in fields(mechanism) if f.init}
    return {name: x if isinstance(x, int | str) else decimal_text(x) for name, x in named.items()}


class State:
    """What a server knows: counters of reports, and how many there were. States add up.

    The sum of two states is the state of all their reports, in whatever order and on however many
    machines they were tallied; its size does not depend on their number.
    """

    __slots__ = ("counts", "mechanism", "n")

    def __init__(self, mechanism: LocalMechanism[Any], counts: Integers, n: int) -> None:
        self.mechanism = mechanism
        self.counts = counts
        self.n = n

    def add(self, reports: Any) -> State:
        """Tally the reports of more users, as rows or as a list; returns this state."""
        rows = self.mechanism.form.rows(reports)
        self.counts += self.mechanism._tally(rows)
        self.n += len(rows)
        return self

    def __add__(self, other: State) -> State:
        if not isinstance(other, State):
            return NotImplemented
        ours, theirs = self.mechanism.fingerprint_text, other.mechanism.fingerprint_text
        if ours != theirs:
            raise InvalidParameter("state", theirs, f"one of {ours}")
        return State(self.mechanism, self.counts + other.counts, self.n + other.n)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, State):
            return NotImplemented
        same = self.mechanism.fingerprint_text == other.mechanism.fingerprint_text
        return same and self.n == other.n and bool((self.counts == other.counts).all())

    def estimate(self, method: str = "unbiased") -> Any:
        """The mechanism's estimate; raises InvalidParameter before the first report."""
        self.mechanism._require_reports(self)
        return self.mechanism._estimate(self.counts, self.n, method)

    def to_bytes(self) -> bytes:
        """A checked file, read back by the mechanism's state_from_bytes."""
        configuration = self.mechanism.fingerprint_text
        payload = self.counts.astype("<i8").tobytes()
        return STATE.pack({"configuration": configuration, "n": self.n}, payload)
