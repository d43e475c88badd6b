"""Small private sketches of sparse vectors, which estimate any entry.

Source: Aumüller, Lebeda and Pagh, "Representing Sparse Vectors with Differential Privacy, Low
Error, Optimal Space, and Fast Access" (ALP).
"""
