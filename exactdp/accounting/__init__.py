"""From parameters to certified delta, and back: one module per mechanism, imported when used."""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from exactdp.accounting.sparse_histograms import (
        csh,
        csh_target,
        discrete_csh,
        discrete_gshm,
        discrete_top_k,
        gshm,
        gshm_sums,
        stability,
        top_k,
    )

__all__ = [
    "composition",
    "csh",
    "csh_target",
    "discrete_csh",
    "discrete_gaussian",
    "discrete_gshm",
    "discrete_top_k",
    "divergence",
    "gaussian",
    "gshm",
    "gshm_sums",
    "stability",
    "top_k",
    "zcdp",
]

_GROUPED = {
    "csh",
    "csh_target",
    "discrete_csh",
    "discrete_gshm",
    "discrete_top_k",
    "gshm",
    "gshm_sums",
    "stability",
    "top_k",
}


def __getattr__(name: str) -> ModuleType:
    """The modules by their short names, as in ``from exactdp.accounting import csh``."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    group = ".sparse_histograms" if name in _GROUPED else ""
    return import_module(f"{__name__}{group}.{name}")
