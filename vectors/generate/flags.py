"""Flags of vectors, and what mistake each of them catches."""

FLAGS = {
    "Ordinary": "Everyday parameters: a wrong formula, or one for another neighbouring relation.",
    "Boundary": "The edge of the domain: a formula that divides by zero or loses its sign there.",
    "EpsilonZero": "epsilon = 0, where delta is the total variation distance.",
    "DeltaNearOne": "Almost no privacy: an answer rounded to more than 1, or found by 1 - delta.",
    "TinyDelta": "A delta far below 1e-16: a difference of rounded probabilities gives 0.",
    "SmallDelta": "A delta from 1e-17 to 1e-12, at the last digits of a double near 1: a "
    "difference of rounded probabilities keeps few or none of its digits; a search stops too soon.",
    "BelowDouble": "The value is positive but below every double: 0 claims more than is true.",
    "Subnormal": "The value is below the normal doubles, where they lose relative accuracy.",
    "HugeNoise": "Very much noise: the two terms of the formula agree in almost all digits.",
    "TinyNoise": "Very little noise: arguments of the normal distribution function are huge.",
    "LargeEpsilon": "epsilon beyond 709: e^epsilon overflows a double.",
    "SmallEpsilon": "A tiny epsilon: e^epsilon - 1 is computed by a difference that cancels.",
    "Sensitivity": "A sensitivity other than 1: ignored, squared, or applied the wrong way round.",
    "Calibration": "The least value that suffices: a search that stops on the wrong side, or at an "
    "absolute tolerance.",
    "SumOfDeltas": "The simple upper bound that adds two deltas, not the exact analysis.",
    "FewCounters": "k = 1 or so: terms of the maximum that vanish, an off-by-one in k - j.",
    "ManyCounters": "Large k: a power Phi^k by repeated products, or 1 - Phi^k by a difference.",
    "ThresholdDominates": "The threshold alone decides delta: a forgotten factor k, or 1 + tau for "
    "tau.",
    "NoiseDominates": "The noise alone decides delta: a threshold term that is added regardless.",
    "BothMatter": "Noise and threshold both matter: the maximum over j is inside.",
    "StrictThreshold": "Released where the noisy count is > threshold.",
    "WeakThreshold": "Released where the noisy count is >= threshold: on integers one unit more.",
    "IntegerGrid": "A loss equals epsilon, or a count the threshold, exactly: > and >= differ.",
    "BetweenGrid": "A threshold between two integers: rounding it the wrong way.",
    "ManyContributions": "One user adds several counters: k times the delta of one, or 1-(1-p)^k.",
    "Tail": "Far in the tail: a distribution function computed as 1 minus the other tail.",
    "HugeScale": "A distribution too wide to be summed term by term.",
    "TinyScale": "A distribution concentrated on one point.",
    "ManyCompositions": "Up to 10^6 mechanisms: rounding errors and grids that add up.",
    "Count": "An entry that runs many times: its count ignored, or applied to something else.",
    "SeveralKinds": "Different mechanisms: one left out, or composed on grids that do not match.",
    "FewCompositions": "k = 1 or 2: the composed answer must be the single one.",
    "ApproximateParts": "Parts that have a delta of their own: 1 - (1 - delta)^k, not k delta.",
    "Relation": "Replace-one neighbours: the user is in both data sets, and moves twice as far.",
    "Batch": "Drawn without replacement: the user takes the place of another one.",
    "Group": "Several users, each sampled on her own: a random number of them is in the sample.",
    "NotBinary": "A parameter that is not a double: the nearest double is another problem.",
    "OneOfSteps": "A user in one of t steps: accounted for as Poisson samples of rate 1/t.",
    "SeveralSteps": "A user in several steps of correlated noise: the columns of one step each.",
    "NoBoundedRange": "Permute-and-flip leaks more than the exponential mechanism at some epsilon.",
    "Shuffled": "Reports in random order: accounted for without the shuffler, or for one data set.",
    "LargeBudget": "A large budget: a lie is rare, 1 - p loses its digits.",
    "OwnBit": "The bit of the own value is randomized like the others: one that is never flipped "
    "tells the value.",
    "FakeData": "Fake data in all attributes but one: two users who differ in all of them are told "
    "apart by the amplified budget, not by the budget.",
    "FewAlarms": "Few false alarms, where the rounding errors of many small masses add up to more: "
    "an attack that is said to be worse than a blind guess.",
    "ManyAlarms": "Many false alarms: the other kind of error, or both orders, decide.",
    "GaussianFit": "One Gaussian mechanism for all deltas: fitted where the curve is inaccurate, "
    "or at one delta only.",
}
