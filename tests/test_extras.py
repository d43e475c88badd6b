"""What exactdp imports is what its requirements install, and a missing extra is named."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from exactdp.cli import commands
from exactdp.cli.main import main
from exactdp.errors import ExactDPError, MissingExtra
from exactdp.extras import DISTRIBUTIONS, optional
from tests.installation.promises import MODULES

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
#: What an installation without extras can import, beside the standard library.
REQUIRED = {"exactdp", "flint", "gmpy2", "numpy", "click", "tabulate", "tqdm"}
#: Imports inside functions that run only where the library is certainly installed.
CALLERS_OWN = {
    # the engine of the frame that was given; the others are asked for by name of the extra
    "exactdp.frames": {"dask", "duckdb", "narwhals", "pandas", "polars", "pyarrow", "pyspark"},
}


def foreign_imports() -> Iterator[tuple[str, str, bool]]:
    """Module of exactdp, package it imports, and whether that happens in a function.

    Imports that only a type checker sees are left out.
    """
    for file in (ROOT / "exactdp").rglob("*.py"):
        module = ".".join(file.relative_to(ROOT).with_suffix("").parts)
        tree = ast.parse(file.read_text(encoding="utf-8"))
        typed = [node for node in ast.walk(tree) if isinstance(node, ast.If)]
        unseen = {
            id(inner)
            for node in typed
            if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
            for statement in node.body
            for inner in ast.walk(statement)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names = [node.module]
            else:
                continue
            if id(node) not in unseen:
                inside = node.col_offset > 0
                yield from ((module, name.partition(".")[0], inside) for name in names)


@pytest.mark.slow
def test_nothing_is_imported_that_no_requirement_installs() -> None:
    for module, package, inside in foreign_imports():
        if package in sys.stdlib_module_names or package in REQUIRED:
            continue
        known = any(module.startswith(prefix) for prefix in MODULES) or any(
            inside and module.startswith(prefix) and package in packages
            for prefix, packages in CALLERS_OWN.items()
        )
        assert known, f"{module} imports {package}: use exactdp.extras.optional"


def names(requirements: list[str]) -> set[str]:
    return {re.split(r"[\[<>=;! ]", line)[0].lower() for line in requirements}


def test_each_optional_library_is_in_its_extra() -> None:
    for distribution, extra in DISTRIBUTIONS.values():
        assert distribution in names(PROJECT["optional-dependencies"][extra])


def test_the_required_packages_are_the_requirements() -> None:
    installed = {"flint": "python-flint"}
    assert {installed.get(name, name) for name in REQUIRED - {"exactdp"}} == names(
        PROJECT["dependencies"]
    )


def test_a_missing_library_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(MissingExtra, match=re.escape("pip install 'exactdp[local]'")) as caught:
        optional("sklearn")
    assert isinstance(caught.value, ExactDPError)
    assert isinstance(caught.value, ImportError)
    assert "scikit-learn" in str(caught.value)


def test_a_library_that_is_installed_and_broken_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "yaml.py").write_text("import no_such_module_of_yaml\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "yaml", raising=False)
    with pytest.raises(ModuleNotFoundError, match="no_such_module_of_yaml"):
        optional("yaml")


def test_a_command_of_another_distribution_names_its_extra(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: ())
    commands._loaded.cache_clear()
    with pytest.raises(SystemExit) as ended:
        main(["proofs", "BV-Lemma-2.9", "--list"])
    commands._loaded.cache_clear()
    assert ended.value.code == 2
    printed = capsys.readouterr()
    needed = "this needs exactdp-proofs: pip install 'exactdp[proofs]'"
    assert (printed.out, printed.err) == ("", f"exactdp: {needed}\n")
