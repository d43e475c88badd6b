"""From parameters to a certified delta, and back: one module per mechanism, loaded when used."""

from typing import TYPE_CHECKING

from exactdp.lazy import lazily

if TYPE_CHECKING:
    from exactdp.accounting.sparse_histograms import (
        csh,
        csh_sums,
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
    "correlated_gaussian",
    "csh",
    "csh_sums",
    "discrete_csh",
    "discrete_gaussian",
    "discrete_gshm",
    "discrete_top_k",
    "divergence",
    "gaussian",
    "gshm",
    "gshm_sums",
    "pld",
    "stability",
    "top_k",
    "zcdp",
]

__getattr__, __dir__ = lazily(
    __name__,
    {
        "composition": "",
        "correlated_gaussian": "",
        "sparse_histograms.csh": "",
        "sparse_histograms.csh_sums": "",
        "sparse_histograms.discrete_csh": "",
        "discrete_gaussian": "",
        "sparse_histograms.discrete_gshm": "",
        "sparse_histograms.discrete_top_k": "",
        "divergence": "",
        "gaussian": "",
        "sparse_histograms.gshm": "",
        "sparse_histograms.gshm_sums": "",
        "sparse_histograms.stability": "",
        "sparse_histograms.top_k": "",
        "pld": "",
        "zcdp": "",
    },
)
