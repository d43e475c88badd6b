"""Events that tell two data sets apart: what to look at in an output, and how to find them."""
