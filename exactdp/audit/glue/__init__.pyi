from exactdp.audit.glue.check import search as search
from exactdp.audit.glue.check import sensitivity as sensitivity
from exactdp.audit.glue.primitives import Primitive as Primitive
from exactdp.audit.glue.report import GlueReport as GlueReport
from exactdp.audit.glue.report import NoiseCall as NoiseCall
from exactdp.audit.glue.report import Violation as Violation
