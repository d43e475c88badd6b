"""Local clients of other libraries: is the epsilon they state what their reports lose?

White box: the exact law of every client for every value. What is broken is confirmed by running the
client as it is, on its own random numbers. Black box, where these cannot be replaced: OpenDP's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from importlib import util
from importlib.metadata import version
from typing import Any

import numpy as np

from exactdp.audit.bounds.binomial import lower, upper
from vectors.clients import doubles
from vectors.clients.laws import Loss, client_law, loss, plain
from vectors.clients.published import CLIENTS, Client

#: Relative excess of e^epsilon that is put down to the rounding of probabilities.
_ROUNDING = Fraction(1, 10**9)

#: Runs of a client as it is, and the probability that a bound from them is wrong.
_RUNS, _ALPHA = 20_000, Fraction(1, 10**6)

_HEAD = """\
## Clients of local privacy

Each client's own code, with its random numbers replaced by choices that are enumerated
(`vectors/clients/laws.py`): the exact law of what it sends for every value, and the largest ratio
of two probabilities of one report. Values of clients of several attributes are tuples, any two of
which a user may have: random sampling plus fake data (RSpFD) keeps epsilon where they differ in one
attribute, and loses ln(d (e^epsilon - 1) + 1) where they differ in all d. Its clients do what the
paper says (Arcolezi et al. 2021): the amplified budget is the paper's, and so is what is lost. Even
where epsilon is kept on paper, these libraries draw with Mersenne Twisters, whose future is known
to whoever has seen 624 outputs; the estimators of multi-freq-ldpy and ldp-toolbox set negative
frequencies to 0 and are biased. Local hashing of all three fails with the current xxhash (4.1),
which takes no texts any more: it is followed with texts as bytes, and with eight public hash
functions instead of 2^63.
Histogram encoding is followed with real numbers as noise; its doubles are looked at apart.
OpenDP's bits are drawn in compiled code, by the operating system's randomness: at least what is
shown is lost, but for a chance of 1e-6. Its f is documented as the chance that a bit is flipped,
which is f/2, as its map has it.

| library | client | states epsilon | loses epsilon | verdict |
|---|---|---:|---:|---|"""

_REPRODUCTIONS = {
    "RAPPORClient": """\
from pure_ldp.frequency_oracles.rappor.rappor_client import RAPPORClient
client = RAPPORClient(0.5, 2, [[int]], 1, index_mapper=int)  # f = 0.5, a value is its own hash
shown = [min(client.privatise(value)[0][0] for _ in range(10_000)) for value in (0, 1)]
print(shown)  # bit 0 of value 0 is never 0, where f/2 = 1/4 of the reports should have it
""",
    "SS_Client": """\
from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Client
reports = [[list(SS_Client(value, 5, 0.5)) for _ in range(10_000)] for value in (0, 1)]
behind = [sum(0 in report[1:] for report in each) for each in reports]
print(behind)  # value 0 is in the report, but not first: never, where the user's value is 0
""",
    "RSpFD_GRR_Client": """\
from multi_freq_ldpy.mdim_freq_est.RSpFD_solution import RSpFD_GRR_Client
draw = lambda user: [RSpFD_GRR_Client(user, [2, 2], 2, 1.0) for _ in range(20_000)]
own, other = (draw(user).count([0, 0]) for user in ([0, 0], [1, 1]))
print(own / other)  # about 4.44 = 2 (e - 1) + 1, where e = 2.72 is stated
""",
    "RSpFD_ADP_Client": """\
from multi_freq_ldpy.mdim_freq_est.RSpFD_solution import RSpFD_ADP_Client
draw = lambda user: [RSpFD_ADP_Client(user, [2, 2], 2, 1.0) for _ in range(20_000)]
own, other = (draw(user).count([0, 0]) for user in ([0, 0], [1, 1]))
print(own / other)  # about 4.44 = 2 (e - 1) + 1, where e = 2.72 is stated
""",
    "RSpFD_UE_zero_Client": """\
import numpy as np
from multi_freq_ldpy.mdim_freq_est.RSpFD_solution import RSpFD_UE_zero_Client as client
draw = lambda user: [np.ravel(client(user, [2, 2], 2, 1.0)).tolist() for _ in range(20_000)]
own, other = (draw(user).count([1, 0, 1, 0]) for user in ([0, 0], [1, 1]))
print(own / other)  # about 4.44 = 2 (e - 1) + 1, where e = 2.72 is stated
""",
    "RSpFD_UE_rnd_Client": """\
