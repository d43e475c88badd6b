"""What an audit found: as text, as JSON, as a self-contained page; and how to see it again."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

from tabulate import tabulate

from exactdp import __version__
from exactdp.audit.bounds import binomial
from exactdp.audit.outputs.event import Event
from exactdp.audit.promises import Promise, read
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
from exactdp.parameters import choice, decimal_text, delta_target, rational

_DIGITS = 6
_SIDES = ("left", "right")


@dataclass(frozen=True)
class AuditReport:
    """What an audit found.

    violation: whether the promise is broken, with confidence 1 - alpha over the whole audit.
    bounds: privacy parameter -> at least this, with that confidence; rounded down. "epsilon" (at
        the promised delta, or at 0), "delta" (at the promised epsilon), "rho" of zCDP, "mu" of
        Gaussian DP, "renyi" (at the promised alpha), "excess" (over a promised curve).
    event, direction: the outputs that show it, and the side ("left" or "right") they favour.
    counts: side -> (hits, trials) of the event among outputs that were not used to find it.
    samples: outputs drawn in all. looks: how often the counts were judged.
    few: whether few hits were expected on the other side. warning: "" or why not to trust this.
    looked_at: kind of property -> how many of it were looked at, to find events; see
        exactdp.audit.outputs.features. Empty where the events were given.
    basis: how a violation was counted again before it was stated, and what that takes for granted.
    """

    violation: bool
    promise: Promise
    bounds: dict[str, Fraction]
    event: Event
    direction: str
    counts: dict[str, tuple[int, int]]
    samples: int
    alpha: Fraction
    looks: int = 1
    few: bool = False
    seconds: float = 0.0
    warning: str = ""
    basis: str = ""
    looked_at: dict[str, int] = field(default_factory=dict)

    @property
    def epsilon_lower(self) -> Fraction:
        """bounds["epsilon"]."""
        return self.bounds["epsilon"]

    @property
    def delta_lower(self) -> Fraction:
        """bounds["delta"]; raises InvalidParameter where the promise is not (epsilon, delta)."""
        if "delta" not in self.bounds:
            raise InvalidParameter("promise", self.promise.text, "(epsilon, delta); see bounds")
        return self.bounds["delta"]

    @property
    def verdict(self) -> str:
        """One sentence."""
        promise = self.promise.text
        if self.violation:
            return f"violation: not {promise}, with confidence {_text(1 - self.alpha)}"
        return f"no violation found of being {promise}, with {self.samples} outputs"

    def as_dict(self) -> dict[str, Any]:
        """The report as JSON types; numbers are decimal strings, bounds rounded down."""
        written = {name: write(getattr(self, name)) for name, (write, _) in _FIELDS.items()}
        return {
            "verdict": "violation" if self.violation else "no violation found",
            **written,
            "event_text": str(self.event),
            "version": __version__,
        }

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any]) -> AuditReport:
        """The report that as_dict() wrote, to be replayed."""
        try:
            values = {name: read(entry[name]) for name, (_, read) in _FIELDS.items()}
            return cls(violation=entry["verdict"] == "violation", **values)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise InvalidParameter("report", entry, "what AuditReport.as_dict() returns") from error

    def text(self) -> str:
        """The report as a table for people."""
        lines = [self.verdict, ""]
        lines += [f"event ({self.direction} side favoured): {self.event}"]
        lines += [tabulate(self._rows(), headers=_HEADERS, disable_numparse=True), ""]
        lines += self._reached()
        return "\n".join(lines + ([f"warning: {self.warning}"] if self.warning else []))

    def html(self) -> str:
        """The report as a page that needs no network and no other file."""
        page = Template(files(__package__).joinpath("report.html").read_text(encoding="utf-8"))
        cells = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
            for row in self._rows()
        )
        return page.substitute(
            verdict=escape(self.verdict),
            state="violation" if self.violation else "nothing",
            event=escape(str(self.event)),
            direction=self.direction,
            headers="".join(f"<th>{name}</th>" for name in _HEADERS),
            rows=cells,
            reached="".join(f"<li>{escape(line)}</li>" for line in self._reached()),
            warning=f'<p class="warning">{escape(self.warning)}</p>' if self.warning else "",
            replay=escape(self._recipe()),
            json=escape(json.dumps(self.as_dict(), indent=2)),
            version=escape(__version__),
        )

    def _rows(self) -> list[list[str]]:
        return [[side, *_row(*self.counts[side])] for side in _SIDES]

    def _reached(self) -> list[str]:
        return [
            *(f"{self.promise.named(name)}: >= {_text(self.bounds[name])}" for name in self.bounds),
            f"confidence {_text(1 - self.alpha)}, {self.samples} outputs, "
            f"{self.looks} {'look' if self.looks == 1 else 'looks'}, {self.seconds:.1f} s",
            self.basis or "not counted again: the bounds take outputs to be independent",
            *([] if self.violation else [self._covered()]),
        ]

    def _covered(self) -> str:
        kinds = ", ".join(f"{kind} {many}" for kind, many in self.looked_at.items())
        if not kinds:
            return "looked at the given events only"
        many = sum(self.looked_at.values())
        return f"looked at {many} properties of outputs, and no further: {kinds}"

    def _recipe(self) -> str:
        return (
            "import json\n"
            "from exactdp.audit import AuditReport, replay\n"
            'report = AuditReport.from_dict(json.load(open("report.json")))\n'
            f"print(replay(report, run, left, right, samples={max(self.samples, 100)}).text())"
        )


_HEADERS = ["side", "hits", "outputs", "share", "95 % interval"]


#: Field -> how it is written as JSON, and read.
_FIELDS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "promise": (lambda promise: promise.as_dict(), read),
    "bounds": (
        lambda bounds: {name: decimal_text(value) for name, value in bounds.items()},
        lambda entry: {name: rational(name, value) for name, value in entry.items()},
    ),
    "alpha": (decimal_text, lambda entry: delta_target("alpha", entry)),
    "event": (lambda event: event.as_dict(), Event.from_dict),
    "direction": (str, lambda entry: choice("direction", entry, _SIDES)),
    "counts": (
        lambda counts: {side: {"hits": k, "trials": n} for side, (k, n) in counts.items()},
        lambda entry: {s: (int(entry[s]["hits"]), int(entry[s]["trials"])) for s in _SIDES},
    ),
    "few": (bool, bool),
    "samples": (int, int),
    "looks": (int, int),
    "seconds": (lambda seconds: round(seconds, 3), float),
    "warning": (str, str),
    "basis": (str, str),
    "looked_at": (dict, lambda entry: {str(kind): int(n) for kind, n in entry.items()}),
}


def _row(hits: int, trials: int) -> list[str]:
    if not trials:
        return ["0", "0", "", ""]
    low, high = binomial.interval(hits, trials, "0.05")
    ends = Enclosure(low, high)
    interval = f"[{ends.decimal_lower(4)}, {ends.decimal_upper(4)}]"
    return [str(hits), str(trials), f"{hits / trials:.4g}", interval]


def _text(value: Fraction) -> str:
    """A number with a few digits, rounded down."""
    return Enclosure.exact(value).decimal_lower(_DIGITS)
