"""Vectors for k-fold composition: Gaussian, Laplace, and the optimal bound for pure mechanisms."""

from __future__ import annotations

from collections.abc import Callable

from vectors.generate.analytic_gaussian import gaussian_delta, gaussian_epsilon
from vectors.generate.common import Bounds, Group, Recipe
from vectors.generate.laplace_composition import laplace
from vectors.generate.pure_composition import pure, pure_epsilon


def _gaussian(k: str, sigma: str, epsilon: str, sensitivity: str) -> Bounds:
    return gaussian_delta(epsilon=epsilon, sigma=sigma, sensitivity=sensitivity, copies=k)


def _gaussian_least(k: str, sigma: str, delta: str, sensitivity: str) -> Bounds:
    return gaussian_epsilon(delta=delta, sigma=sigma, sensitivity=sensitivity, copies=k)


GAUSSIAN = [
    # k, sigma, epsilon, sensitivity, comment, flags
    ("1", "4", "1", "1", "one mechanism", "FewCompositions Boundary"),
    ("2", "8", "0.5", "1", "two mechanisms", "FewCompositions"),
    ("4", "8", "1", "1", "as one with sigma 4", "Ordinary"),
    ("100", "32", "1", "1", "a hundred mechanisms", "Ordinary"),
    ("100", "16", "4", "1", "a hundred mechanisms", "Ordinary"),
    ("1000", "100", "2", "1", "a thousand mechanisms", "Ordinary"),
    ("1000", "100", "2", "2", "a thousand mechanisms, sensitivity 2", "Sensitivity"),
    ("1000000", "4000", "1", "1", "a million, as one with sigma 4", "ManyCompositions"),
    ("1000000", "1000", "4", "1", "a million mechanisms", "ManyCompositions"),
    ("1000000", "16000", "1", "1", "a million, 1e-59", "ManyCompositions TinyDelta"),
    ("1000000", "40000", "1", "1", "a million, below every double", "ManyCompositions TinyDelta"),
    ("1000000", "25", "800", "1", "a million, epsilon 800", "ManyCompositions LargeEpsilon"),
    ("1000000", "1000000000", "0.0000009765625", "1", "sigma 1e9", "ManyCompositions HugeNoise"),
    ("100", "1", "0", "1", "epsilon 0", "EpsilonZero DeltaNearOne"),
]

GAUSSIAN_EPSILONS = [
    # k, sigma, delta, sensitivity, comment, flags
    ("1", "4", "1e-5", "1", "one mechanism", "FewCompositions"),
    ("100", "32", "1e-5", "1", "a hundred mechanisms", "Ordinary"),
    ("1000", "64", "1e-6", "1", "a thousand mechanisms", "Ordinary"),
    ("1000000", "4000", "1e-6", "1", "a million mechanisms", "ManyCompositions"),
    ("1000000", "4000", "1e-15", "1", "a million, delta 1e-15", "ManyCompositions SmallDelta"),
]

PURE = [
    # k, epsilon_each, delta_each, epsilon, comment, flags
    ("1", "1", "0", "0.5", "one mechanism", "FewCompositions"),
    ("1", "1", "0", "1", "one mechanism at its own epsilon: delta 0", "FewCompositions Boundary"),
    ("1", "1", "1e-6", "1", "one approximate mechanism", "FewCompositions ApproximateParts"),
    ("2", "1", "0", "1", "two mechanisms", "FewCompositions"),
    ("2", "0.5", "0", "0", "two mechanisms, epsilon 0", "FewCompositions EpsilonZero"),
    ("2", "0.5", "0", "1", "two mechanisms at the sum: delta 0", "FewCompositions Boundary"),
    ("10", "0.25", "0", "1", "epsilon is a reachable loss", "Ordinary IntegerGrid"),
    ("10", "0.25", "0", "0.75", "epsilon between losses", "Ordinary BetweenGrid"),
    ("20", "0.125", "0", "1", "twenty mechanisms", "Ordinary IntegerGrid"),
    ("100", "0.125", "0", "4", "a hundred mechanisms", "Ordinary"),
    ("100", "0.1", "0", "4", "a hundred mechanisms", "Ordinary"),
    ("100", "0.125", "1e-8", "4", "a hundred approximate mechanisms", "ApproximateParts"),
    (
        "100",
        "0.125",
        "1e-300",
        "12.5",
        "the parts' delta alone: 1e-298",
        "ApproximateParts TinyDelta",
    ),
    ("100", "0.125", "1e-18", "13", "1 - delta rounds to 1", "ApproximateParts SmallDelta"),
    ("100", "0.125", "0", "12.25", "almost the sum: about 1e-29", "TinyDelta"),
    ("200", "4", "0", "798", "e^epsilon overflows", "LargeEpsilon"),
    ("200", "4", "0", "750", "e^epsilon overflows", "LargeEpsilon"),
    ("1000", "0.0625", "0", "4", "a thousand mechanisms", "Ordinary"),
    ("1000", "0.03125", "0", "8", "a thousand, tiny delta", "SmallDelta"),
    ("1000", "0.03125", "0", "30", "about 1e-256", "TinyDelta"),
    ("10000", "0.0078125", "0", "4", "ten thousand mechanisms", "ManyCompositions"),
    ("1000000", "0.0009765625", "0", "4", "a million mechanisms", "ManyCompositions"),
    (
        "1000000",
        "0.0009765625",
        "1e-12",
        "5",
        "a million approximate",
        "ManyCompositions ApproximateParts",
    ),
]

