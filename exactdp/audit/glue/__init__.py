"""Glue code: clipping, normalising and domains, checked by recording what enters each noise call.

A pipeline runs on two neighbouring data sets. The first run is recorded: every noise call, with the
values that it protects and their noised results. The second run replays the recorded results, so
that both runs follow the same path unless something other than a noised result depends on the data.
The values of the two runs are then compared exactly with the sensitivity that the code declares.

- check: sensitivity of one pair, search over many pairs
- report: what was found
- primitives: functions that add noise, of diffprivlib, OpenDP, Opacus or your own
- tape, noise, generators: the recording
- distance: exact distances between recorded values
"""

from exactdp.lazy import face

__getattr__, __dir__, __all__ = face(__name__)
