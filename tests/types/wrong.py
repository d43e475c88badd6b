"""Lines of which each has a mistake that type checkers report."""

from datetime import date

import numpy as np

from exactdp.accounting import gsmh  # wrong
from exactdp.accounting.pld import gausian  # wrong
from exactdp.mechanisms import GSMH  # wrong
from exactdp.samplers import DiscretGaussian  # wrong
from exactdp.oracle import load_vectors  # wrong
from exactdp.audit import privat  # wrong
from exactdp.frames import releases  # wrong
from exactdp.local import RandomisedResponse  # wrong
from exactdp.local.sparse import OneBits  # wrong
from exactdp.accounting.risk import Advantag  # wrong
from exactdp.registry import linter  # wrong
from exactdp.statement import Statment  # wrong
from exactdp.plans import Plans  # wrong
from exactdp.audit.glue import search_all  # wrong
from exactdp.audit.code import foreign_laws  # wrong
from exactdp.accounting.pld.ask import Deltas  # wrong
from exactdp import Enclosures  # wrong
import exactdp.accounting.gausian  # wrong
from exactdp import registry
from exactdp.accounting import gaussian, gshm, pld, zcdp
from exactdp.accounting.risk import Advantage
from exactdp.frames import Mean
from exactdp.local.sparse import OneBit
from exactdp.mechanisms import GSHM
from exactdp.oracle import assert_private
from exactdp.samplers import DiscreteGaussian, SystemSource

gaussian.delta(sigma=4, epsilom=1)  # wrong
gaussian.delta(sigma=[4], epsilon=1)  # wrong
gaussian.delta(4, 1)  # wrong
gaussian.delta(sigma=np.array(2), epsilon=1)  # wrong
gaussian.delta(sigma=2, epsilon=date(2026, 1, 1))  # wrong
gaussian.calibrate(epsilon=1, delta="1e-6").delat  # wrong
gaussian.calibrate(epsilon=1, delta="1e-6").sigm  # wrong
gshm.calibrate(k=10, epsilon=1, delta="1e-6").instance  # wrong
gshm.delta(k=None, sigma=1, tau=1, epsilon=1)  # wrong
pld.gaussian(sigma=1).epsilon()  # wrong
pld.gaussian(sigma=1).compose(3)  # wrong
pld.sgd(noise_multiplier=1, rate=None, steps=10)  # wrong
zcdp.rho(epsilon=1)  # wrong
GSHM.for_target(k=10, epsilon=1).sigma  # wrong
OneBit(d=100, k=2).bits  # wrong
Mean(0, 200, by="rows")  # wrong
Advantage().off(pld.gaussian(sigma=1))  # wrong
registry.lint(1)  # wrong
assert_private(lambda data, rng: 0, 0, 1)  # wrong
DiscreteGaussian(variance=2)  # wrong
text: str = DiscreteGaussian(sigma2=2).sample(SystemSource())  # wrong
number: float = gaussian.delta(sigma=4, epsilon=1)  # wrong
