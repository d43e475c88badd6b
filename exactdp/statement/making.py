"""Statements about losses, guarantees and calculators, and about two statements together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from exactdp import __version__
from exactdp.accounting import pld
from exactdp.accounting.calculator import Calculator, calculator
from exactdp.accounting.discrete_gshm import DiscreteGshm
from exactdp.accounting.guarantee import Guarantee
from exactdp.accounting.interop.opacus import CertifiedAccountant
from exactdp.accounting.interop.reading import loss_of
from exactdp.accounting.pld.calculators import loss_of as loss_of_calculator
from exactdp.errors import Described, InvalidParameter, Undecided
from exactdp.parameters import Real, exact_text, non_negative, truth
from exactdp.statement.claims import claims_of
from exactdp.statement.composing import attained
from exactdp.statement.document import Statement
from exactdp.statement.promises import PROMISED, Content, budgeted, facts_of, promised
from exactdp.statement.releases import LAWS, neighbours_of, number, releases_of

__all__ = ["calculated", "imported", "of", "released"]

#: Parameters of these calculators for which a statement has no field.
_UNNAMED = {"analysis", "correlation", "contributions"}

#: The bound of a discrete histogram may exceed the library's delta by this share.
_SHARP = Fraction(1, 100)

_SAMPLES = (
    "Each user takes part in each run of a sampled mechanism with its rate, independently of other "
    "users and runs, and the samples are secret."
)
_NOT_SHOWN = (
    "That the program draws this noise, with independent randomness that nobody can predict.",
    "That the data of one user are bounded as stated, where a bound is not marked as checked.",
)


def of(
    what: pld.Pld | Guarantee | pld.Budget,
    *,
    epsilon: Real | None = None,
    delta: Real | None = None,
    order: Real | None = None,
    type_one: Real | None = None,
    rho: bool = False,
    mu: bool = False,
    one_pair: bool = False,
    unit: str = "user",
    bounds: Sequence[Mapping[str, Any]] = (),
    about: Mapping[str, str] | None = None,
) -> Statement:
    """The statement about a privacy loss, a guarantee, or a budget.

    what: a loss of `exactdp.accounting.pld`, the guarantee of a release, or a budget: its limit is
    claimed, from every expense so far and what is left. Each of the following adds a claim about a
    loss; a guarantee and a budget have their own claim.
    epsilon: >= 0, claims the delta there. delta: >= 0 and < 1, claims an epsilon with at most this
    delta. order: > 1, claims the Renyi divergence. type_one: >= 0 and <= 1, claims the least type
    II error of a test between neighbours with this type I error. rho, mu: claim those of zCDP and
    Gaussian differential privacy.
    one_pair: you state that one pair of neighbours attains all runs of a loss. Without it, a loss
    of several runs has no bounds from below: the steps of a training run have such a pair, two
    counts of disjoint groups have none, because no user is in both.
    unit: whose data neighbours differ in. bounds: on the data of one unit, with the fields `what`,
    `at_most` and `checked`. about: further facts for readers, which no checker uses.
    Every claim has the sharpest number that the checker proves, which is compared with the
    enclosure of the library. Raises InvalidParameter, Undecided.

    >>> from exactdp import statement
    >>> from exactdp.accounting import pld
    >>> s = statement.of(pld.gaussian(sigma=10).composed(100), epsilon=1)
    >>> s.fields["claims"][0]["at_most"], s.check().verdict
    ('0.1269367376', 'valid')
    """
    for name, value in {"rho": rho, "mu": mu, "one_pair": one_pair}.items():
        truth(name, value)
    if isinstance(what, Guarantee | pld.Budget):
        options = (epsilon, delta, order, type_one, rho or None, mu or None, one_pair or None)
        if any(value is not None for value in options):
            combination = Described(f"a {type(what).__name__} and another claim")
            raise InvalidParameter("what", combination, "a loss, for claims that are chosen here")
        content = promised(what) if isinstance(what, Guarantee) else budgeted(what)
        return _assemble(content, unit, bounds, about)
    if not isinstance(what, pld.Pld):
        allowed = "a loss of exactdp.accounting.pld, a Guarantee or a Budget"
        raise InvalidParameter("what", Described(type(what).__name__), allowed)
    releases, relation = releases_of(what), neighbours_of(what.neighbours)
    claims = claims_of(
        releases,
        relation,
        one_pair=one_pair,
        epsilon=epsilon,
        delta=delta,
        order=order,
        type_one=type_one,
        rho=rho,
        mu=mu,
    )
    premises = [what.neighbours, f"Proofs: {what.source}."]
    return _assemble(Content(releases, claims, premises, one_pair), unit, bounds, about)


def calculated(
    name: str,
    *,
    unit: str = "user",
    bounds: Sequence[Mapping[str, Any]] = (),
    about: Mapping[str, str] | None = None,
    **parameters: Any,
) -> Statement:
    """The statement about delta of a calculator.

    name: of the calculator, as on the command line. parameters: those of its `delta`.
    unit, bounds, about: as in :func:`of`. The checker recomputes delta of the mechanisms that have
    a rule (noise, randomised response, "gshm", "discrete-gshm", "csh" with the default
    correlation); of others the statement holds the promise alone, and says so.
    Raises InvalidParameter, Undecided.

    >>> from exactdp import statement
    >>> s = statement.calculated("gshm", k=10, sigma=40, tau=180, epsilon="0.3")
    >>> s.fields["claims"][0]["at_most"]
    '3.397621177e-5'
    """
    instance = calculator(name)(**parameters)
    values = {each: value for each, value in parameters.items() if value is not None}
    if values.get("analysis") == "exact":
        del values["analysis"]
    relation, releases = neighbours_of(instance.neighbours), _releases(instance)
    named = releases and not values.keys() & _UNNAMED
    claims = _recomputed(instance, releases, relation) if named else []
    if not claims:
        texts = {each: exact_text(each, value) for each, value in values.items()}
        facts = {"mechanism": name, **texts}
        return _assemble(promised(instance.guarantee()), unit, bounds, {**facts, **(about or {})})
    premises = [instance.neighbours, f"Proof: {instance.source}."]
    return _assemble(Content(releases, claims, premises), unit, bounds, about)


def _releases(instance: Calculator) -> list[dict[str, Any]]:
    """The releases of a mechanism whose delta the checker recomputes; none of others."""
    if isinstance(instance, DiscreteGshm):  # its loss at other epsilons is not known
        sizes = {"sigma2": instance.variance, "tau": instance.tau}
        texts = {name: number(name, value) for name, value in sizes.items()}
        release = {"mechanism": "discrete-sparse-histogram", "k": instance.k, **texts, "times": 1}
        return [release]
    try:
        releases = releases_of(loss_of_calculator(instance))
    except InvalidParameter:
        return []
    return [] if any(LAWS[release["mechanism"]].trusted for release in releases) else releases


def _recomputed(
    instance: Calculator, releases: list[dict[str, Any]], relation: str
) -> list[dict[str, Any]]:
    """The claims about delta. None of a discrete histogram with so little noise that the checker's
    bound is not sharp, or at epsilon 0, where the checker has no rule."""
    try:
        claims = claims_of(releases, relation, one_pair=False, epsilon=instance.epsilon)
    except Undecided:
        if isinstance(instance, DiscreteGshm):
            return []
        raise
    if isinstance(instance, DiscreteGshm):
        delta, most = instance.delta(), Fraction(claims[0]["at_most"])
        if most < delta.lower:
            raise Undecided(f"the checker bounds delta by {float(most)}, the library by {delta}")
        return claims if most <= delta.upper * (1 + _SHARP) else []
    return claims


def imported(
    what: Any, *, neighbours: str = pld.ADD_REMOVE, unit: str = "user", **claims: Any
) -> Statement:
    """The statement about what another accountant has recorded.

    what: a DpEvent of dp_accounting, or the `history` of an accountant of Opacus: tuples of noise
    multiplier, sample rate and number of steps. neighbours: of an event, as in
    ``exactdp.accounting.interop.loss_of``; those of a history are add-remove neighbours.
    claims, unit: as in :func:`of`. Raises InvalidParameter, Undecided.

    >>> from exactdp import statement
    >>> s = statement.imported([(2.0, 0.1, 16)], epsilon=1)  # takes seconds
    >>> s.fields["releases"][0]["rate"], s.check().verdict
    ('0.1', 'valid')
    """
    if isinstance(what, list):
        if neighbours != pld.ADD_REMOVE:
            raise InvalidParameter("neighbours", neighbours, "left out, for a history")
        accountant = CertifiedAccountant()
        accountant.load_state_dict({"history": what, "mechanism": accountant.mechanism()})
        return of(accountant.loss(), unit=unit, **claims)
    loss = loss_of(what, neighbours=neighbours)
    if loss is None:
        raise InvalidParameter("what", Described("an event that leaks nothing"), "another event")
    return of(loss, unit=unit, **claims)


def released(
    promise: Guarantee,
    mechanism: Any,
    *,
    loss: pld.Pld | None = None,
    bounds: Sequence[Mapping[str, Any]] = (),
    about: Mapping[str, str] | None = None,
) -> Statement:
    """The statement about a release, with the parameters of its mechanism as further facts.

    promise: the guarantee of the release. mechanism: a dataclass. loss: of laws that dominate the
    mechanism, from which a checker computes delta; without it the statement holds the promise.
    bounds, about: as in :func:`of`.
    """
    facts = {"mechanism": type(mechanism).__name__, **facts_of(mechanism)}
    content = promised(promise)
    if loss is not None:
        releases = releases_of(loss)
        relation = neighbours_of(promise.neighbours)
        claims = claims_of(releases, relation, one_pair=False, epsilon=promise.epsilon)
        content = Content(releases, claims, content.premises)
    return _assemble(content, "user", bounds, {**facts, **(about or {})})


def _assemble(
    content: Content,
    unit: str,
    bounds: Sequence[Mapping[str, Any]],
    about: Mapping[str, str] | None,
) -> Statement:
    """The statement with this content, in the form that checkers read."""
    releases, premises = content.releases, content.premises
    sampled = any("rate" in release for release in releases)
    taken = any(LAWS[release["mechanism"]].trusted for release in releases)
    relation = neighbours_of(premises[0])
    fields = {"neighbours": relation, "of": unit, "bounds": [_bound(each) for each in bounds]}
    document: dict[str, Any] = {
        "format": "dp-statement/1",
        "unit": {**fields, **attained(releases, content.one_pair)},
        "releases": releases,
        "claims": content.claims,
        "premises": [*premises, *([_SAMPLES] if sampled else [])],
        "not_shown": [*_NOT_SHOWN, *([PROMISED] if taken else [])],
        "made_by": {"name": "exactdp", "version": __version__},
    }
    if about:
        document["about"] = [[name, text] for name, text in about.items()]
    return Statement.read(Statement(document).to_json())


def _bound(bound: Mapping[str, Any]) -> dict[str, Any]:
    """A bound on the data, with its number as exact text."""
    if set(bound) != {"what", "at_most", "checked"}:
        names = Described(", ".join(map(str, bound)) or "nothing")
        raise InvalidParameter("bounds", names, "what, at_most and checked, each of them")
    most = number("at_most", non_negative("at_most", bound["at_most"]))
    return {"what": str(bound["what"]), "at_most": most, "checked": bool(bound["checked"])}
