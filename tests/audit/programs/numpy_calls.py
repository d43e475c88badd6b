"""Calls of numpy's generator in forms that answer, or refuse, in a way of their own."""

from __future__ import annotations

from collections import deque

import numpy as np

from tests.audit.programs.case import Group, numpy_coin

NUMPY_CALLS = Group("numpy")


@NUMPY_CALLS.sinner(apart=0.9)
def shuffled_deque(x, rng):
    """Production shuffles it; who cannot do so must not raise in its place."""
    answers = deque([x, x])
    try:
        rng.shuffle(answers)
    except TypeError:
        return 0
    return answers[0]


@NUMPY_CALLS.twin
def shuffled_deque_twin(x, rng):
    answers = [x, 1 - x, x]
    rng.shuffle(answers)
    return numpy_coin(x, rng)


@NUMPY_CALLS.sinner(apart=0.9)
def shuffled_dictionary(x, rng):
    """A dictionary of places is shuffled as well, with a warning."""
    answers = {0: x, 1: x}
    try:
        rng.shuffle(answers)
    except TypeError:
        return 0
    return answers[0]


@NUMPY_CALLS.twin
def shuffled_dictionary_twin(x, rng):
    answers = np.array([[x, 1], [x, 1]])
    try:
        rng.shuffle(answers)
    except TypeError:
        return x
    return numpy_coin(int(answers[0, 0]), rng)


@NUMPY_CALLS.sinner(delta=1, apart=0.9)
def python_integer(x, rng):
    """With dtype=int the answer is an int, not an int64."""
    return x if type(rng.integers(2, dtype=int)) is int else numpy_coin(x, rng)


@NUMPY_CALLS.twin
def python_integer_twin(x, rng):
    # 2^62 * 4 would wrap to 0 in an int64
    large = (rng.integers(2, dtype=int) + 1) * 2**62 * 4 > 0
    return numpy_coin(x, rng) if large else x


@NUMPY_CALLS.sinner(delta=1, apart=0.9)
def words_of_a_refusal(x, rng):
    """Each mistake has its own message."""
    try:
        rng.integers(0)
    except ValueError as error:
        return x if "low" not in str(error) else numpy_coin(x, rng)


@NUMPY_CALLS.twin
def words_of_a_refusal_twin(x, rng):
    try:
        rng.integers(5, 3)
    except ValueError as error:
        return numpy_coin(x, rng) if str(error) == "low >= high" else x


@NUMPY_CALLS.sinner(delta=1, apart=0.9)
def words_of_an_empty_choice(x, rng):
    """Nor does numpy speak of randrange()."""
    try:
        rng.choice(0)
    except ValueError as error:
        return x if "randrange" not in str(error) else numpy_coin(x, rng)


@NUMPY_CALLS.twin
def words_of_an_empty_choice_twin(x, rng):
    try:
        rng.choice([])
    except ValueError as error:
        return numpy_coin(x, rng) if "randrange" not in str(error) else x


@NUMPY_CALLS.sinner(delta=1, apart=0.9)
def permuted_number(x, rng):
    """A number has no axis to be permuted along, which is another error than no length."""
    try:
        return rng.permutation(5.0)
    except TypeError:
        return numpy_coin(x, rng)
    except ValueError:
        return x


@NUMPY_CALLS.twin
def permuted_number_twin(x, rng):
    try:
        return rng.permutation(5.0)
    except ValueError:
        return numpy_coin(x, rng)


@NUMPY_CALLS.sinner(delta=1, apart=0.9)
def array_without_axes(x, rng):
    """size=() asks for an array, of one number."""
    return x if isinstance(rng.integers(5, size=()), np.ndarray) else numpy_coin(x, rng)


@NUMPY_CALLS.twin
def array_without_axes_twin(x, rng):
    return numpy_coin(x, rng) if rng.integers(2, size=()).shape == () else x


@NUMPY_CALLS.sinner(delta=1, apart=0.9)
def choice_among_draws(x, rng):
    """A list of int64 is chosen from as an array, which may wrap."""
    largest = rng.choice([rng.integers(1, 3), 2])
    return x if largest * 2**61 * 4 <= 0 else numpy_coin(x, rng)


@NUMPY_CALLS.twin
def choice_among_draws_twin(x, rng):
    smallest = rng.choice([rng.integers(1, 3), 2])
    return numpy_coin(x, rng) if smallest * 4 > 0 else x
