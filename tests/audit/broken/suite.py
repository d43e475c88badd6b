"""SUITE: every broken mechanism with its correct twin."""

from __future__ import annotations

from tests.audit.broken import (
    composition,
    floating_point,
    histograms,
    local,
    noise,
    randomness,
    selection,
    sensitivity,
    sparse_vector,
    structure,
    thresholds,
)
from tests.audit.broken.case import Case

SUITE: tuple[Case, ...] = (
    *noise.CASES,
    *sensitivity.CASES,
    *thresholds.CASES,
    *selection.CASES,
    *sparse_vector.CASES,
    *floating_point.CASES,
    *randomness.CASES,
    *local.CASES,
    *composition.CASES,
    *histograms.CASES,
    *structure.CASES,
)
