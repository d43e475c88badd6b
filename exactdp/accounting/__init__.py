"""From parameters to certified delta, and back: one module per mechanism."""

from exactdp.accounting import csh, gaussian, gshm

__all__ = ["csh", "gaussian", "gshm"]
