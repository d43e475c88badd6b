"""exactdp audit number, one-run and targets: audits without outputs, and the list of targets."""

from __future__ import annotations

import click

from exactdp.cli import parameters as opt
from exactdp.cli.answers import Answer, answering, table
from exactdp.cli.audit.group import audit
from exactdp.cli.audit.mechanism import pair
from exactdp.cli.options import options
from exactdp.errors import Described, InvalidParameter
from exactdp.progress import counted


@audit.command()
@answering
def targets() -> Answer:
    """List the mechanisms that can be audited by name, and their parameters."""
    from exactdp.audit.targets import TARGETS

    rows = [[name, " ".join(t.parameters), t.package] for name, t in TARGETS.items()]
    return Answer(
        [{"target": name, "parameters": t.parameters} for name, t in TARGETS.items()],
        table(f"{len(rows)} targets", ["target", "parameters", "needs"], rows),
    )


@audit.command(
    epilog="Example: exactdp audit number gaussian --claim sigma=7.4819 "
    "--set epsilon=1 --set delta=1e-15"
)
@click.argument("mechanism")
@click.option("--claim", metavar="NAME=VALUE", help="The stated number, such as sigma=7.48.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A parameter.")
@answering
def number(mechanism: str, claim: str | None, settings: tuple[str, ...]) -> Answer:
    """Decide whether a stated number is sufficient, and how loose it is.

    MECHANISM: gaussian, gshm or another name of exactdp check, with the options of that command as
    parameters; or a group of conformance vectors (exactdp audit vectors list), with its parameters.
    The number may be a delta, epsilon, sigma, tau, threshold, mu, or the power of the best attack
    at a rate of false alarms, where the mechanism has it.
    Exits with 0 when the number is proved to be enough, 1 when it is proved not to be enough, and
    3 when this is undecided.
    """
    from exactdp.audit.numbers.claimed import audit_number

    if claim is None:
        raise InvalidParameter("claim", Described("nothing"), "NAME=VALUE, such as sigma=7.4819")
    quantity, claimed = pair(claim)
    with counted("certifying"):
        result = audit_number(
            mechanism=mechanism,
            quantity=quantity,
            parameters=dict(pair(text) for text in settings),
            claimed=claimed,
        )
    code = {"unsafe": 1, "undecided": 3}.get(result.verdict, 0)
    return Answer(result.as_dict(), result.text(), code)


@audit.command(
    "one-run",
    epilog="Example: exactdp audit one-run --canaries 1000 --guesses 100 --correct 95 "
    "--delta 1e-5 --epsilon 2",
)
@options(opt.CANARIES, opt.GUESSES, opt.CORRECT, optional=(opt.ALPHA,))
@click.option("--delta", metavar="DELTA", default="0", help="delta of the claim (default 0).")
@click.option("--epsilon", metavar="EPSILON", help="The claimed epsilon, to be judged.")
@answering
def one_run(
    canaries: str, guesses: str, correct: str, alpha: str | None, delta: str, epsilon: str | None
) -> Answer:
    """Bound epsilon from below by an attack on the canaries of one training run.

    A fair coin flip decides for each canary whether the training data include it. The attacker then
    guesses a number of coin flips that was fixed in advance. The first bound is on epsilon of any
    training, the second on mu, and on its epsilon, of training that is mu-GDP. Exits 1 if --epsilon
    is refuted, else 0.
    """
    from exactdp.audit import one_run as bound

    result = bound(
        canaries=canaries, guesses=guesses, correct=correct, delta=delta, alpha=alpha or "0.01"
    )
    if epsilon is None:
        return Answer(result.as_dict(), result.verdict)
    refuted = result.refutes(epsilon)
    judged = f"epsilon = {epsilon}: {'violation' if refuted else 'not refuted'}"
    data = {**result.as_dict(), "epsilon": epsilon, "violation": refuted}
    return Answer(data, f"{result.verdict}\n{judged}", int(refuted))
