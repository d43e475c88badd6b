"""BV, Section 2.3: why a histogram is released as a sorted list and not as the tree that holds it.

The trees are red-black trees with insertion by the four rotations; every tree is checked to be one.
"""

from __future__ import annotations

from itertools import permutations
from typing import NamedTuple

from exactdp.proofs_check.claim import require
from exactdp.proofs_check.entries import BV, varied

__all__ = ["CLAIMS"]


class _Node(NamedTuple):
    red: bool
    left: _Node | None
    key: int
    right: _Node | None


_Tree = _Node | None


def _insert(tree: _Tree, key: int) -> _Node:
    """A new key below a black root."""
    return _below(tree, key)._replace(red=False)


def _below(tree: _Tree, key: int) -> _Node:
    if tree is None:
        return _Node(True, None, key, None)
    if key < tree.key:
        return _balanced(tree._replace(left=_below(tree.left, key)))
    return _balanced(tree._replace(right=_below(tree.right, key)))


def _balanced(node: _Node) -> _Node:
    """A black node whose child and grandchild are red becomes red with two black children."""
    if node.red:
        return node
    found = _in_line(node)
    if found is None:
        return node
    a, x, b, y, c, z, d = found
    return _Node(True, _Node(False, a, x, b), y, _Node(False, c, z, d))


def _in_line(node: _Node) -> tuple[_Tree, int, _Tree, int, _Tree, int, _Tree] | None:
    """Subtrees and keys, from left to right, of the two red nodes in a row and their black one."""
    left, right = node.left, node.right
    if left and left.red and left.left and left.left.red:
        low = left.left
        return low.left, low.key, low.right, left.key, left.right, node.key, right
    if left and left.red and left.right and left.right.red:
        low = left.right
        return left.left, left.key, low.left, low.key, low.right, node.key, right
    if right and right.red and right.left and right.left.red:
        low = right.left
        return left, node.key, low.left, low.key, low.right, right.key, right.right
    if right and right.red and right.right and right.right.red:
        low = right.right
        return left, node.key, right.left, right.key, low.left, low.key, low.right
    return None


def _in_order(tree: _Tree) -> list[int]:
    return [] if tree is None else [*_in_order(tree.left), tree.key, *_in_order(tree.right)]


def _black_height(tree: _Tree) -> int:
    """The number of black nodes down to every leaf; no red node has a red child."""
    if tree is None:
        return 0
    heights = {_black_height(tree.left), _black_height(tree.right)}
    reds = [child for child in (tree.left, tree.right) if tree.red and child and child.red]
    require(len(heights) == 1 and not reds, f"not a red-black tree: {tree}")
    return heights.pop() + (not tree.red)


def _order_hidden(alone: int) -> str:
    """All orders of insertion give one list, but one tree only for at most so many bins."""
    count = 0
    for size in range(1, 7):
        trees, lists = set(), set()
        for order in permutations(range(size)):
            tree: _Tree = None
            for key in order:
                tree = _insert(tree, key)
            _black_height(tree)
            trees.add(tree)
            lists.add(tuple(_in_order(tree)))
            count += 1
        require(lists == {tuple(range(size))}, f"{size} bins: {len(lists)} lists")
        require((len(trees) == 1) == (size <= alone), f"{size} bins: {len(trees)} trees")
    return f"{count} orders of up to 6 bins, which give {len(trees)} trees"


CLAIMS = (
    BV.verified(
        "Section 2.3, in-order traversal",
        "The shape of a red-black tree of two bins or more depends on the order of insertion, so "
        "it could tell more than the bins; the list of an in-order traversal does not.",
        "enumeration",
        **varied(_order_hidden, 1, 2, "of three bins or more only"),
    ),
)
