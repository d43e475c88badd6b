"""Histograms over too many keys to list: noise on non-zero counters, released above a threshold.

- gshm: the Gaussian sparse histogram mechanism (GSHM)
- csh: the correlated sparse histogram (CSH), by the published bounds and the exact analysis
- discrete_gshm, discrete_csh: these two with discrete noise, as they are released
- gshm_sums: counters with sums of users' values
- top_k, discrete_top_k: the k largest counters
- stability: the stability histogram
- comparison, threshold_curves: mechanisms and analyses side by side
"""
