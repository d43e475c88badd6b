"""Strongly connected components, each before those to which its arrows lead."""

from __future__ import annotations

from collections.abc import Sequence


def components(after: Sequence[Sequence[int]]) -> list[list[int]]:
    """The components of a graph, in an order in which no arrow leads back.

    after: for each node, the nodes to which its arrows lead.

    Source: Tarjan, Depth-first search and linear graph algorithms, 1972, without recursion.
    """
    number: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    waiting: set[int] = set()
    groups: list[list[int]] = []
    for root in range(len(after)):
        if root in number:
            continue
        path = [(root, iter(after[root]))]
        number[root] = low[root] = len(number)
        stack.append(root)
        waiting.add(root)
        while path:
            node, arrows = path[-1]
            for other in arrows:
                if other not in number:
                    number[other] = low[other] = len(number)
                    stack.append(other)
                    waiting.add(other)
                    path.append((other, iter(after[other])))
                    break
                if other in waiting:
                    low[node] = min(low[node], number[other])
            else:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[node])
                if low[node] == number[node]:
                    group: list[int] = []
                    while not group or group[-1] != node:
                        group.append(stack.pop())
                        waiting.discard(group[-1])
                    groups.append(group)
    return groups[::-1]
