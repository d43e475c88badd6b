"""Histograms of a data set of n rows, by integer arithmetic.

Source: Balcer and Vadhan, "Differential Privacy on Finite Computers" (BV).
"""
