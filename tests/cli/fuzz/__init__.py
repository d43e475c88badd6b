"""Malformed calls and files, numbered: each ends in one line, with the right code, leaving nothing.

``python -m tests.cli.fuzz 100000`` runs the calls 0 to 99999; ``--first`` goes on from any of them,
and a failure names its number, so that it can be repeated alone.
"""

from tests.cli.fuzz.running import Failure, fuzz, unharmed

__all__ = ["Failure", "fuzz", "unharmed"]
