"""Good calls of the command line, and what may be wrong with their words."""

from __future__ import annotations

import random

__all__ = ["CALLS", "COSTLY", "malformed"]

#: Files are named in braces, {new} is the file to be written; < is standard input.
CALLS = [
    "delta gaussian --sigma 3.8 --epsilon 1 --sensitivity 2",
    "delta gshm --k 5 --sigma 10 --tau 30 --epsilon 1",
    "delta discrete-gshm --k 5 --sigma 10 --tau 30 --epsilon 1 --analysis exact",
    "delta discrete-gaussian --sigma2 16 --epsilon 1 --sensitivity 1",
    "delta stability --n 9 --threshold 3 --epsilon 1",
    "delta sums --k 3 --columns 1 --sigma 20 --tau 90 --epsilon 1 --spread 1",
    "delta top-k-with-base --top 3 --sigma 20 --tau 90 --epsilon 1",
    "check gaussian --sigma 3.8 --epsilon 1 --delta 1e-5",
    "check discrete-gshm --k 5 --sigma 10 --tau 30 --epsilon 1 --delta 1e-5",
    "check stability --n 9 --threshold 3 --epsilon 1 --delta 0.01",
    "calibrate gaussian --epsilon 1 --delta 1e-5 --sensitivity 2 --resolution 1e-3",
    "calibrate discrete-gshm --k 3 --epsilon 1 --delta 1e-5 --sigma 20",
    "calibrate stability --n 9 --epsilon 1 --delta 1e-3",
    "compose {steps} --epsilon 1",
    "compose {mixed} --epsilon 1 --json",
    "audit number analytic_gaussian --claim sigma=7.4819 --set epsilon=1 --set delta=1e-15",
    "audit one-run --canaries 1000 --guesses 100 --correct 95 --delta 1e-5 --epsilon 2",
    "audit replay exactdp:discrete-laplace {report} --set scale=1 --left 0 --right 1 --samples 300",
    "audit vectors run --stdin-jsonl --group zcdp < {answers}",
    "sample discrete-gaussian --sigma2 4 --count 5 --seed 1",
    "sample discrete-laplace --scale 5/2 --count 5",
    "sample geometric --p 0.1 --count 5 --output {new}.csv",
    "release gshm {counts} --k 1 --epsilon 1 --delta 1e-6 --output {new}.csv",
    "release gshm {counts} --k 1 --epsilon 1 --delta 0.1 --sigma 9 --tau 99 --output {new}.csv",
    "release gshm {counts} --k 1 --epsilon 1 --delta 1e-6 --output {new}.json",
    "release budget {new}.json --epsilon 1 --delta 1e-6 --counting renyi",
    "release advise --epsilon 1 --delta 1e-6 --prior 1:3,2:1 --count 9 --times 2",
    "release plan {queries} --epsilon 1 --delta 1e-3 --engine opendp --output {new}.py",
    "release basic {counts} --epsilon 1 --universe 9 --output {new}.csv",
    "release stability {counts} --epsilon 1 --delta 1e-3 --text 3 --output {new}.csv",
    "release sparse {counts} --epsilon 1 --text 3 --public {public} --output {new}.csv",
    "release padded {counts} --epsilon 9 --text 1 --output {new}.csv",
    "release fixed-time-sparse {counts} --epsilon 1 --text 1 --output {new}.csv",
    "release compact {counts} --epsilon 1 --text 3 --beta 0.1 --output {new}.edph",
    "release alp {counts} --k 9 --epsilon 1 --largest 99 --universe 9 --output {new}.sketch",
    "release signed-alp {counts} --k 9 --epsilon 1 --largest 99 --text 3 --output {new}.sketch",
    "release histogram-alp {counts} --k 9 --epsilon 1 --largest 9 --text 3 --output {new}.sketch",
    "release log-alp {counts} --k 9 --epsilon 1 --largest 1e6 --text 3 --output {new}.sketch",
    "release threshold-alp {counts} --k 9 --epsilon 1 --largest 999 --text 3 --output {new}.sketch",
    "release query {compact} 7",
    "release query {counts} 7",
    "release query {alp} 7",
    "release query {signed} 7",
    "release query {histogram} 7",
    "release query {log} 7",
    "release query {threshold} 7",
    "local report {values} --mechanism hadamard --epsilon 1 --public {public} --output {new}.edl",
    "local report {numbers} --mechanism subset --epsilon 1 --k 9 --output {new}.edl",
    "local report {numbers} --mechanism compressive --epsilon 1 --k 9 --m 4 --seed 1 "
    "--output {new}.edl",
    "local compare --k 100 --epsilon 1 --n 1000",
    "local shuffled --k 4 --epsilon 1 --n 50 --delta 1e-3",
    "local plan --k 100 --epsilon 1 --sparsity 2 --error 0.5",
    "local aggregate {subset} {subsetstate} --output {new}.edl",
    "local aggregate {rappor} --output {new}.edl",
    "local estimate {hadamard} --method projected --top 3",
    "local estimate {hadamardstate} --public {public}",
    "local estimate {hashing} --json",
    "local estimate {unary}",
    "local estimate {permanent}",
    "local estimate {compressive}",
    "local estimate {randomized}",
    "local sparse report {ratings} --d 9 --k 3 --epsilon 1 --level user --output {new}.edl",
    "local sparse plan --d 1000 --k 8 --epsilon 1 --level event",
    "local sparse estimate {means} --top 2",
    "local sparse estimate {means} --items {numbers}",
]

