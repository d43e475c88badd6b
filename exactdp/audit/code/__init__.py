"""The audit of code: the exact law of a program that is handed its random generator.

- verdicts, laws: what is asked: is a program private on a pair of data sets, and what is its law?
- judge: explores all branches, then repeats runs. A memo, a counter or a clock makes them differ.
- search, forks, program, runs: one run after the other, in forked children.
- fresh, state: runs in fresh interpreters. Noise drawn at import, the order of a set and hash() of
  text differ there.
- generators, numpy_generators, numpy_laws, draws: the generator that the program is handed.
- lazy, lazy_arrays, revealed, uniform: numbers that are drawn as far as the program looks at them:
  random() < p has two branches instead of 2^53.
- monotone, functions, numpy_floats: functions of such numbers that provably rise or fall.
- guard: draws from another generator, threads, files. watch: noise drawn before the audit, by a
  constructor or by a function that made the program; C functions that draw.
- outcomes: results are plain values, of the closed list of :mod:`exactdp.audit.plain`.
- lines: the line that a message names.
"""

from exactdp.lazy import face

__getattr__, __dir__, __all__ = face(__name__)
