"""What of an audit must survive a kill."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from exactdp.audit.blackbox.tally import Done, Tally
from exactdp.audit.events.event import Event

__all__ = ["Chosen", "State"]


@dataclass(frozen=True)
class Chosen:
    """An event to confirm: the side it favours, its share of the error budget, what to expect."""

    event: Event
    direction: str
    share: Fraction
    few: bool = False

    def as_dict(self) -> dict[str, Any]:
        """For the checkpoint."""
        return {
            "event": self.event.as_dict(),
            "direction": self.direction,
            "share": str(self.share),
            "few": self.few,
        }

    @classmethod
    def from_dict(cls, entry: dict[str, Any]) -> Chosen:
        """What as_dict() wrote."""
        event, share = Event.from_dict(entry["event"]), Fraction(entry["share"])
        return cls(event, entry["direction"], share, entry["few"])


@dataclass
class State:
    """What must survive a kill."""

    look: int = 0
    drawn: int = 0
    chosen: list[Chosen] = field(default_factory=list)
    sizes: dict[str, int] = field(default_factory=dict)
    largest: int = 8192
    tallies: dict[Event, Tally] = field(default_factory=dict)
    done: Done = field(default_factory=Done)
    ready: bool = False  # this look's events are chosen
    warning: str = ""
    one_by_one: bool = False  # run starts every call from the same seed
    values: dict[str, str] = field(default_factory=dict)  # of a side: its one value, "" for more
    looked: dict[str, int] = field(default_factory=dict)  # kinds of features: how many there were

    def note_value(self, side: str, value: str) -> None:
        """Keep the one value that outputs of a side have had so far."""
        self.values[side] = value if self.values.get(side, value) == value else ""

    def as_dict(self) -> dict[str, Any]:
        return {
            "look": self.look,
            "drawn": self.drawn,
            "chosen": [one.as_dict() for one in self.chosen],
            "sizes": self.sizes,
            "largest": self.largest,
            "tallies": [[e.as_dict(), t.as_list()] for e, t in self.tallies.items()],
            "done": self.done.as_list(),
            "ready": self.ready,
            "warning": self.warning,
            "one_by_one": self.one_by_one,
            "values": self.values,
            "looked": self.looked,
        }

    @classmethod
    def from_dict(cls, entry: dict[str, Any]) -> State:
        return cls(
            entry["look"],
            entry["drawn"],
            [Chosen.from_dict(one) for one in entry["chosen"]],
            entry["sizes"],
            entry["largest"],
            {Event.from_dict(e): Tally(*numbers) for e, numbers in entry["tallies"]},
            Done.from_list(entry["done"]),
            entry["ready"],
            entry["warning"],
            entry["one_by_one"],
            entry["values"],
            entry["looked"],
        )
