"""exactdp audit number, one-run and targets: audits without outputs, and the list of targets."""

from __future__ import annotations

import click

from exactdp.cli.audit.group import audit
from exactdp.cli.audit.mechanism import pair
from exactdp.cli.options import json_option, options
from exactdp.cli.output import print_json, print_table
from exactdp.errors import Described, InvalidParameter
from exactdp.progress import counted


@audit.command()
@json_option
def targets(as_json: bool) -> None:
    """List the mechanisms that can be audited by name, and their parameters."""
    from exactdp.audit.targets import TARGETS

    if as_json:
        print_json([{"target": name, "parameters": t.parameters} for name, t in TARGETS.items()])
        return
    rows = [[name, " ".join(t.parameters), t.package] for name, t in TARGETS.items()]
    print_table("", ["target", "parameters", "needs"], rows)


@audit.command(
    epilog="Example: exactdp audit number gaussian --claim sigma=7.4819 "
    "--set epsilon=1 --set delta=1e-15"
)
@click.argument("mechanism")
@click.option("--claim", metavar="NAME=VALUE", help="The stated number, such as sigma=7.48.")
@click.option("--set", "given", multiple=True, metavar="NAME=VALUE", help="A parameter.")
@json_option
def number(mechanism: str, claim: str | None, given: tuple[str, ...], as_json: bool) -> int:
    """Decide whether a stated number is sufficient, and how loose it is.

    MECHANISM: gaussian, gshm or another name of exactdp check, with the options of that command as
    parameters; or a group of conformance vectors (exactdp audit vectors list), with its parameters.
    The number may be a delta, epsilon, sigma, tau or threshold, where the mechanism has it.
    Exits with 0 when the number is proved to be enough, 1 when it is proved not to be enough, and
    3 when this is undecided.
    """
    from exactdp.audit.numbers.claimed import audit_number
    from exactdp.oracle.vectors import group_named

    if claim is None:
        raise InvalidParameter("claim", Described("nothing"), "NAME=VALUE, such as sigma=7.4819")
    quantity, claimed = pair(claim)
    with counted("certifying"):
        found = audit_number(
            mechanism=group_named(mechanism),
            quantity=quantity,
            parameters=dict(pair(text) for text in given),
            claimed=claimed,
        )
    if as_json:
        print_json(found.as_dict())
    else:
        click.echo(found.text())
    return {"unsafe": 1, "undecided": 3}.get(found.verdict, 0)


@audit.command(
    "one-run",
    epilog="Example: exactdp audit one-run --canaries 1000 --guesses 100 --correct 95 "
    "--delta 1e-5 --epsilon 2",
)
@options("canaries guesses correct", "alpha")
@click.option("--delta", metavar="DELTA", default="0", help="delta of the claim (default 0).")
@click.option("--epsilon", metavar="EPSILON", help="The claimed epsilon, to be judged.")
@json_option
def one_run(
    canaries: str, guesses: str, correct: str, alpha: str | None, delta: str, epsilon: str | None,
    as_json: bool,
) -> int:  # fmt: skip
    """Bound epsilon from below by an attack on the canaries of one training run.

    A fair coin flip decides for each canary whether the training data include it. The attacker then
    guesses a number of coin flips that was fixed in advance. The first bound is on epsilon of any
    training, the second on mu, and on its epsilon, of training that is mu-GDP. Exits 1 if --epsilon
    is refuted, else 0.
    """
    from exactdp.audit import one_run as bound

    found = bound(
        canaries=canaries, guesses=guesses, correct=correct, delta=delta, alpha=alpha or "0.01"
    )
    refuted = epsilon is not None and found.refutes(epsilon)
    if as_json:
        judged = {} if epsilon is None else {"epsilon": epsilon, "violation": refuted}
        print_json(found.as_dict() | judged)
    else:
        click.echo(found.verdict)
        if epsilon is not None:
            click.echo(f"epsilon = {epsilon}: {'violation' if refuted else 'not refuted'}")
    return 1 if refuted else 0
