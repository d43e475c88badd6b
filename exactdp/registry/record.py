"""Reading a record: YAML whose scalars stay text, so that numbers are the decimals in the file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from exactdp.errors import Described, InvalidParameter
from exactdp.extras import optional

_BYTES, _DEEPEST = 1 << 20, 20

_A_RECORD = "a YAML record of the deployments registry"


@dataclass(frozen=True)
class Record:
    """The fields of a record: texts, lists and mappings."""

    fields: Mapping[str, Any]

    @classmethod
    def read(cls, text: str) -> Record:
        """The record in a text. Raises InvalidParameter, also for aliases and repeated keys."""
        yaml = optional("yaml")
        if len(text) > _BYTES:
            raise InvalidParameter("record", Described(f"{len(text)} characters"), "at most 2^20")
        try:
            if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text)):
                raise InvalidParameter("record", Described("an alias"), f"{_A_RECORD}, without any")
            root = yaml.compose(text, Loader=yaml.SafeLoader)
        except (yaml.YAMLError, RecursionError) as error:
            mark = getattr(error, "problem_mark", None)
            place = f"a fault in line {mark.line + 1}" if mark else "a text that is no YAML"
            raise InvalidParameter("record", Described(place), _A_RECORD) from None
        fields = None if root is None else _plain(yaml, root, 0)
        if not isinstance(fields, dict) or not isinstance(fields.get("deployment"), dict):
            content = Described("another text")
            raise InvalidParameter("record", content, f"{_A_RECORD}, with the field deployment")
        return cls(fields)

    def text(self, *path: str) -> str:
        """A field of the deployment as text; "" if it is missing, empty or no text."""
        value: Any = self.fields["deployment"]
        for name in path:
            value = value.get(name) if isinstance(value, dict) else None
        return value.strip() if isinstance(value, str) else ""


def _plain(yaml: Any, node: Any, depth: int) -> Any:
    """The value of a node, with scalars as the text in the file."""
    if depth > _DEEPEST:
        raise InvalidParameter("record", Described("deeper nesting"), f"{_DEEPEST} levels at most")
    if isinstance(node, yaml.ScalarNode):
        return "" if node.tag == "tag:yaml.org,2002:null" else node.value
    if isinstance(node, yaml.SequenceNode):
        return [_plain(yaml, item, depth + 1) for item in node.value]
    mapping: dict[str, Any] = {}
    for key, value in node.value:
        name = key.value if isinstance(key, yaml.ScalarNode) else None
        if name is None or name in mapping:
            place = Described(f"line {key.start_mark.line + 1}")
            raise InvalidParameter("record", place, "one text as the name of each field, once")
        mapping[name] = _plain(yaml, value, depth + 1)
    return mapping
