"""A program run once: what it shows, with a generator of ours in place of its own."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from exactdp.audit.code.draws import Draws
from exactdp.audit.code.forks import ProgramRaised
from exactdp.audit.code.generators import ExactRandom
from exactdp.audit.code.numpy_generators import ExactGenerator
from exactdp.audit.code.outcomes import Outcome
from exactdp.audit.code.runs import NeverEnds
from exactdp.errors import ExactDPError, NotEnumerable, NotReproducible
from exactdp.samplers.enumeration_branches import RunOver

INTERFACES: dict[str, Callable[[Draws], Any]] = {
    "random": ExactRandom,
    "numpy": ExactGenerator,
    "source": lambda draws: draws.run,
}


@dataclass(frozen=True)
class Program:
    """A program. function: called with a generator. catches: whether an exception is an outcome."""

    function: Callable[[Any], Any]
    interface: str
    catches: bool

    def observe(self, draws: Draws, watched: AbstractContextManager[None]) -> Outcome:
        """What a run shows; errors of the program are raised as ProgramRaised.

        Raises the signal that has ended the run early, whatever the program made of it.
        """
        run, generator = draws.run, INTERFACES[self.interface](draws)
        # lazy numbers look ahead to where numpy may warn; ordinary ones warn where the program is
        silent = np.errstate(all="ignore") if draws.lazy else nullcontext()
        value, raised, outcome = None, None, None
        try:
            with silent, watched:
                value = self.function(generator)
        except KeyboardInterrupt:
            raise  # the user interrupted the run
        except BaseException as error:
            raised = error
        try:
            if isinstance(raised, NotEnumerable):
                raise raised  # an outcome of one of several calls
            if run.signal is None and raised is None:
                outcome = value if isinstance(value, Outcome) else Outcome.returned(value)
            elif run.signal is None:
                if not (self.catches and isinstance(raised, (Exception, SystemExit))):
                    raise ProgramRaised(type(raised).__name__, draws.points()[0]) from raised
                outcome = Outcome.raised(raised)
        except RunOver:
            pass
        except ExactDPError as error:
            if run.signal is None:
                raise error
        finally:
            run.close()
        if isinstance(run.signal, NeverEnds):
            if raised is not run.signal or run.signal.later:
                raise NotEnumerable("a call never ends for some draws, after others were shown")
            return Outcome("never ends", "never ends")
        if run.signal is not None or outcome is None:  # also if it made fewer choices than before
            raise run.signal or NotReproducible("a run ended without a reason")
        return outcome
