"""Scripts that make the conformance vectors; nothing here imports a calculator of this library.

Run ``python -m vectors.generate`` to write every file, or name groups.
"""
