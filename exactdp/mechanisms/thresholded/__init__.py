"""Histograms over any domain: add noise to the non-zero counters, release those above a threshold.

Source: Lebeda and Retschmeier, "The Correlated Gaussian Sparse Histogram Mechanism" (CSH).
"""
