"""Relations between neighbouring data sets, and the texts that state them.

A text is "relation: what differs", for example how much of the data one user may change. Promises
for one relation compose: together they cover the neighbours that each of them covers. A text
without a relation of this table (two vectors, two values of one user) is a relation of its own.
"""

from __future__ import annotations

from exactdp.errors import InvalidParameter

_ADDED, _REPLACED, _NULLED = _RELATIONS = (
    "add-remove neighbours",
    "replace-one neighbours",
    "replace-special neighbours",
)

ADD_REMOVE = f"{_ADDED}: one user takes part or not"
REPLACE_ONE = f"{_REPLACED}: one user's data is replaced by other data"
REPLACE_SPECIAL = f"{_NULLED}: one user's data is replaced by a null record"
REPLACED_ROW = f"{_REPLACED}: one of the n rows replaced by another, n being public"

REPLACED_VALUE = f"{_REPLACED}: the value of one user replaced by another value"


def add_remove(change: str) -> str:
    """Add-remove neighbours, with a bound of what one user changes."""
    return f"{_ADDED}: one user added or removed, {change}"


ANY_COUNTERS = add_remove("changing any number of counters by one")


def changed_counters(k: int) -> str:
    """Users contribute to at most k counters; the histogram may have any number of them."""
    return add_remove(f"changing at most k = {k} counters by one each")


def sparse_counters(sparsity: int, contributions: int | None = None) -> str:
    """Users change counters of a histogram that is sparse as a whole, whatever the data are.

    sparsity: the largest number of non-zero counters. contributions: the largest number of counters
    of one user, if that is smaller.
    """
    changed = "counters" if contributions is None else f"at most {contributions} counters"
    return add_remove(
        f"in a histogram that never has more than sparsity = {sparsity} non-zero counters, "
        f"changing {changed} by one each, all in the same direction"
    )


def group(size: int) -> str:
    """A group of users takes part or not."""
    return f"{_ADDED} in groups of {size}: all users of the group take part or not"


def known(neighbours: str) -> str:
    """A text that states a relation of the table. Raises InvalidParameter."""
    if relation(neighbours) not in _RELATIONS:
        allowed = f"{', '.join(_RELATIONS[:-1])} or {_RELATIONS[-1]}, as a guarantee states them"
        raise InvalidParameter("neighbours", neighbours, allowed)
    return neighbours


def is_derived(neighbours: str) -> bool:
    """Whether samples must be drawn before the neighbours become these."""
    return neighbours.startswith(_RELATIONS) and relation(neighbours) != _ADDED


def has_named_side(neighbours: str) -> bool:
    """Whether the neighbours differ in a way that says which of both comes first in all mechanisms.

    One of two add-remove neighbours has the user (or the group) and the other has not; one of two
    replace-special neighbours has the null record. So the law "with the user" is the first one of
    every mechanism, or of none. Replaced data have no such side, nor have the neighbours of a text
    that is no relation of the table: one value of a user may raise the first answer and lower the
    second, so that each mechanism has its own order of the pair.

    >>> has_named_side(ADD_REMOVE), has_named_side(REPLACE_ONE), has_named_side("two values")
    (True, False, False)
    """
    return neighbours.startswith((_ADDED, _NULLED))


def relation(neighbours: str) -> str:
    """The relation that a text states.

    >>> relation("add-remove neighbours: one user added or removed, changing k counters")
    'add-remove neighbours'
    """
    prefix = neighbours.partition(":")[0]
    return prefix if prefix.startswith(_RELATIONS) else neighbours


def of_one_user(neighbours: str) -> tuple[str, str]:
    """For a line of a table, from a text of add-remove neighbours: the change, and its bound.

    >>> of_one_user(changed_counters(10))
    ('one user added or removed', 'at most k = 10 counters')
    """
    change, _, bound = neighbours.partition(": ")[2].partition(", ")
    return change, bound.removeprefix("changing ").removesuffix(" each").removesuffix(" by one")


def covered_by(name: str, first: str, *others: str) -> str:
    """The neighbours that all of these texts cover. Raises InvalidParameter for two relations.

    >>> covered_by("other", REPLACE_ONE, REPLACED_ROW).partition("; ")[2]
    'one of the n rows replaced by another, n being public'
    """
    shared = relation(first)
    for other in others:
        if relation(other) != shared:
            raise InvalidParameter(name, other, f"for the relation {shared!r}")
    if not others or shared == first:
        return first
    said = [part for text in (first, *others) for part in text.partition(": ")[2].split("; ")]
    return f"{shared}: {'; '.join(dict.fromkeys(said))}"
