"""Tools for the maintainers of exactdp, outside its wheel: run them with ``python -m tools....``.

- ``generate`` computes the conformance vectors; it shares no code with the calculators.
- ``adapters`` put the vectors to other libraries, each by that library's documentation.
- ``clients`` enumerates the exact laws of other libraries' local clients.
- ``conformance`` writes docs/conformance.md, the page on what all of this found.
"""
