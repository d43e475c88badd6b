"""From parameters to certified delta, and back: one module per mechanism, imported when used."""

__all__ = [
    "composition",
    "csh",
    "discrete_csh",
    "discrete_gaussian",
    "divergence",
    "gaussian",
    "gshm",
    "top_k",
    "zcdp",
]