import numpy as np
from multi_freq_ldpy.mdim_freq_est.RSpFD_solution import RSpFD_UE_rnd_Client as client
draw = lambda user: [np.ravel(client(user, [2, 2], 2, 1.0)).tolist() for _ in range(20_000)]
own, other = (draw(user).count([1, 0, 1, 0]) for user in ([0, 0], [1, 1]))
print(own / other)  # about 4.44 = 2 (e - 1) + 1, where e = 2.72 is stated
""",
}


def examined(client: Client) -> Loss:
    """The privacy loss of a client's reports, from their exact laws."""
    modules = client.loaded()
    return loss([client_law(client.reporting(value), modules) for value in client.values])


def section() -> str:
    """The part of the conformance page, for the libraries that are installed."""
    installed = [c for c in CLIENTS if util.find_spec(c.package.replace("-", "_")) is not None]
    losses = [(client, examined(client)) for client in installed]
    if not losses:
        return ""
    lines = [_HEAD, *(_row(client, lost) for client, lost in losses), *_opendp()]
    lines += [*(vector.row() for vector in doubles.CLIENTS if vector.installed()), ""]
    for client, lost in losses:
        if not _kept(client, lost):
            lines += _broken(client, lost)
    lines += doubles.section(_RUNS, _at_least)
    return "\n".join(lines)


def _kept(client: Client, lost: Loss) -> bool:
    stated = Fraction(math.exp(client.epsilon)) * (1 + _ROUNDING)
    return lost.ratio is not None and lost.ratio <= stated


def _row(client: Client, lost: Loss) -> str:
    measured = "infinite" if lost.ratio is None else f"{math.log(lost.ratio):.6g}"
    verdict = "kept, up to rounding" if _kept(client, lost) else "**broken**"
    library = f"{client.package} {version(client.package)}"
    return f"| {library} | {client.name} | {client.epsilon:.6g} | {measured} | {verdict} |"


def _broken(client: Client, lost: Loss) -> Iterator[str]:
    """The report with the largest ratio, by the exact laws and by runs of the client as it is."""
    one, other = (client.values[place] for place in lost.values)
    counts = [_count(client.reporting(value), lost.report) for value in (one, other)]
    yield f"### {client.package}: {client.name}"
    yield ""
    if lost.ratio is None:
        yield f"The report {lost.report} is possible for value {one} and impossible for {other}."
    else:
        stated = math.exp(client.epsilon)
        yield (
            f"The report {lost.report} is {float(lost.ratio):.6g} times as likely for value {one} "
            f"as for {other}; e^epsilon is {stated:.6g}."
        )
    yield (
        f"In {_RUNS} runs of the client as it is: {counts[0]} times for {one}, {counts[1]} times "
        f"for {other}, so at least epsilon = {_at_least(*counts):.4g}, but for a chance of 1e-6."
    )
    code = _REPRODUCTIONS.get(client.name)
    if code is not None:
        yield from ("", "```python", code.rstrip(), "```")
    yield ""


def _opendp() -> Iterator[str]:
    """The row of OpenDP's RAPPOR on two bits: f = 1/2 gives epsilon = 2 ln 3 for weight 1."""
    if util.find_spec("opendp") is None:
        return
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.bitvector_domain(max_weight=1), dp.discrete_distance()
    measurement: Any = dp.m.make_randomized_response_bitvec(*space, f=0.5)
    own, other = np.packbits([1, 0]), np.packbits([0, 1])
    counts = [
        sum(measurement(bits)[0] >> 6 == own[0] >> 6 for _ in range(_RUNS)) for bits in (own, other)
    ]
    stated, least = float(measurement.map(1)), _at_least(*counts)
    verdict = "not refuted" if least <= stated else "**broken**"
    name = "make_randomized_response_bitvec, one bit of two"
    library = f"opendp {version('opendp')}"
    yield f"| {library} | {name} | {stated:.6g} | >= {least:.4g} | {verdict} |"


def _at_least(often: int, rarely: int) -> float:
    """A lower bound on epsilon from the counts of one report in runs for two values."""
    least, most = lower(often, _RUNS, _ALPHA / 2), upper(rarely, _RUNS, _ALPHA / 2)
    return math.log(least / most) if least > most else 0.0


def _count(client: Callable[[], Any], report: Any) -> int:
    return sum(plain(client()) == report for _ in range(_RUNS))
