"""A privacy statement as fields of a record, of tiers 2 and 3."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

from exactdp.enclosure import Enclosure
from exactdp.statement import Statement, Verdict
from exactdp.statement.explaining import checked
from exactdp.statement.phrases import plain, sentences

__all__ = ["fields_for"]

_DIGITS = 10


def fields_for(statement: Statement, verdict: Verdict | None = None) -> str:
    """YAML for the part `deployment` of a record: the variant, the parameters and their details.

    verdict: of the checker, if the statement was checked. A comment on top and the details say
    whether the statement was checked, and which releases are taken on trust.
    Names, dates and the data product are left to the author of the record. The numbers are the
    claims of the statement, rounded up; its SHA-256 stands among the details.
    """
    said, unit = sentences(statement.fields), statement.fields["unit"]
    variant, parameters = _parameters(statement)
    deployment = {
        "dp_variant": {"variant_name": variant},
        "privacy_loss": {
            "privacy_unit": plain(unit["of"]),
            "privacy_unit_details": " ".join([*said["unit"], *said["premises"]]),
            "privacy_parameters": parameters,
            "privacy_parameters_details": " ".join(
                [
                    *said["claims"],
                    *said["trust"],
                    checked(verdict),
                    f"Privacy statement with SHA-256 {statement.sha256}.",
                ]
            ),
        },
        "accounting": {"composition": " ".join(said["derivations"])},
        "implementation": {"mechanisms": " ".join([*said["releases"], *said["trust"]])},
    }
    return f"# {checked(verdict)}\ndeployment:\n{_yaml(deployment, 1)}"


def _parameters(statement: Statement) -> tuple[str, dict[str, Fraction]]:
    """The variant and the numbers of the first claim that the registry has fields for."""
    for claim in statement.fields["claims"]:
        if "at_most" not in claim:
            continue
        most = Fraction(claim["at_most"])
        if claim["measure"] == "rho":
            return "Zero-concentrated DP", {"rho": most}
        if claim["measure"] == "delta":
            epsilon = Fraction(claim["epsilon"])
            if most:
                return "Approximate DP", {"epsilon": epsilon, "delta": most}
            return "Pure DP", {"epsilon": epsilon}
    return "Custom", {}


def _yaml(fields: dict[str, Any], depth: int) -> str:
    """Block YAML. Texts are JSON strings, which YAML reads as they are; numbers are plain."""
    rows = []
    for name, value in fields.items():
        head = f"{'  ' * depth}{name}:"
        if isinstance(value, dict):
            rows.append(f"{head}\n{_yaml(value, depth + 1)}" if value else f"{head} {{}}\n")
        elif isinstance(value, Fraction):
            rows.append(f"{head} {_number(value)}\n")
        else:
            rows.append(f"{head} {json.dumps(value, ensure_ascii=False)}\n")
    return "".join(rows)


def _number(value: Fraction) -> str:
    """A decimal with a point that is not below the number: YAML 1.1 takes 1e-6 for a text."""
    text = Enclosure.exact(value).decimal_upper(_DIGITS)
    mantissa, e, exponent = text.partition("e")
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}{e}{exponent}"
