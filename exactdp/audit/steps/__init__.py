"""The law of a program in a small part of Python, found step by step from its text.

A program that draws noise in loops of its own has far too many runs to follow one by one. Here its
text is read, and only what stands on closed lists is taken: numbers, tuples, lists and dictionaries
of its own, loops, conditions, draws, and calls of functions of the same kind. Of such a program the
whole state is known: the place in the text, and the values that are still needed. Runs that reach
the same state go on as one. Everything else is refused, and the program is run instead.

- values: the values of variables, none of which can be changed in place
- source: the syntax tree of a function, which must compile to the function's own code
- operators: operators and functions that are taken
- variables, coins, calls, comprehensions, expressions, statements, translation: the steps of a
  function
- draws: what a generator returns, with probabilities
- chain: the law of a function, from the states that it can reach
- parts, products: outputs whose parts are independent of each other
- scripts: single runs, to be repeated by the program itself
"""
