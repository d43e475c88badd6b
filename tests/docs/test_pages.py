"""Every block of code and every transcript of README and the site does what the page says."""

from __future__ import annotations

import doctest
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout, suppress
from importlib.util import find_spec
from pathlib import Path
from unittest import SkipTest

import pytest
from sybil import Document, Example, Region
from sybil.parsers.markdown import SkipParser

from exactdp.audit import targets
from exactdp.cli.main import main
from tests.docs.steps import OPTIONS, Command, File, Python, blocks, downloads, matches
from tests.docs.written import PAGES, ROOT


def pages() -> list[object]:
    with_steps = [
        p for p in PAGES if re.search(r"^```(python|console)$", p.read_text(encoding="utf-8"), re.M)
    ]
    shortest_first = sorted(with_steps, key=lambda page: page.stat().st_size)
    return [pytest.param(p, id=str(p.relative_to(ROOT)), marks=_marks(p)) for p in shortest_first]


def _marks(page: Path) -> list[pytest.MarkDecorator]:
    """What a page needs: other libraries, for reports about them, or fresh interpreters."""
    peers = [pytest.mark.peers] * ("reports" in page.relative_to(ROOT).parts)
    return peers + [pytest.mark.fresh] * (
        "fresh interpreters agree" in page.read_text(encoding="utf-8")
    )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder beside which the examples lie, as in a clone."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    yield tmp_path
    for file in tmp_path.glob("*.py"):
        sys.modules.pop(file.stem, None)  # another page has another mine.py
    targets._build.cache_clear()  # and another mine:run, whose generator has drawn nothing yet


@pytest.mark.few(11)
@pytest.mark.parametrize("page", pages())
def test_page(page: Path, folder: Path) -> None:
    follow(page, folder, quick=True)


@pytest.mark.slow
@pytest.mark.parametrize("page", pages())
def test_page_whole(page: Path, folder: Path) -> None:
    follow(page, folder, quick=False)


def follow(page: Path, folder: Path, *, quick: bool) -> None:
    """Do what a page says; blocks marked with ``skip: next if(quick)`` only if there is time."""
    for file in downloads(page):
        shutil.copy(file, folder)
    document = Document.parse(str(page), examples, SkipParser())
    document.namespace |= {
        "__name__": "__main__",  # as if it was typed
        "quick": quick,
        "has_node": shutil.which("node") is not None,
        "has_dp_accounting": find_spec("dp_accounting") is not None,
    }
    for example in document:
        with suppress(SkipTest):
            example.evaluate()


def examples(document: Document) -> Iterator[Region]:
    """A sybil parser: the blocks of a page, to be evaluated here."""
    for region in blocks(document):
        region.evaluator = evaluate
        yield region


def evaluate(example: Example) -> str | None:
    """A sybil evaluator: what went wrong, or nothing."""
    for step in example.parsed:
        if isinstance(step, File):
            Path(step.name).write_text(step.text, encoding="utf-8")
        elif isinstance(step, Python):
            typed(step.source, example)
        else:
            printed = ran(step)
            if not matches(step.printed, printed):
                return f"$ {step.line}\nprinted:\n{printed}\ninstead of:\n{step.printed}"
    return None


def typed(source: str, example: Example) -> None:
    scope = example.namespace
    if ">>>" not in source:
        exec(compile(source, example.path, "exec"), scope)  # noqa: S102
        return
    test = doctest.DocTestParser().get_doctest(source, scope, "page", example.path, example.line)
    test.globs = scope
    said: list[str] = []
    doctest.DocTestRunner(optionflags=OPTIONS).run(test, out=said.append, clear_globs=False)
    assert not said, "".join(said)


def ran(step: Command) -> str:
    """What a command prints; the library's own commands run here, without another process."""
    if step.line.startswith("pip "):
        return step.printed
    if not step.line.startswith("exactdp ") or set(step.line) & set("|<>;&"):
        return subprocess.run(
            ["bash", "-c", step.line], capture_output=True, text=True, timeout=120, check=False
        ).stdout
    output = io.StringIO()
    with redirect_stdout(output), redirect_stderr(output), pytest.raises(SystemExit):
        main(shlex.split(step.line)[1:])
    return output.getvalue()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_two_proved_bounds_never_look_like_one(page: Path) -> None:
    alike = re.findall(r"\[([0-9.e-]*)\.\.\.\S*, \1\.\.\.", page.read_text(encoding="utf-8"))
    assert not alike
