"""The privacy loss of all releases of a statement, for the risk of attacks."""

from __future__ import annotations

from exactdp.accounting import pld
from exactdp.errors import Described, InvalidParameter
from exactdp.statement.document import Statement
from exactdp.statement.releases import NEIGHBOURS, loss_of


def loss_of_all(statement: Statement) -> pld.Pld:
    """The loss of all releases together; where only rho is known of one, that of the first claim.

    Claims of epsilon and delta stand for the worst mechanism that keeps them. The claims are not
    checked here. Raises InvalidParameter for a statement without such a claim.
    """
    fields = statement.fields
    relation = fields["unit"]["neighbours"]
    loss = loss_of(fields["releases"], relation)
    if loss is not None:
        return loss
    claims = statement.delta_claims()
    if not claims:
        raise InvalidParameter("statement", Described("rho alone"), "one with a claim of a delta")
    epsilon, delta = claims[0]
    text = NEIGHBOURS.get(relation, pld.REPLACE_ONE)
    return pld.approximate(epsilon=epsilon, delta=delta, neighbours=text)
