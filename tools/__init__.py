"""Programs for maintainers, outside of the wheel: the calculator, papers, notebooks, smoke test."""
