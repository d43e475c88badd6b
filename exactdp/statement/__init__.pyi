from exactdp.statement.checker import Verdict as Verdict
from exactdp.statement.checker import check as check
from exactdp.statement.document import Statement as Statement
from exactdp.statement.making import calculated as calculated
from exactdp.statement.making import imported as imported
from exactdp.statement.making import of as of
from exactdp.statement.making import released as released
