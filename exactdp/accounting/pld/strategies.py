"""Strategy matrices of matrix mechanisms, read from files."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from exactdp.errors import Described, InvalidParameter
from exactdp.parameters import rational

_FORMAT = (
    "a CSV file without a header: one line with the coefficients of a Toeplitz matrix, or a line "
    "of n numbers for each of n steps"
)


def read_strategy(path: str | Path) -> list[str] | list[list[str]]:
    """The strategy matrix in a CSV file, as text: decimals and fractions stay exact.

    path: a file without a header. One line: the coefficients c_0, c_1, ... of a Toeplitz matrix. n
    lines: the rows of a lower triangular matrix for n steps, with n numbers each. Numbers are
    decimals or fractions, such as 0.375, 3/8 or 1e-3.
    Raises InvalidParameter for any other file.

    >>> import tempfile
    >>> file = tempfile.NamedTemporaryFile("w", suffix=".csv")
    >>> file.write("1,1/2,0.375\\n"), file.flush()
    (12, None)
    >>> read_strategy(file.name)
    ['1', '1/2', '0.375']
    >>> file.close()
    """
    name = Path(path).name
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InvalidParameter("strategy", str(path), "a file that can be read") from error
    except UnicodeDecodeError as error:
        raise InvalidParameter("strategy", Described(f"{name}, not UTF-8"), _FORMAT) from error
    try:
        lines = [
            [cell.strip() for cell in line]
            for line in csv.reader(io.StringIO(text), strict=True)
            if line
        ]
    except csv.Error as error:
        raise InvalidParameter("strategy", Described(f"{name}: {error}"), _FORMAT) from error
    for number, line in enumerate(lines, 1):
        for place, cell in enumerate(line, 1):
            rational(f"number {place} of line {number} of {name}", cell)
    if len(lines) == 1:
        return lines[0]
    if not lines or any(len(line) != len(lines) for line in lines):
        sizes = sorted({len(line) for line in lines})
        shape = Described(f"{name}: {len(lines)} lines of {' or '.join(map(str, sizes[:3]))} cells")
        raise InvalidParameter("strategy", shape, _FORMAT)
    return lines
