"""Which instruction takes from the stack what another one has put there."""

from __future__ import annotations

import dis

__all__ = ["SILENT", "call_of", "consumer"]

#: Instructions that do nothing.
SILENT = frozenset(["CACHE", "RESUME", "NOP", "EXTENDED_ARG", "COPY_FREE_VARS"])


def call_of(steps: list[dis.Instruction], i: int) -> int | None:
    """The call of what is loaded at i: after it, nothing but its result is on the stack."""
    depth = 0
    for j in range(i, len(steps)):
        depth += dis.stack_effect(steps[j].opcode, steps[j].arg, jump=False)
        if steps[j].opname.startswith("CALL") and depth <= 1:
            return j
        if steps[j].opname == "CALL" and depth <= 2:
            return j
    return None


_PUSHES = ("LOAD_FAST", "LOAD_CONST", "LOAD_DEREF", "LOAD_GLOBAL")


def consumer(steps: list[dis.Instruction], end: int) -> int | None:
    """Where the value on top of the stack after an instruction is taken from it."""
    depth = 1
    for j in range(end + 1, len(steps)):
        pushes = steps[j].opname.startswith(_PUSHES)
        if depth == 1 and not pushes and steps[j].opname not in ("PUSH_NULL", "COPY"):
            return j
        depth += dis.stack_effect(steps[j].opcode, steps[j].arg, jump=False)
        if depth <= 1 and not pushes:
            return j
    return None