PURE_EPSILONS = [
    # k, epsilon_each, delta_each, delta, comment, flags
    ("1", "1", "0", "1e-6", "one mechanism", "FewCompositions"),
    ("2", "1", "0", "1e-6", "two mechanisms", "FewCompositions"),
    ("10", "0.25", "0", "1e-6", "ten mechanisms", "Ordinary"),
    ("100", "0.125", "0", "1e-6", "a hundred mechanisms", "Ordinary"),
    ("100", "0.1", "0", "1e-10", "a hundred mechanisms", "Ordinary"),
    ("1000", "0.0625", "0", "1e-6", "a thousand mechanisms", "Ordinary"),
    ("100", "0.125", "0", "1e-15", "delta 1e-15", "SmallDelta"),
    ("10", "0.0009765625", "0", "0.25", "epsilon is 0", "Boundary EpsilonZero"),
]

LAPLACE = [
    # k, scale, epsilon, comment, flags
    ("1", "1", "0.5", "one mechanism: 1 - e^(-1/4)", "FewCompositions"),
    ("1", "4", "0.125", "one mechanism", "FewCompositions"),
    ("1", "1", "1", "one mechanism at its own epsilon: delta 0", "FewCompositions Boundary"),
    ("1", "0.0009765625", "800", "e^epsilon overflows", "FewCompositions LargeEpsilon"),
    ("1", "2", "0", "epsilon 0", "FewCompositions EpsilonZero"),
    ("2", "2", "0.5", "two mechanisms", "FewCompositions"),
    ("2", "2", "0.75", "two mechanisms", "FewCompositions"),
    ("2", "1", "2", "two mechanisms at the sum: delta 0", "FewCompositions Boundary"),
    ("4", "4", "0.5", "four mechanisms", "Ordinary"),
    ("8", "8", "0.5", "eight mechanisms", "Ordinary"),
    ("8", "8", "0.96875", "close to the sum", "Ordinary"),
    ("12", "8", "1", "twelve mechanisms", "Ordinary"),
    ("16", "10", "1", "sixteen mechanisms", "Ordinary"),
]


def _recipes() -> list[Recipe]:
    recipes: list[Recipe] = []
    for k, sigma, epsilon, size, comment, flags in GAUSSIAN:
        parameters = {"k": k, "sigma": sigma, "epsilon": epsilon, "sensitivity": size}
        recipes.append(_recipe("delta", "gaussian", parameters, comment, flags))
    for k, sigma, delta, size, comment, flags in GAUSSIAN_EPSILONS:
        parameters = {"k": k, "sigma": sigma, "delta": delta, "sensitivity": size}
        recipes.append(_recipe("epsilon", "gaussian", parameters, comment, f"Calibration {flags}"))
    for k, each, lost, epsilon, comment, flags in PURE:
        parameters = {"k": k, "epsilon_each": each, "delta_each": lost, "epsilon": epsilon}
        recipes.append(_recipe("delta", "pure", parameters, comment, flags))
    for k, each, lost, delta, comment, flags in PURE_EPSILONS:
        parameters = {"k": k, "epsilon_each": each, "delta_each": lost, "delta": delta}
        recipes.append(_recipe("epsilon", "pure", parameters, comment, f"Calibration {flags}"))
    for k, scale, epsilon, comment, flags in LAPLACE:
        parameters = {"k": k, "scale": scale, "epsilon": epsilon}
        recipes.append(_recipe("delta", "laplace", parameters, comment, flags))
    return recipes


#: (mechanism, question) -> how it is computed.
COMPUTE: dict[tuple[str, str], Callable[..., Bounds]] = {
    ("gaussian", "delta"): _gaussian,
    ("gaussian", "epsilon"): _gaussian_least,
    ("pure", "delta"): pure,
    ("pure", "epsilon"): pure_epsilon,
    ("laplace", "delta"): laplace,
}


def _recipe(
    question: str, mechanism: str, parameters: dict[str, str], comment: str, flags: str
) -> Recipe:
    compute = COMPUTE[mechanism, question]
    return Recipe(
        question,
        {"mechanism": mechanism, **parameters},
        comment,
        tuple(flags.split()),
        lambda: compute(**parameters),
    )


GROUP = Group(
    name="composition",
    description="k mechanisms on the same data. mechanism 'gaussian': noise N(0, sigma^2) on k "
    "queries of l2 sensitivity `sensitivity` each; 'laplace': Laplace noise of this scale on k "
    "queries of sensitivity 1, all of which move by 1; 'pure': any k mechanisms that are "
    "(epsilon_each, delta_each)-differentially private, the optimal bound.",
    questions={
        "delta": "the least delta at epsilon that holds for all k together",
        "epsilon": "the least epsilon >= 0 at delta",
    },
    source="Kairouz, Oh, Viswanath 2015 and Murtagh, Vadhan 2016 (pure); Balle and Wang 2018",
    methods=(
        "gaussian: as analytic_gaussian, with sensitivity sqrt(k) times larger",
        "pure: sums of binomial terms outward from the largest, at two precisions; k <= 250 also "
        "by the recursion over one mechanism at a time, above that by incomplete beta functions as "
        "continued fractions, agreeing to 1e-30",
        "pure, epsilon: solved between two reachable losses; both ends checked",
        "laplace: a finite sum of iterated antiderivatives, and quadrature of exact piecewise "
        "polynomials, agreeing to 1e-30",
    ),
    recipes=_recipes,
)
