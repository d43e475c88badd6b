from exactdp.oracle.assertions import Evidence as Evidence
from exactdp.oracle.assertions import assert_law as assert_law
from exactdp.oracle.assertions import assert_private as assert_private
from exactdp.oracle.assertions import assert_sensitivity as assert_sensitivity
