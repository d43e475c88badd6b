"""The base of the local mechanisms: a client that reports, a wire format, a mergeable state.

A mechanism is a frozen set of public parameters, the same for client and server. The client turns a
user's value into a report; the server tallies reports into the counters of a state, and estimates
from the counters.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import fields
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from exactdp.accounting.guarantee import Guarantee
from exactdp.container import Kind
from exactdp.enclosure import Enclosure
from exactdp.errors import Described, InvalidParameter
from exactdp.fields import Number
from exactdp.law import Law
from exactdp.local.bulk_choices import Integers
from exactdp.local.ratio import ratio_within
from exactdp.local.report_formats import Form, Numbers, Report, Reports, pack, unpack
from exactdp.mechanism import Simulated
from exactdp.parameters import choice, decimal_text, integer
from exactdp.samplers import exact_law
from exactdp.samplers.source import Source, require_secure

V = TypeVar("V")

NEIGHBOURS = "any two values of one user (local model)"

STATE = Kind("local state", 1, ("configuration", "n"))
REPORTS = Kind("local reports", 1, ("configuration", "n"))

#: Files with more reports are refused.
_MOST = 1 << 62


class LocalMechanism(Simulated[V], ABC, Generic[V]):
    """A randomizer of one user's value, of type V, with public parameters.

    A subclass defines the format of a report (form), how reports are drawn (_respond), the number
    of counters of a server (cells) and what a batch of reports adds to the counters (_tally).
    """

    #: How estimates can be had; the first is the default.
    methods: ClassVar[tuple[str, ...]] = ("unbiased",)

    #: The requested epsilon of one report.
    epsilon: Number

    @property
    @abstractmethod
    def source(self) -> str:
        """Paper and number of the statement that the guarantee rests on."""

    @property
    def neighbours(self) -> str:
        """The neighbouring relation of the guarantee."""
        return NEIGHBOURS

    @cached_property
    def e_epsilon(self) -> Fraction:
        """r: e^epsilon rounded down to twelve digits; the exact largest ratio of a report."""
        return ratio_within(self.epsilon)

    @property
    @abstractmethod
    def form(self) -> Form:
        """The format of reports, in memory and on the wire."""

    @property
    @abstractmethod
    def cells(self) -> int:
        """Number of counters of a state."""

    @abstractmethod
    def configuration(self) -> Mapping[str, str | int]:
        """All public parameters, as text or integers; client and server must agree on them."""

    @abstractmethod
    def _checked(self, values: Any) -> Any:
        """Checked values of many users, as _respond takes them; raises InvalidParameter."""

    @abstractmethod
    def _respond(self, values: Any, source: Source) -> Reports:
        """One report for each checked value."""

    @abstractmethod
    def _tally(self, reports: Reports) -> Integers:
        """The amounts that checked reports add to the counters."""

    @abstractmethod
    def _estimate(self, counts: Integers, n: int, method: str) -> Any:
        """The estimate from the counters of n >= 1 reports."""

    def _possible(self, counts: Integers, n: int) -> bool:
        """Whether n reports can lead to these counters, as far as a quick test can tell."""
        return True

    @property
    def bits(self) -> int:
        """Size of one report on the wire, in bits."""
        return self.form.bits

    def report(self, value: V, source: Source) -> Report:
        """The report of one user. source: randomness fit for a release, such as SystemSource."""
        require_secure(source)
        return self.draw(value, source)

    release = report

    def report_many(self, values: Any, source: Source) -> Reports:
        """The reports of many users: one row per value. source: as for report."""
        require_secure(source)
        return self.draw_many(values, source)

    def draw(self, value: V, source: Source) -> Report:
        """One report with randomness from any source, for simulations and proofs."""
        return self.form.single(self.draw_many([value], source)[0])

    def draw_many(self, values: Any, source: Source) -> Reports:
        """The reports of many users with randomness from any source."""
        return self._respond(self._checked(values), source)

    def law(self, value: V) -> Law[Report]:
        """The exact law of the report of a user with this value, by enumeration if need be."""
        return exact_law(lambda source: self.draw(value, source), residual=0)

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of one report; times n it is that of n independent reports of one user."""
        zero = Enclosure.exact(0)
        return Guarantee(self.epsilon, zero, self.neighbours, self.source, self.e_epsilon)

    def pack(self, reports: Any) -> bytes:
        """Reports on the wire: their concatenated bits, padded with zeros to a whole byte."""
        return pack(self.form, self.form.rows(reports))

    def unpack(self, data: bytes, n: int) -> Reports:
        """The n reports that :meth:`pack` wrote; raises InvalidParameter."""
        return unpack(self.form, data, integer("n", n, least=0))

    def reports_to_bytes(self, reports: Any) -> bytes:
        """A checked file of reports and configuration, read by :meth:`reports_from_bytes`."""
        rows, configuration = self.form.rows(reports), self.fingerprint_text
        return REPORTS.pack({"configuration": configuration, "n": len(rows)}, pack(self.form, rows))

    def reports_from_bytes(self, data: bytes) -> Reports:
        """The reports from a file; raises InvalidParameter for another configuration."""
        payload, n = self._opened(REPORTS, data)
        return unpack(self.form, bytes(payload), n)

    def aggregate(self) -> State:
        """The empty state of a server."""
        return State(self, np.zeros(self.cells, np.int64), 0)

    def state_from_bytes(self, data: bytes) -> State:
        """The state from a file written by :meth:`State.to_bytes`.

        Raises InvalidParameter, also for a state of another mechanism or configuration.
        """
        payload, n = self._opened(STATE, data)
        if len(payload) != 8 * self.cells:
            raise InvalidParameter(
                "state", Described(f"{len(payload)} bytes"), f"{self.cells} counters"
            )
        counts = np.frombuffer(payload, "<i8").astype(np.int64)
        if not self._possible(counts, n):
            raise InvalidParameter(
                "state", Described("inconsistent counters"), f"possible for {n} reports"
            )
        return State(self, counts, n)

    def _require_reports(self, state: State) -> None:
        """Refuse a state of another configuration, and an empty one."""
        if state.mechanism.fingerprint_text != self.fingerprint_text:
            raise InvalidParameter("state", state.mechanism.fingerprint_text, self.fingerprint_text)
        if not state.n:
            raise InvalidParameter("state", Described("no reports"), "at least one report")

    def _opened(self, kind: Kind, data: bytes) -> tuple[memoryview, int]:
        """Payload and number of reports of a file; raises InvalidParameter if it is foreign."""
        header, payload = kind.unpack(data)
        if header["configuration"] != self.fingerprint_text:
            raise InvalidParameter(kind.name, header["configuration"], self.fingerprint_text)
        n = integer("n", header["n"] or 0, least=0)
        if n > _MOST:
            raise InvalidParameter("n", n, "<= 2^62")
        return payload, n

    @cached_property
    def fingerprint_text(self) -> str:
        """The configuration as canonical JSON."""
        named = {"mechanism": type(self).__name__, **self.configuration()}
        return json.dumps(named, separators=(",", ":"), sort_keys=True)

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the configuration; states and reports with different ones do not mix."""
        return hashlib.sha256(self.fingerprint_text.encode()).hexdigest()


class CountedNumbers(LocalMechanism[int]):
    """A mechanism whose report is one number; a state counts how often each number was sent."""

    @cached_property
    def form(self) -> Form:
        return Numbers((self.cells,))

    def _tally(self, reports: Reports) -> Integers:
        return np.bincount(reports, minlength=self.cells).astype(np.int64)

    def _possible(self, counts: Integers, n: int) -> bool:
        return bool((counts >= 0).all()) and int(counts.sum()) == n


def public_fields(mechanism: Any) -> dict[str, str | int]:
    """The constructor parameters of a dataclass, without None, in the format of a configuration."""
    named = ((f.name, getattr(mechanism, f.name)) for f in fields(mechanism) if f.init)
    return {
        name: x if isinstance(x, int | str) else decimal_text(x)
        for name, x in named
        if x is not None
    }


class State:
    """The knowledge of a server: counters and the number n of reports. States can be added.

    The sum of two states is the state of all their reports, independent of their order. The size
    of a state does not depend on the number of reports. Raises InvalidParameter.
    """

    __slots__ = ("counts", "mechanism", "n")

    def __init__(self, mechanism: LocalMechanism[Any], counts: Integers, n: int) -> None:
        if not isinstance(mechanism, LocalMechanism):
            raise InvalidParameter("mechanism", mechanism, "a local mechanism")
        if not isinstance(counts, np.ndarray) or counts.dtype.kind not in "iu":
            raise InvalidParameter("counts", counts, "an array of integers")
        self.mechanism = mechanism
        self.counts = counts
        self.n = integer("n", n, least=0)

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
            raise InvalidParameter("state", theirs, f"a state of {ours}")
        return State(self.mechanism, self.counts + other.counts, self.n + other.n)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, State):
            return NotImplemented
        same = self.mechanism.fingerprint_text == other.mechanism.fingerprint_text
        return same and self.n == other.n and bool((self.counts == other.counts).all())

    def estimate(self, method: str | None = None) -> Any:
        """The mechanism's estimate; raises InvalidParameter before the first report.

        method: one of the mechanism's methods, the first of them by default.
        """
        self.mechanism._require_reports(self)
        chosen = choice("method", method or self.mechanism.methods[0], self.mechanism.methods)
        return self.mechanism._estimate(self.counts, self.n, chosen)

    def to_bytes(self) -> bytes:
        """A checked file, read by the mechanism's state_from_bytes."""
        configuration = self.mechanism.fingerprint_text
        payload = self.counts.astype("<i8").tobytes()
        return STATE.pack({"configuration": configuration, "n": self.n}, payload)
