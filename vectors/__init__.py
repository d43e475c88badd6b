"""The conformance vectors: how they are made, and what other libraries answer.

- ``generate`` computes the vectors; it shares no code with the calculators.
- ``adapters`` put the vectors to other libraries, each by that library's documentation.
- ``clients`` enumerates the exact laws of other libraries' local clients.
- ``conformance`` writes docs/conformance.md, the page on what all of this found.
- ``peers_tests`` runs other libraries' own tests with the accountants of exactdp.
- ``npm`` is the package of the vectors for JavaScript.
"""
