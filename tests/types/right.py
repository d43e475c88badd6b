"""Lines that type checkers accept: what users write."""

from decimal import Decimal
from fractions import Fraction

import numpy as np

import exactdp
import exactdp.accounting.csh
from exactdp import registry, statement
from exactdp.accounting import discrete_gshm, gaussian, gshm, pld, zcdp
from exactdp.accounting.gshm import delta as gshm_delta
from exactdp.accounting.risk import Advantage
from exactdp.audit import private
from exactdp.audit.glue import GlueReport
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter, Undecided
from exactdp.frames import Mean
from exactdp.local import RandomizedResponse
from exactdp.local.sparse import OneBit
from exactdp.mechanisms import ALP, GSHM
from exactdp.oracle import assert_private
from exactdp.plans import Plan
from exactdp.samplers import DiscreteGaussian, SystemSource

delta: Enclosure = gaussian.delta(sigma=4, epsilon="0.35")
narrow: Enclosure = gaussian.delta(sigma=Fraction(7, 2), epsilon=Decimal("0.1"))
counted: Enclosure = gshm.delta(k=10, sigma=np.float64(20), tau=90, epsilon=np.int64(1))
dotted: Enclosure = exactdp.accounting.csh.delta(sparsity=10, sigma=20, tau=90, epsilon=1)
shorter: Enclosure = gshm_delta(k=10, sigma=np.float32(20), tau=Fraction(90), epsilon=1)
calibration = gshm.calibrate(k=10, epsilon=1, delta="1e-6")
sigma: Decimal | Fraction = calibration.sigma
tau: Decimal | Fraction = calibration.tau
same: Enclosure = calibration.guarantee.delta
threshold: Decimal | Fraction = discrete_gshm.calibrate(k=10, epsilon=1, delta="1e-6").tau
loss: pld.Pld = pld.sgd(noise_multiplier=1, rate="0.01", steps=1000)
epsilon: Enclosure = loss.then(pld.gaussian(sigma=2)).composed(3).epsilon("1e-5")
rho: Enclosure = zcdp.rho(epsilon=1, delta="1e-6")
mechanism: GSHM = GSHM.for_target(k=10, epsilon=1, delta="1e-6")
noise: int = DiscreteGaussian(sigma2=2).sample(SystemSource())
valid: str = statement.of(loss, epsilon=1).check().verdict
upper: Fraction = delta.upper
advantage: Enclosure = Advantage().of(loss)
bits: int = OneBit(d=100_000, k=64, epsilon=1).bits
mean = Mean(0, 200, of="rows", missing="drop")
findings: list[registry.Finding] = registry.lint("{}")
assert_private(lambda data, rng: rng.getrandbits(1), 0, 1, epsilon=1)
version: str = exactdp.__version__
sketches: type[ALP] = ALP
classes: tuple[type[Plan], type[GlueReport]] = Plan, GlueReport
reports: RandomizedResponse = RandomizedResponse(10, "0.5")
verdict: str = private(lambda data, rng: rng.getrandbits(1), 0, 1, epsilon=1).verdict
budget: pld.Budget = pld.Budget(epsilon=3, delta="1e-6")
try:
    budget.spend(epsilon=1)
except (InvalidParameter, Undecided) as error:
    print(error)
