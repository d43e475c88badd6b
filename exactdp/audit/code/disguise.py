"""What isinstance says of an object that stands for another one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn


class SeenAs:
    """The ``__class__`` of objects that pass for others: ``__class__ = SeenAs(kind)``.

    kind: the type that isinstance sees of an object.
    """

    def __init__(self, kind: Callable[[Any], type]) -> None:
        self._kind = kind

    def __get__(self, instance: Any, owner: type) -> type:
        return self._kind(instance)

    def __set__(self, instance: Any, value: type) -> NoReturn:
        raise AttributeError("__class__ cannot be set")
