"""Histograms over too many keys to list: noise on non-zero counters, released above a threshold.

- gshm: the Gaussian sparse histogram mechanism
- csh: the correlated sparse histogram, with the published bounds and the exact analysis (csh_exact)
- discrete_csh: the same with discrete noise, as it is released
- top_k: the k heaviest counters
- comparison, curves: mechanisms and analyses side by side
"""
