"""Laplace noise on doubles, added to a one-hot vector: what the last bits of an entry tell.

The own entry is 1 plus noise. Where it lies between -1/4 and 1/4, the noise lies between -5/4 and
-3/4, so it is a multiple of 2^-53, and the sum is exact: a multiple as well, always. Any other
entry is noise alone, which near 0 has finer bits. Source: Mironov 2012.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module, util
from importlib.metadata import version
from typing import Any

#: Between these ends the own entry is a multiple of the unit.
_END, _UNIT = 0.25, 2.0**-53

_HEAD = """\
### Histogram encoding on doubles

On real numbers Laplace noise of scale 2/epsilon keeps epsilon; on doubles it does not (Mironov
2012). The own entry is 1 plus noise: where that lies between -1/4 and 1/4, the noise is a multiple
of 2^-53, and so is the entry, always. Any other entry is noise alone, and seldom such a multiple:
an entry there that is none is impossible for the own value.
"""


@dataclass(frozen=True)
class NoisyVector:
    """A client that sends a vector of doubles. line: Python that makes it for epsilon 1, k = 2."""

    package: str
    name: str
    module: str
    line: str
    make: Callable[[Any], Callable[[int], Any]]

    def installed(self) -> bool:
        """Whether the client's library is installed."""
        return util.find_spec(self.package.replace("-", "_")) is not None

    def counts(self, runs: int) -> tuple[int, int]:
        """The numbers of reports whose entry 0 is revealing: with value 0, and with value 1."""
        send = self.make(import_module(self.module))
        own, other = (sum(is_revealing(send(value)[0]) for _ in range(runs)) for value in (0, 1))
        return own, other

    def row(self) -> str:
        """The row of this client in the table of clients."""
        library = f"{self.package} {version(self.package)}"
        return f"| {library} | {self.name}, as doubles | 1 | infinite | **broken** |"

    def reproduction(self) -> str:
        """Five lines of Python that show the leak."""
        kind = self.name.partition(",")[0]
        return f"""\
from {self.module} import {kind}
{self.line}
entries = [[send(value)[0] for _ in range(20_000)] for value in (0, 1)]
revealing = [[abs(x) < 0.25 and x * 2**53 % 1 != 0 for x in each] for each in entries]
print([sum(each) for each in revealing])  # 0 for the own value, about 2000 for another one
"""


def is_revealing(entry: float) -> bool:
    """Whether the last bits of an entry show that it is not the entry of the user's value."""
    return bool(abs(entry) < _END and entry / _UNIT % 1 != 0)


def section(runs: int, at_least: Callable[[int, int], float]) -> Iterator[str]:
    """The lines about installed clients. at_least: a lower bound on epsilon from two counts."""
    clients = [client for client in CLIENTS if client.installed()]
    if clients:
        yield _HEAD
    for client in clients:
        own, other = client.counts(runs)
        yield (
            f"{client.package}, {client.name}: {own} times for the own value, {other} times for "
            f"another one in {runs} runs each, so at least epsilon = {at_least(other, own):.4g}, "
            "but for a chance of 1e-6."
        )
        yield from ("", "```python", client.reproduction().rstrip(), "```", "")


def _pure(module: Any) -> Callable[[int], Any]:
    send: Callable[[int], Any] = module.HEClient(1.0, 2, index_mapper=int).privatise
    return send


def _multi(module: Any) -> Callable[[int], Any]:
    return lambda value: module.HE_Client(value, 2, 1.0)


def _toolbox(module: Any) -> Callable[[int], Any]:
    client = module.HistogramEncoding(2, 1.0, thresholding=False)
    send: Callable[[int], Any] = client.obfuscate
    return send


CLIENTS = (
    NoisyVector(
        "pure-ldp",
        "HEClient",
        "pure_ldp.frequency_oracles.histogram_encoding.he_client",
        "send = HEClient(1.0, 2, index_mapper=int).privatise",
        _pure,
    ),
    NoisyVector(
        "multi-freq-ldpy",
        "HE_Client",
        "multi_freq_ldpy.pure_frequency_oracles.HE",
        "send = lambda value: HE_Client(value, 2, 1.0)",
        _multi,
    ),
    NoisyVector(
        "ldp-toolbox",
        "HistogramEncoding, no threshold",
        "ldp_toolbox.protocols.frequency.he",
        "send = HistogramEncoding(2, 1.0, thresholding=False).obfuscate",
        _toolbox,
    ),
)
