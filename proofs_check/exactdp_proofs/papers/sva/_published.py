"""Numbers printed in Tables III to VI, as decimal strings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from exactdp_proofs.rationals import Fraction


@dataclass(frozen=True)
class Data:
    """One row of Table III."""

    clients: int
    items: int
    records: int
    sparsity: int


DATA = {
    "Clothing": Data(47958, 1378, 79285, 6),
    "Renting": Data(105571, 5850, 183052, 11),
    "Movies": Data(138493, 26744, 7019990, 100),
}


class Row(NamedTuple):
    """Bytes per client, L_infinity error and mean square error of one method."""

    size: int
    worst: str
    square: str


#: Data set -> method -> row, event level.
EVENT: dict[str, dict[str, Row]] = {
    "Clothing": {
        "k-fold": Row(28, "0.092", "0.00059"),
        "naive": Row(5512, "0.17", "0.0023"),
        "ours": Row(9, "0.040", "0.00019"),
    },
    "Renting": {
        "k-fold": Row(48, "0.085", "0.00050"),
        "naive": Row(23400, "0.12", "0.0010"),
        "ours": Row(13, "0.033", "0.00083"),
    },
    "Movies": {
        "k-fold": Row(404, "0.25", "0.0033"),
        "naive": Row(109052, "0.12", "0.00082"),
        "ours": Row(105, "0.034", "0.000065"),
    },
}

#: The same at user level.
USER: dict[str, dict[str, Row]] = {
    "Clothing": {
        "sampling": Row(8, "0.18", "0.0034"),
        "naive": Row(5512, "0.41", "0.014"),
        "Harmony": Row(8, "1.0", "0.13"),
        "PCKV": Row(8, "0.70", "0.038"),
        "ours": Row(9, "0.098", "0.00095"),
    },
    "Renting": {
        "sampling": Row(8, "0.29", "0.0052"),
        "naive": Row(23400, "0.40", "0.012"),
        "Harmony": Row(8, "1.0", "0.24"),
        "PCKV": Row(8, "1.0", "0.074"),
        "ours": Row(9, "0.11", "0.00091"),
    },
    "Movies": {
        "sampling": Row(8, "1.0", "0.29"),
        "naive": Row(109052, "1.0", "0.081"),
        "Harmony": Row(8, "1.0", "0.49"),
        "PCKV": Row(8, "1.0", "0.24"),
        "ours": Row(9, "0.25", "0.0021"),
    },
}


def half_unit(text: str) -> Fraction:
    """Half a unit of the last printed digit."""
    places = len(text.partition(".")[2])
    return Fraction(1, 2 * 10**places)
