"""Histograms over too many keys to list: what their calculators share, and their comparison.

The calculators are the modules gshm, csh, discrete_gshm, discrete_csh, gshm_sums, csh_sums, top_k,
discrete_top_k and stability of :mod:`exactdp.accounting`.

- comparison, threshold_curves: mechanisms and analyses side by side
- the other modules: bounds, searches and sums that the calculators use
"""
