"""Plans: certified noise and thresholds for engines that run elsewhere, as code for each engine.

No data are read. `read_queries` reads questions from a TOML file, `plan` certifies noise for all of
them together, and the engines in :data:`ENGINES` write the code that runs there.
"""

from exactdp.lazy import face

__getattr__, __dir__, __all__ = face(__name__)