#: These start an engine, and are called less often.
COSTLY = [
    "release gshm {rows} --user u --by k --k 1 --epsilon 1 --delta 1e-6 --output {new}.csv",
    "release counts {rows} --user u --by k --k 1 --epsilon 1 --delta 1e-6 --top 2 "
    "--output {new}.json",
    "release counts {parquet} --user u --by k --k 1 --epsilon 1 --delta 1e-6 --selection sips "
    "--output {new}.parquet",
    "release keys {parquet} --user u --by k --k 1 --epsilon 1 --delta 1e-6 --mechanism mad2r "
    "--output {new}.csv",
    "release advise {rows} --user u --by k --epsilon 1 --delta 1e-6 --spend 0.1 --most 9",
    "release csh {parquet} --user u --by k --top 1 --epsilon 1 --delta 1e-6 --output {new}.csv",
    "release gshm {parquet} --user u --by k --k 1 --epsilon 1 --delta 1e-6 --sums v:-3..3:sums "
    "--public {public} --output {new}.csv",
]

_NUMBERS = (
    "", " ", "nan", "-nan", "inf", "-inf", "-1", "-0", "0", "1", "2", "1e9999", "-1e9999", "1e400",
    "1e-9999", "1e-400", "9" * 5000, "0." + "0" * 5000 + "1", "1/0", "1/3", "0/1", "1/-3", "//",
    "0x10", "1_000", "1,5", "½", "٣", "１", "e", "1e", "e5", "0.5", "1e-5", "1e18",
)  # fmt: skip
_TEXTS = (
    "--", "-", "true", "None", "[]", "{}", "a" * 10_000, "\x1b[31m", "\n", "a\nb", "\udce9", "💥",
    "%s", "{0}", "'", '"',
)  # fmt: skip
_PATHS = (
    "../..", "/", "/dev/null", "/proc/self/mem", "nowhere.csv", ".csv", ".edph", ".sketch",
    "x" * 300 + ".csv",
)  # fmt: skip
VALUES = (*_NUMBERS, *_TEXTS, *_PATHS)


def malformed(rng: random.Random, words: list[str]) -> list[str]:
    """The words with one that is odd, missing or repeated."""
    place, kind = rng.randrange(1, len(words)), rng.random()
    if kind < 0.75:
        return [*words[:place], rng.choice(VALUES), *words[place + 1 :]]
    if kind < 0.88:
        return words[:place] + words[place + 1 :]
    return words[:place] + words[place : place + 2] + words[place:]
