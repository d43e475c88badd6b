"""The options of the commands: what each means, and which values it allows."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Option:
    """An option and its value.

    allowed: the allowed values, as error messages say them. help: for --help. default: what is
    taken if the option is left out. Values stay text, which the library reads exactly: 0.35, 1e-5
    and 7/20 are numbers.
    """

    name: str
    allowed: str
    help: str
    default: str = ""


def of_parameter(name: str) -> Option:
    """The option of a calculator's or sampler's parameter: its name in capitals below."""
    option: Option = globals()[name.upper()]
    return option


# An option that means something else for some commands has a constant for each meaning: --k is the
# number of a user's keys (K), or of possible values (K_VALUES).

K = Option(
    "k",
    "an integer >= 1",
    "k (contributions): largest number of counters (keys) to which one user contributes.",
)
K_KEYS = Option(
    "k",
    "an integer >= 1",
    "k (contributions): largest number of keys to which one user contributes; which of more "
    "count is random.",
)
K_VALUES = Option("k", "an integer >= 2", "Number of values, which are 0 to k - 1.")
K_ENTRIES = Option("k", "an integer >= 1", "Largest number of non-zero entries of a vector.")
SIGMA = Option("sigma", "a number > 0", "Standard deviation of each counter's own noise.")
TAU = Option("tau", "a number >= 0", "Counters are released above 1 + tau.")
RHO = Option("rho", "a number >= 0", "Parameter of zero-concentrated differential privacy (zCDP).")
RULE = Option(
    "rule",
    "optimal or simple",
    "optimal: best order (Canonne, Kamath, Steinke); simple: rho + 2 sqrt(rho ln(1/delta)).",
    "optimal",
)
EPSILON = Option("epsilon", "a number >= 0", "Privacy parameter epsilon.")
DELTA = Option("delta", "a number > 0 and < 1", "Privacy parameter delta.")
DELTA_OR_0 = Option("delta", "a number >= 0 and < 1", "Privacy parameter delta.", "0")
SENSITIVITY = Option(
    "sensitivity", "a number > 0", "How far one user moves the answer (l2 distance).", "1"
)
FLIP = Option("flip", "a number > 0 and < 1", "Probability of a wrong answer.")
VALUES = Option("values", "an integer >= 2", "Number of possible answers.", "2")
COLUMNS = Option("columns", "an integer >= 0", "Columns of sums released with the counters.")
SPREAD = Option(
    "spread", "a number > 0", "Noise of a column's sums, in units of its limit times sigma.", "1"
)
N = Option("n", "an integer >= 1", "Number of rows or users, which is public.")
THRESHOLD = Option("threshold", "an integer >= 0", "Noisy counts above the threshold are released.")
RESOLUTION = Option(
    "resolution", "a number between 1e-15 and 0.1", "Relative step between candidates.", "1e-9"
)
NOISE = Option(
    "noise", "discrete or continuous", "Which noise; what is released is discrete.", "discrete"
)
CORRELATION = Option(
    "correlation",
    "a number > 0",
    "kappa: the shared noise has variance sigma^2/kappa.",
    "the square root of the sparsity, or of the number of keys",
)
CONTRIBUTIONS = Option(
    "contributions",
    "an integer >= 1",
    "Largest number of counters (keys) to which one user contributes.",
    "the sparsity, or all keys",
)
SPARSITY = Option(
    "sparsity",
    "an integer >= 1",
    "Largest number of non-zero counters of the whole histogram, whatever the data are.",
)
KEYS = Option("keys", "an integer >= 1", "Number of keys of the public list.")
TOP = Option("top", "an integer >= 1", "Number of largest counters that are released.")
POINTS = Option("points", "an integer >= 2", "Number of points of a curve.", "40")
POINTS_CURVE = Option("points", "an integer >= 2", "Largest number of points of a curve.", "24")
POINTS_STEPS = Option("points", "an integer >= 2", "Number of points of a curve.", "16")
SPARSITIES = Option(
    "sparsities",
    "integers separated by commas",
    "Values of the sparsity.",
    "1,10,100,1000,10000,100000,1000000",
)
LOWER = Option("lower", "an integer >= 1", "Counters with a lower count are dropped first.", "1")
SIGMA2 = Option("sigma2", "a number > 0", "Parameter sigma^2 of the discrete Gaussian.")
SCALE = Option(
    "scale", "a number > 0", "Scale of Laplace noise; of scores, for an exponential choice."
)
P = Option("p", "a number > 0 and < 1", "Success probability.")
COUNT = Option("count", "an integer >= 1", "Number of draws.", "1000")
SEED = Option(
    "seed",
    "an integer >= 0",
    "Reproducible draws, never for a release.",
    "the operating system's randomness",
)
SEED_MATRIX = Option(
    "seed", "an integer >= 0", "Public seed of the compressive matrix, the same for all users."
)
OUTPUT = Option(
    "output", "a file name", "New file; its ending determines the format (see the example)."
)
USER = Option(
    "user", "a column name", "Column of users; the file then holds rows instead of counts."
)
BY = Option(
    "by",
    "column names",
    "Column of keys whose users are counted; separate several by commas. Of a column of dates, "
    "day:COLUMN, week:COLUMN, month:COLUMN or year:COLUMN; of a column of numbers, intervals "
    "between edges, as in age:0..18..65..120; values outside are left out.",
)
EPSILON_SHARE = Option("epsilon", "a number > 0", "Part of the privacy budget for noisy numbers.")
MOST = Option(
    "most",
    "an integer > k",
    "With --epsilon: largest number of pairs of one user that are counted.",
)
MOST_KEYS = Option(
    "most", "an integer >= 2", "With --spend: larger numbers of keys count as this.", "100"
)
PRIOR = Option(
    "prior", "number:weight pairs", "How many keys users have, as you expect it: 1:5,3:3,10:2."
)
SPEND = Option(
    "spend",
    "a number > 0 and < epsilon",
    "Part of epsilon for a noisy look at how many keys users have.",
)
COUNT_ADVICE = Option(
    "count", "an integer >= 1", "Size of a count whose error is compared.", "1000"
)
SUMS = Option(
    "sums",
    "column:low..high:of texts",
    "Columns to sum: over rows of low to high, at most 3 of a user for a key (a:0..9:rows=3), over "
    "users' means (a:0..9:users) or over users' sums of low to high (a:0..99:sums). Rows are "
    "rounded to steps of 1, or as in a:0..9/0.01:users. Missing values are left out, or count as "
    "in a:0..9:users:missing=0.",
)
MEANS = Option(
    "means",
    "column:low..high:of texts",
    "Columns of which means are released, asked as for --sums. With :variance at the end, "
    "variances over users, too.",
)
QUANTILES = Option(
    "quantiles",
    "column:low..high:of texts",
    "Columns of which medians are released, asked as for --sums, on a grid of steps; others as in "
    "a:0..99:users:q=0.25+0.75. With :interval at the end, bounds of each are released, too.",
)
PUBLIC_VALUES = Option("public", "a file name", "List of all values, one per line, instead of --k.")
PUBLIC = Option("public", "a file name", "List of elements, one per line; no others are released.")
PUBLIC_KNOWN = Option(
    "public",
    "a file name",
    "CSV without a header, a key per line: all are released, counts of 0 too, and no others; "
    "with sums or means those above the threshold.",
)
TOP_COUNTS = Option("top", "an integer >= 1", "Number of largest counts to release.", "all")
MECHANISM_COUNTS = Option(
    "mechanism",
    "auto, gshm, known-keys, correlated-gaussian, top-k-with-base or top-k",
    "How noise is added.",
    "auto",
)
MECHANISM_KEYS = Option(
    "mechanism",
    "auto, geometric, weighted, sips or mad2r",
    "How keys are selected; auto: geometric or weighted.",
    "auto",
)
SELECTION = Option(
    "selection",
    "weighted, sips or mad2r",
    "Select the keys in rounds of weights, then count the users of these keys.",
)
SHARE_COUNTS = Option(
    "share",
    "a number > 0 and < 1",
    "With --selection or --quantiles: part of the noise budget for the counts.",
    "1/2",
)
TIMES = Option(
    "times", "an integer >= 1", "Number of such releases that keep the target together.", "1"
)
ENGINE = Option(
    "engine",
    "pipelinedp, opendp, presto, bigquery or tumult",
    "Engine that runs the queries and draws the noise.",
)
BUDGET = Option("budget", "a file name", "Budget that pays for the release (see release budget).")
COUNTING = Option(
    "counting",
    "sums, renyi or gaussian",
    "How costs add up: sums for few releases, renyi for many, gaussian for noise alone.",
    "sums",
)
NOTE = Option("note", "a text", "What the budget says about the release; the same for a series.")
UNIVERSE = Option("universe", "an integer >= 1", "Number of possible elements, 0 to universe - 1.")
TEXT = Option("text", "an integer >= 0", "Elements are texts of at most this many bytes.")
LENGTH = Option("length", "an integer >= n", "Number of released bins.", "5 n/4")
BETA = Option("beta", "a number > 0 and < 1", "Probability that an error bound fails.", "0.05")
SAMPLES = Option("samples", "an integer >= 1", "Largest number of outputs to draw.", "1000000")
ALPHA = Option("alpha", "a number > 0 and < 1", "Probability of a false alarm.", "0.01")
CANARIES = Option(
    "canaries",
    "an integer >= 1",
    "Records that were included in the training data by a coin flip each.",
)
GUESSES = Option("guesses", "an integer >= 1", "Number of coin flips that were guessed.")
CORRECT = Option("correct", "an integer >= 0", "Number of correct guesses.")
WORKERS = Option("workers", "an integer >= 1", "Number of processes.", "1")
MECHANISM = Option(
    "mechanism",
    "randomized-response, rappor, permanent-rappor, unary, hashing, subset, hadamard or "
    "compressive",
    "How values are randomized (see exactdp local compare).",
)
M = Option("m", "an integer >= 2", "Number of outputs of the compressive response.")
D = Option("d", "an integer >= 1", "Items are 0 to d - 1.")
LEVEL = Option(
    "level", "event or user", "Protect one entry of a user (event) or all entries (user)."
)
L = Option(
    "L", "a number > 0", "Instead of --level: protect changes of a user up to this L1 distance."
)
HASHES = Option("hashes", "linear or keyed", "Hash functions; keyed for --delta.", "linear")
NUMBER_OF_USERS = Option("users", "an integer >= 1", "Number of users.")
SPARSITY_VALUES = Option(
    "sparsity", "an integer >= 1", "Number of frequent values; all others are taken as rare."
)
ERROR_SHARES = Option("error", "a number > 0", "Largest l1 error of all shares.")
USERS = Option("users", "an integer >= 1", "Expected number of users.", "100000")
BINS = Option("bins", "an integer >= 1", "Number of bins of a report.", "the best for the error")
CLIP = Option(
    "clip",
    "a number > 0, or published",
    "Where the sums of a report are clipped.",
    "the best for the error",
)
ENTRIES = Option(
    "entries",
    "an integer >= 1",
    "Values of +-1 of a typical user, or the sum of the squares, to choose the clipping.",
    "k",
)
SHARE_USERS = Option(
    "share",
    "a number > 0 and <= 1",
    "Largest mean of an item, or share of the users with it, to choose the clipping.",
    "1",
)
SAMPLE = Option(
    "sample", "a file name", "Public sample (user,item,value), for --entries and --share."
)
ITEMS = Option("items", "a file name", "List of items to estimate, one per line.")
PICTURE = Option("picture", "a file name", "Picture with error bars: .png, .svg or .pdf.")
LIMIT = Option(
    "limit", "a number > epsilon", "Epsilon of any number of reports (permanent-rappor)."
)
METHOD = Option("method", "unbiased, normalized or projected", "How to estimate.", "projected")
TOP_ESTIMATES = Option("top", "an integer >= 1", "Number of largest estimates to print.", "all")
RATE = Option(
    "rate", "a number > 0 and <= 1", "Probability that a user is in the sample of a step."
)
NOISE_MULTIPLIER = Option(
    "noise_multiplier",
    "a number > 0",
    "Standard deviation of the noise divided by the clipping norm.",
)
SAMPLING = Option(
    "sampling",
    "poisson, truncated, batches or allocated",
    "poisson: independent users; truncated: at most --batch-limit of them; batches: batches of "
    "a fixed size; allocated: each user takes part in one of the 1/rate steps of every epoch.",
    "poisson",
)
BATCH_LIMIT = Option(
    "batch_limit", "an integer >= 1", "Largest size of a sample (--sampling truncated)."
)
MATRIX = Option(
    "matrix",
    "a file",
    "CSV file with the strategy of correlated noise: one line of Toeplitz coefficients, or the "
    "rows of a lower triangular matrix.",
)
BANDS = Option(
    "bands",
    "an integer >= 1",
    "Parts of the users, which take turns (--matrix).",
    "the number of bands of the matrix",
)
NEIGHBOURS = Option(
    "neighbours",
    "add-remove or replace-one",
    "Data sets compared.",
    "add-remove; replace-one for --sampling batches",
)
NEIGHBOURS_COMPOSED = Option(
    "neighbours", "add-remove or replace-one", "Data sets compared.", "add-remove"
)
GROUP = Option("group", "an integer >= 1", "Size of groups of users to protect together.", "1")
STEPS = Option("steps", "an integer >= 1", "Number of steps.")
RATE_PHASES = Option(
    "rate",
    "a number > 0 and <= 1, or a list",
    "Probability that a user is in the sample of a step; with commas, of each phase of training.",
)
NOISE_MULTIPLIER_PHASES = Option(
    "noise_multiplier", "a number > 0, or a list", NOISE_MULTIPLIER.help[:-1] + ", of each phase."
)
STEPS_PHASES = Option("steps", "an integer >= 1, or a list", "Number of steps, of each phase.")
FALSE_ALARMS = Option(
    "false_alarms",
    "a number > 0 and < 1",
    "Probability that an attack says yes where the user's data was not used.",
    "0.001",
)
PRIOR_OF_USE = Option(
    "prior", "a number > 0 and < 1", "Probability, before, that the user's data was used.", "0.5"
)
BASELINE = Option(
    "baseline",
    "a number > 0 and < 1",
    "Probability to guess the user's data without outputs; 1/m for one of m records.",
    "0.1",
)
AT_MOST = Option(
    "at_most",
    "RISK=NUMBER",
    "Find the parameter that is left out: advantage=0.1, or power, precision, accuracy or "
    "reconstruction.",
)
RELATIVE_WIDTH = Option(
    "relative_width", "a number > 0", "Largest relative width of an enclosure.", "0.001"
)
WIDTH_OF_ANSWER = Option(
    "relative_width",
    "a number > 0",
    "Largest relative width of the answer.",
    "0.001 of delta; of epsilon 0.00001, or 0.001 in all where that is more",
)
PICTURE_OF_POWER = Option(
    "picture", "a file name", "Picture of the trade-off curve: .png, .svg or .pdf."
)
COLLISION = Option(
    "collision", "a number >= 0", "Probability of a collision at each level.", "1/10"
)
LARGEST = Option("largest", "a number > 0", "Largest possible value.")
SKETCH = Option(
    "sketch",
    "the name of a sketch",
    "Sketch of the small values: alp, signed-alp, histogram-alp, log-alp, max-projection.",
    "alp",
)
ROWS = Option("rows", "an integer > 2 k", "Rows of the sketch, each with one bit per level.", "8 k")
PRICE_OF_PICTURE = Option(
    "price", "a number > 0", "alpha: bits are flipped with probability 1/(alpha + 2).", "3"
)
PRICE = Option(
    "price", "a number > 0", "alpha: bits are flipped with probability 1/(alpha + 2).", "8"
)
PRICE_LOG = Option(
    "price", "a number > 0", "alpha: bits are flipped with probability 1/(alpha + 2).", "20"
)
WIDTH = Option("width", "an integer >= 1", "Counts per level.", "near 3/epsilon")
GRID = Option(
    "grid", "a number > 0", "Values are randomly rounded to multiples of this number.", "1/64"
)
STORED_FROM = Option(
    "stored_from", "a number > 0", "Smallest value that is stored.", "2 ln(d)/epsilon"
)
SHARE = Option("share", "a number > 0 and < 1", "Part of epsilon for the stored values.", "1/3")
THEME = Option("theme", "light or dark", "The background is transparent.", "light")
ANALYSIS = Option("analysis", "the name of an analysis", "How delta is bounded.")
