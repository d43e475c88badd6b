"""State for the programs that import this where they use it."""

calls = 0
others = 0
