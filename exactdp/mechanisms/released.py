"""Python container interfaces of releases (mappings) and of sketches (a value for every entry)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, NoReturn, Self, TypeVar, cast

from exactdp.accounting.guarantee import Guarantee
from exactdp.display import Displayed, summary

K = TypeVar("K")
V = TypeVar("V")


class Released(Mapping[K, V]):
    """A mapping of released elements to their values, in ascending order of the elements.

    As with collections.Counter, if x was not released then ``release[x]`` is 0, ``x in release`` is
    False and ``release.get(x)`` is None. Each takes constant time. A release equals every mapping
    with the same items.
    """

    #: Pairs of element and value in ascending order of elements.
    bins: tuple[tuple[K, V], ...]

    @cached_property
    def _items(self) -> dict[K, V]:
        return dict(self.bins)

    def __getitem__(self, element: K) -> Any:
        """The released value of an element; 0 if the element was not released."""
        return self._items.get(element, 0)

    def __contains__(self, element: object) -> bool:
        return element in self._items

    def get(self, element: K, default: Any = None, /) -> Any:
        """The released value of an element, or the default if the element was not released."""
        return self._items.get(element, default)

    def __iter__(self) -> Iterator[K]:
        return iter(self._items)

    def __hash__(self) -> int:
        return hash(self.bins)

    def __len__(self) -> int:
        return len(self._items)


class Estimates(Displayed):
    """A container with a value for every possible entry, which cannot be searched or listed.

    Otherwise ``x in sketch`` and ``list(sketch)`` would evaluate sketch[0], sketch[1], and so on.
    """

    mechanism: Any

    @property
    def guarantee(self) -> Guarantee:
        """The privacy guarantee of the release."""
        guarantee: Guarantee = self.mechanism.guarantee
        return guarantee

    def of_texts(self, longest: int | None) -> Self:
        """The same release, marked as one about byte strings of at most this length."""
        release: Any = self
        return cast(Self, replace(release, text=longest))

    @abstractmethod
    def to_bytes(self) -> bytes:
        """The release as a file holds it."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.to_bytes() == cast(Self, other).to_bytes()

    def __hash__(self) -> int:
        return hash(self.to_bytes())

    def __repr__(self) -> str:
        return f"<{self._title()}, {self.guarantee}>"

    def _title(self) -> str:
        return f"{type(self).__name__} by {type(self.mechanism).__name__}"

    def _rows(self) -> Mapping[str, object]:
        size = f"{len(self.to_bytes())} bytes"
        parameters = summary(self.mechanism)
        return {"parameters": parameters, "size": size, "guarantee": self.guarantee}

    def __contains__(self, entry: object) -> NoReturn:
        raise TypeError(f"every entry has a value in a {type(self).__name__}: ask for the value")

    def __iter__(self) -> NoReturn:
        kind = type(self).__name__
        raise TypeError(f"a {kind} has a value for every possible entry: ask for those you need")
