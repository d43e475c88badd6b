"""JSON schemas of what the commands print with --json: exactdp COMMAND --json-schema."""

from __future__ import annotations

import json
from typing import Any

import click

_TEXT = {"type": "string"}
_NUMBER = {"type": "string", "description": "an exact decimal or fraction"}
_COUNT = {"type": "integer"}
_FLOAT = {"type": "number"}
_OBJECT = {"type": "object"}
_STRINGS = {"type": "object", "additionalProperties": _TEXT}
_MAYBE = {"type": ["string", "null"]}


def _record(**keys: Any) -> dict[str, Any]:
    """An object with these keys; a name that ends in _ is optional."""
    return {
        "type": "object",
        "properties": {name.rstrip("_"): kind for name, kind in keys.items()},
        "required": [name for name in keys if not name.endswith("_")],
    }


def _list(kind: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": kind}


_ENDS = {
    **_record(lower=_NUMBER, upper=_NUMBER),
    "description": "certified lower and upper bounds, rounded outward",
}
_GUARANTEE = _record(
    epsilon=_NUMBER,
    e_epsilon_=_NUMBER,
    delta=_ENDS,
    neighbours=_TEXT,
    source=_TEXT,
    checked_on_the_data_=_list(_TEXT),
)
_ASKED = {"mechanism": _TEXT, "analysis": _TEXT, "parameters": _STRINGS, "epsilon": _NUMBER}
_REFUTED = {**_OBJECT, "description": "the next smaller noise or threshold, and its delta"}
_CALIBRATION = {
    **_ASKED,
    "given": _STRINGS,
    "target": _NUMBER,
    "delta": _ENDS,
    "refuted": {"anyOf": [_REFUTED, {"type": "null"}]},
    "guarantee": _GUARANTEE,
    "tau_bound_": _MAYBE,
}
_LOSS = {
    "mechanism": _TEXT,
    "given": _STRINGS,
    "parameters_": _STRINGS,
    "epsilon_": _ENDS,
    "delta_": _ENDS,
    "refuted_": _REFUTED,
    "neighbours_": _TEXT,
    "source_": _TEXT,
}
_PICTURE = _record(
    output=_TEXT, curves=_list(_record(label=_TEXT, x=_list(_FLOAT), y=_list(_FLOAT)))
)
_AUDIT = {"target": _TEXT, "verdict": _TEXT}
_VECTOR = _record(id=_TEXT, group=_TEXT, question=_TEXT, parameters=_OBJECT, flags=_list(_TEXT))
_FINDING = _record(claim=_TEXT, verdict=_TEXT, how=_TEXT, missing_=_TEXT)

#: Command, or the group that it is in -> schema.
_SCHEMAS: dict[str, dict[str, Any]] = {
    "delta": _record(**_ASKED, delta=_ENDS, worst_case_=_OBJECT),
    "epsilon": _record(
        mechanism=_TEXT, analysis=_TEXT, parameters=_STRINGS, target=_NUMBER, epsilon=_ENDS
    ),
    "check": _record(**_ASKED, target=_NUMBER, verdict=_TEXT, delta=_ENDS),
    "calibrate": _record(**_CALIBRATION),
    "calibrate sparse-histograms": _list(_record(**_CALIBRATION, noise=_ENDS, saving=_NUMBER)),
    "calibrate zcdp": _record(
        mechanism=_TEXT, analysis=_TEXT, epsilon=_NUMBER, target=_NUMBER, rho=_ENDS
    ),
    "sgd": _record(**_LOSS),
    "compose": _record(**_LOSS),
    "risk": _record(
        mechanism=_TEXT,
        given=_STRINGS,
        risks_=_list(
            _record(
                risk=_TEXT,
                at=_STRINGS,
                enclosure=_ENDS,
                without_outputs=_NUMBER,
                definition=_TEXT,
                source=_TEXT,
            )
        ),
        neighbours_=_TEXT,
        source_=_TEXT,
        parameters_=_STRINGS,
        calibration_=_OBJECT,
    ),
    "figure": _PICTURE,
    "figure savings": _list(_record(sparsity=_NUMBER, tau=_STRINGS, saved=_STRINGS)),
    "release advise": _record(
        k=_COUNT,
        by_k=_list(_STRINGS),
        mechanisms=_list(_STRINGS),
        sums_and_means_=_list(_STRINGS),
        said=_TEXT,
        guarantee_=_GUARANTEE,
    ),
    "release": {
        **_record(mechanism=_TEXT, released=_COUNT, unit=_TEXT, output=_TEXT, guarantee=_GUARANTEE),
        "additionalProperties": _TEXT,
    },
    "release cut": _record(
        k=_COUNT, users_with_more=_COUNT, pairs=_COUNT, pairs_left_out=_COUNT, guarantee_=_GUARANTEE
    ),
    "release budget": _record(file=_TEXT, limits=_OBJECT, expenses=_list(_OBJECT)),
    "release plan": _record(output=_TEXT, engine=_TEXT, promise=_TEXT, queries=_list(_STRINGS)),
    "release query": _record(element=_TEXT, value=_NUMBER),
    "local report": {
        **_record(mechanism=_TEXT, reports=_COUNT, output=_TEXT, guarantee=_GUARANTEE),
        "additionalProperties": _COUNT,
    },
    "local aggregate": _record(
        reports=_COUNT, counters=_COUNT, output=_TEXT, configuration=_OBJECT
    ),
    "local estimate": _list(_record(value=_TEXT, share=_FLOAT, standard_error_=_FLOAT)),
    "local plan": _record(
        outputs=_COUNT, bits=_COUNT, sparsity=_COUNT, users=_COUNT, l1_error=_FLOAT
    ),
    "local shuffled": _record(epsilon=_ENDS, delta=_NUMBER, neighbours=_TEXT),
    "local compare": _list(
        _record(
            mechanism=_TEXT,
            square_error=_NUMBER,
            of_the_best=_FLOAT,
            bits=_COUNT,
            neighbours=_TEXT,
            configuration=_OBJECT,
        )
    ),
    "local sparse plan": {
        **_record(error=_FLOAT, stated_error=_FLOAT, others=_OBJECT, guarantee=_GUARANTEE),
        "additionalProperties": {"type": ["string", "integer"]},
    },
    "local sparse report": {
        **_record(reports=_COUNT, output=_TEXT, guarantee=_GUARANTEE),
        "additionalProperties": _COUNT,
    },
    "local sparse estimate": _record(
        standard_error=_FLOAT,
        beta=_NUMBER,
        within=_FLOAT,
        reports=_COUNT,
        means=_list(_record(item=_COUNT, mean=_FLOAT)),
    ),
    "sample": {**_record(sampler=_TEXT, output=_MAYBE), "additionalProperties": _TEXT},
    "audit": {**_record(**_AUDIT), "additionalProperties": True},
    "audit targets": _list(_record(target=_TEXT, parameters=_list(_TEXT))),
    "audit number": {
        **_record(mechanism=_TEXT, parameters=_STRINGS, quantity=_TEXT, claimed=_NUMBER),
        "additionalProperties": True,
    },
    "audit one-run": {
        **_record(epsilon_lower=_NUMBER, delta=_NUMBER, alpha=_NUMBER, canaries=_COUNT),
        "additionalProperties": True,
    },
    "audit vectors list": _list(
        {"anyOf": [_record(group=_TEXT, vectors=_COUNT, flags=_OBJECT), _VECTOR]}
    ),
    "audit vectors questions": _list(
        _record(id=_TEXT, group=_TEXT, question=_TEXT, parameters=_OBJECT)
    ),
    "audit vectors show": {**_record(id=_TEXT, question=_TEXT), "additionalProperties": True},
    "audit vectors run": _record(name=_TEXT, version=_TEXT, counts=_OBJECT, results=_list(_OBJECT)),
    "audit vectors export": {**_OBJECT, "additionalProperties": True},
    "statement check": _record(verdict=_TEXT, reason=_TEXT, sha256=_MAYBE),
    "statement show": _record(**{"for": _TEXT}, verdict=_TEXT, text=_TEXT),
    "statement add": _record(output=_TEXT, statement=_OBJECT),
    "statement theorem": _record(output=_TEXT, theorem=_TEXT),
    "statement lint": _list(_record(file=_TEXT, findings=_list(_FINDING))),
    "statement explain": {
        "anyOf": [_record(page=_TEXT, markdown=_TEXT), _list(_record(page=_TEXT, title=_TEXT))]
    },
    "proofs": _list(
        {**_record(id=_TEXT, verdict=_TEXT, statement=_TEXT), "additionalProperties": True}
    ),
}


def schema_of(path: str) -> dict[str, Any]:
    """The schema of the command with these words: its own, or that of its group."""
    known = path
    while known and known not in _SCHEMAS:
        known = known.rpartition(" ")[0]
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return {**head, "title": f"exactdp {path} --json", **_SCHEMAS[known]}


def schema_option(command: click.Command, path: str) -> None:
    """Add --json-schema to a command, which --help of exactdp mentions for all commands."""

    def show(context: click.Context, _: click.Parameter, wanted: bool) -> None:
        if wanted:
            click.echo(json.dumps(schema_of(path), indent=1))
            context.exit()

    if all(parameter.name != "json_schema" for parameter in command.params):
        click.option(
            "--json-schema",
            is_flag=True,
            is_eager=True,
            expose_value=False,
            hidden=True,
            callback=show,
        )(command)
