"""Compressive privatization: fewer outputs than values, and sparse recovery on the server.

Source: Xiong et al., "Compressive Privatization" (CP).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from exactdp.errors import InvalidParameter
from exactdp.fields import Number, frozen, number, whole
from exactdp.local.mechanism import public_fields
from exactdp.local.public_matrices import BalancedColumns, PublicColumns
from exactdp.local.ratio import local_epsilon, ratio_within
from exactdp.local.recovery_certificate import Certificate
from exactdp.local.set_law import SetLaw
from exactdp.parameters import Real, decimal_text


class SetResponse(SetLaw):
    """A response by public sets of outputs, with a proved error of recovered shares."""

    def accuracy(self, beta: Real, support: Sequence[int], users: int) -> float:
        """A bound of the l1 error of the shares of these values, all other shares being 0.

        The bound fails with probability at most beta. users: number of reports; use other reports
        than those from which the support was found. Raises InvalidParameter for a support with too
        many values.
        """
        return Certificate.of(self, support).l1(users, beta)


@frozen
class CompressiveResponse(SetResponse):
    """Compressive response with random sets of equal size, drawn from a public seed.

    k: values are 0 to k - 1. m: number of outputs; a small multiple of s log(k/s) suffices for a
    distribution on s values. epsilon: of one report. seed: public integer >= 0, the same for all
    users and the server. ones: size of each set; by default near m/(r + 1), which minimizes the
    noise for every epsilon (the paper has m/2 for high and m/r for medium privacy). As all sets
    have the same size, r is e^epsilon up to twelve digits. Raises InvalidParameter.
    Source: CP, Section 2 with beta = 0.

    >>> from exactdp.local import CompressiveResponse
    >>> from exactdp.samplers import SystemSource
    >>> m = CompressiveResponse(k=1000, m=100, epsilon=1, seed=7)
    >>> state = m.aggregate().add(m.report_many([3, 3, 3, 500] * 10_000, SystemSource()))
    >>> estimate = state.estimate()
    >>> m.bits, int(estimate.argmax())
    (7, 3)
    """

    k: int = whole(least=2)
    m: int = whole(least=2)
    epsilon: Number = number(local_epsilon)
    seed: int = whole(least=0, default=0)
    ones: int = whole(least=1, default=None)
    columns: PublicColumns = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.ones is None:
            within = ratio_within(self.epsilon)
            object.__setattr__(self, "ones", max(round(self.m / (within + 1)), 1))
        columns = BalancedColumns(self.k, self.m, self.seed, self.ones)
        object.__setattr__(self, "columns", columns)

    def configuration(self) -> Mapping[str, str | int]:
        """The public parameters, and r."""
        return {**public_fields(self), "ratio": str(self.ratio)}


@frozen
class MatrixResponse(SetResponse):
    """Compressive response for any public matrix: random, Hadamard, or given.

    columns: the sets, from exactdp.local.public_matrices. epsilon: of one report.
    Raises InvalidParameter. Source: CP, Sections 2 and 4.

    >>> from exactdp.local import MatrixResponse
    >>> from exactdp.local.public_matrices import RandomColumns
    >>> m = MatrixResponse(RandomColumns(k=1000, m=100, seed=7), epsilon=1)
    >>> round(float(m.ratio), 6), round(float(m.e_epsilon), 6)
    (2.149681, 2.718282)
    """

    columns: PublicColumns
    epsilon: Number = number(local_epsilon)

    def __post_init__(self) -> None:
        if not isinstance(self.columns, PublicColumns):
            allowed = "a matrix from exactdp.local.public_matrices, such as GivenColumns(entries)"
            raise InvalidParameter("columns", self.columns, allowed)
        _ = self.columns.sizes

    def configuration(self) -> Mapping[str, str | int]:
        """The parameters of the matrix, and r."""
        epsilon = decimal_text(self.epsilon)
        matrix = {"k": self.columns.k, **self.columns.configuration()}
        return {**matrix, "epsilon": epsilon, "ratio": str(self.ratio)}
