"""Audits of outputs: what to look at in them, what is counted, and what the counts certify."""

from exactdp.audit.outputs import coordinates, places, transforms

__all__ = ["coordinates", "places", "transforms"]  # imported because they define the features
