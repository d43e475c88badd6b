"""What the site shows in place of ``...`` is what the tests of the page would accept."""

from __future__ import annotations

import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from tests.docs.steps import matches
from tests.docs.written import PAGES, ROOT

_COMMENT = "<!--- shown: "


@pytest.fixture(scope="module")
def samples() -> ModuleType:
    spec = spec_from_file_location("samples", ROOT / "docs" / "_ext" / "samples.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", [p for p in PAGES if _COMMENT in p.read_text("utf-8")], ids=str)
def test_every_line_that_is_shown_fits(page: Path, samples: ModuleType) -> None:
    text = page.read_text("utf-8")
    filled = samples.filled(text)
    assert _COMMENT not in filled
    blocks = [re.findall(r"^```\w+\n(.*?)^```", each, re.M | re.S) for each in (text, filled)]
    assert all(matches(*pair) for pair in zip(*blocks, strict=True))


def test_a_line_that_does_not_fit_is_an_error(samples: ModuleType) -> None:
    page = "```console\n$ exactdp\nepsilon [1.8..., 1.9...]\n```\n" + _COMMENT + "{} -->\n"
    assert "\nepsilon [1.81, 1.92]\n```\n" in samples.filled(page.format("epsilon [1.81, 1.92]"))
    with pytest.raises(ValueError, match="no line of the block"):
        samples.filled(page.format("epsilon [1.71, 1.92]"))
