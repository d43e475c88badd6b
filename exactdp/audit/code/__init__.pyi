from exactdp.audit.code.laws import foreign_law as foreign_law
from exactdp.audit.code.verdicts import Privacy as Privacy
from exactdp.audit.code.verdicts import private as private
from exactdp.errors import NotEnumerable as NotEnumerable
