"""SUITE: every broken mechanism with its correct twin."""

from __future__ import annotations

import importlib

from tests.audit.broken.case import CASES, Case

_MODULES = (
    "noise sensitivity thresholds selection sparse_vector floating_point randomness local "
    "composition histograms structure"
)
for _module in _MODULES.split():
    importlib.import_module(f"tests.audit.broken.{_module}")

SUITE: tuple[Case, ...] = tuple(CASES)
