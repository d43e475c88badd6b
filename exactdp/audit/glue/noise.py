"""Noise: an array that notes every value that it is added to, and replays the noised results.

Noise is not a numpy array, so that numpy must ask this class for every operation: a conversion to
a plain number cannot happen unseen.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np

from exactdp.audit.glue.tape import Diverged, Exposed, Meeting, RecordedCall, Tape, place

_KINDS = {
    **dict.fromkeys(("add", "subtract"), "add"),
    **dict.fromkeys(("less", "less_equal", "greater", "greater_equal"), "compare"),
    **dict.fromkeys(("multiply", "divide", "true_divide"), "factor"),
}
#: Methods of arrays that only rearrange elements.
_REARRANGED = frozenset(
    ("reshape", "ravel", "flatten", "transpose", "squeeze", "swapaxes", "item", "take", "repeat")
)
_COPIED = frozenset(("astype", "copy"))
_READ = frozenset(("shape", "size", "ndim", "dtype", "nbytes", "itemsize"))


class Noise(np.lib.mixins.NDArrayOperatorsMixin):
    """Noise values, or values that were noised, of one call.

    ids: the flat indices of the draws that each element was made from. added: where values were
    added. zeros: no value but zeros was added. known: the law is that of the call, up to factors
    and sign.
    """

    __array_priority__ = __pandas_priority__ = 10_000

    def __init__(
        self,
        tape: Tape,
        call: RecordedCall,
        values: Any,
        ids: Any,
        *,
        added: frozenset[Meeting] = frozenset(),
        zeros: bool = True,
        known: bool = True,
    ) -> None:
        self._tape, self._call = tape, call
        self._values, self._ids = np.asarray(values), np.asarray(ids)
        self._added, self._zeros, self._known = added, zeros, known

    def _like(self, values: Any, ids: Any = None, **changes: Any) -> Noise:
        state: dict[str, Any] = {
            "added": self._added,
            "zeros": self._zeros,
            "known": self._known,
        } | changes
        return Noise(self._tape, self._call, values, self._ids if ids is None else ids, **state)

    @property
    def _draws(self) -> frozenset[int]:
        return frozenset(map(int, self._ids.ravel()))

    def _out(self) -> Any:
        """The plain values, where they leave this class; noise that met no value is lost."""
        self._call.left.append(Exposed(place(), self._draws, self._added))
        if self._zeros:
            (self._call.doubtful if self._added else self._call.lost).append(place())
        return self._values

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        targets = options.pop("out", ())
        if method != "__call__" or ufunc.nout != 1:
            result: Any = self._reduced(ufunc, method, inputs, options)
        else:
            operands = [plain(each) for each in inputs]
            result = self._operation(ufunc, inputs, operands, ufunc(*operands, **options))
        if targets and targets[0] is not None:
            target = targets[0]
            if isinstance(target, Noise):
                target.__dict__.update(result.__dict__)
            else:
                target[...] = result._out() if isinstance(result, Noise) else result
            return target
        return result

    def _operation(self, ufunc: Any, inputs: Any, operands: Any, result: Any) -> Any:
        others = [i for i, each in enumerate(inputs) if not isinstance(each, Noise)]
        kind = _KINDS.get(ufunc.__name__, ufunc.__name__)
        if ufunc.__name__ in ("divide", "true_divide") and others == [0]:
            kind = "reciprocal"  # a value divided by noise
        if not others or np.shape(result) != np.broadcast_shapes(*map(np.shape, operands)):
            return self._derived(ufunc, inputs, operands, others, kind, result)
        value = np.asarray(operands[others[0]])
        if value.dtype == object:
            value = np.asarray(value.tolist())
        noise = next(each for each in inputs if isinstance(each, Noise))
        ids = np.broadcast_to(noise._ids, np.shape(result))
        if kind == "compare" and self._call.coin:
            kind = "chance"
        value = np.array(np.broadcast_to(value, np.shape(result)))
        divides = kind == "factor" and ufunc.__name__ != "multiply"
        meeting = Meeting(
            kind, place(), ids, value, np.array(result), noise._added, noise._known, divides
        )
        result = noise._meet(meeting)
        table = next((each for each in operands if hasattr(each, "iloc")), None)
        if table is not None:  # of pandas, whose methods the pipeline goes on to use
            return type(table)(result, index=table.index, **_columns(table))
        if kind in ("compare", "chance", "equal", "not_equal"):
            return result[()]
        return noise._like(
            result,
            ids,
            added=noise._added | {meeting} if kind == "add" else noise._added,
            zeros=noise._zeros and (kind != "add" or not value.any()),
            known=noise._known and kind in ("add", "factor"),
        )

    def _derived(
        self, ufunc: Any, inputs: Any, operands: Any, others: Any, kind: str, result: Any
    ) -> Noise:
        """Noise made of noise: functions of it, sums with other noise, linear combinations."""
        for i in others:
            value = np.asarray(operands[i])
            ids = np.zeros(value.shape, dtype=int)
            self._meet(
                Meeting(kind, place(), ids, value, np.asarray(result), self._added, known=False)
            )
        if len(inputs) == 1 or not others:
            first = next(each for each in inputs if isinstance(each, Noise))
            ids = np.broadcast_to(first._ids, np.shape(result))
        else:
            ids = np.arange(np.size(result)).reshape(np.shape(result))
        parts = [each for each in inputs if isinstance(each, Noise)]
        added = frozenset[Meeting]().union(*(each._added for each in parts))
        for one, two in permutations(parts, 2):
            if one._call is two._call:
                exposed = Exposed(place(), one._draws, one._added, two._added)
                one._call.exposed.append(exposed)
        known = self._known and ufunc.__name__ in ("negative", "positive")
        return self._like(result, ids, added=added, known=known)

    def _reduced(self, ufunc: Any, method: str, inputs: Any, options: Any) -> Any:
        if method != "reduce" or ufunc.nout != 1:
            return getattr(ufunc, method)(
                *[each._out() if isinstance(each, Noise) else each for each in inputs], **options
            )
        return self._like(
            ufunc.reduce(self._values, **options),
            np.minimum.reduce(
                self._ids, axis=options.get("axis", 0), keepdims=options.get("keepdims", False)
            ),
            known=False,
        )

    def _meet(self, meeting: Meeting) -> np.ndarray[Any, Any]:
        """Note a meeting; in the second run, return the result of the first."""
        call, number = self._call, len(self._call.meetings)
        call.meetings.append(meeting)
        before = call.before
        if before is None:
            return meeting.result.copy()
        if number >= len(before.meetings):
            if call.coin:
                return meeting.result
            raise Diverged(
                "structure", meeting.where, f"{call.name} noise is used on the right only"
            )
        then = before.meetings[number]
        if (then.kind, then.value.shape) == (meeting.kind, meeting.value.shape):
            return then.result.copy()
        if call.coin:
            call.before = None  # coins of sampling: not compared from here on
            return meeting.result
        raise Diverged(
            "structure",
            meeting.where,
            f"{call.name} noise is combined ({then.kind}) with a value of shape "
            f"{then.value.shape} on the left, ({meeting.kind}) {meeting.value.shape} on the right",
        )

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        return function(*_opened(args), **_opened(options))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.asarray(self._out(), dtype=dtype)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in _READ:
            return getattr(self._values, name)
        if name in ("T", "real"):
            return self._like(getattr(self._values, name), getattr(self._ids, name))
        if name in _REARRANGED:
            return lambda *a, **k: self._like(
                getattr(self._values, name)(*a, **k), getattr(self._ids, name)(*a, **k)
            )
        if name in _COPIED:
            return lambda *a, **k: self._like(getattr(self._values, name)(*a, **k))
        if name == "sum":
            return lambda axis=None, keepdims=False: self._reduced(
                np.add, "reduce", (self,), {"axis": axis, "keepdims": keepdims}
            )
        return getattr(self._out(), name)

    def __getitem__(self, key: Any) -> Noise:
        key = plain(key) if isinstance(key, Noise) else key
        return self._like(self._values[key], self._ids[key])

    def __setitem__(self, key: Any, value: Any) -> None:
        self._values[key] = value._out() if isinstance(value, Noise) else value

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Any:
        return (self[i] for i in range(len(self)))

    def __round__(self, digits: int | None = None) -> Any:
        return self._like(np.round(self._values, digits or 0), known=False)

    def __reduce__(self) -> Any:
        return (np.asarray, (self._out(),))

    def __copy__(self) -> Noise:
        return self._like(self._values.copy())

    def __deepcopy__(self, memo: Any) -> Noise:
        return self._like(self._values.copy())


def _leaving(convert: Callable[..., Any]) -> Callable[..., Any]:
    return lambda noise, *more: convert(noise._out()[()], *more)


_CONVERSIONS: dict[str, Callable[..., Any]] = {
    "__float__": float,
    "__int__": int,
    "__index__": operator.index,
    "__complex__": complex,
    "__bool__": bool,
    "__hash__": hash,
    "__format__": format,
    "__repr__": repr,
}
for _name, _convert in _CONVERSIONS.items():
    setattr(Noise, _name, _leaving(_convert))


def _columns(table: Any) -> dict[str, Any]:
    return {"columns": table.columns} if hasattr(table, "columns") else {"name": table.name}


def plain(value: Any) -> Any:
    """The plain values of noise, inside an operation; other values unchanged."""
    return value._values if isinstance(value, Noise) else value


def _opened(value: Any) -> Any:
    if isinstance(value, Noise):
        return value._out()[()]
    if isinstance(value, list | tuple):
        return type(value)(map(_opened, value))
    if isinstance(value, dict):
        return {key: _opened(each) for key, each in value.items()}
    return value


def released(value: Any) -> Any:
    """An output with plain numbers for noise, all through its containers."""
    if isinstance(value, Noise):
        value._call.exposed.append(Exposed("output", value._draws, value._added))
        return value._values[()]
    if type(value) in (list, tuple, set):
        return type(value)(map(released, value))
    if type(value) is dict:
        return {released(key): released(each) for key, each in value.items()}
    if isinstance(value, np.ndarray) and value.dtype == object:
        return np.array([released(each) for each in value.ravel()], dtype=object)
    if hasattr(value, "__dict__") and not isinstance(value, type) and not callable(value):
        for name, each in list(vars(value).items()):
            if isinstance(each, Noise | list | tuple | dict):
                object.__setattr__(value, name, released(each))
    return value
