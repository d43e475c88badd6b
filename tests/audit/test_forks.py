"""Work in forked children: answers, errors and ends."""

from __future__ import annotations

import os

import pytest

from exactdp.audit.code.forks import in_fork
from exactdp.errors import AuditFailed, NotEnumerable


def test_a_fault_of_the_audit_is_not_blamed_on_the_program() -> None:
    with pytest.raises(AuditFailed, match="ZeroDivisionError"):
        in_fork(lambda: 1 // 0)


def test_a_program_that_ends_its_process_is_refused() -> None:
    with pytest.raises(NotEnumerable, match=r"ended its process \(status 768\)"):
        in_fork(lambda: os._exit(3))
