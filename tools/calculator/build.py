"""Build the calculator: ``python -m tools.calculator.build OUTPUT.html``.

Needs Node and npm. Pyodide comes from npm, python-flint's wheel for WebAssembly from PyPI, both in
the versions below; exactdp, click, tabulate and tqdm are those that are installed here. Node
compiles the Python modules, because the page would need seconds to do so.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import json
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from exactdp import __version__

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "docs" / "calculator"
CACHE = ROOT / "build" / "runtime"

PYODIDE = "pyodide@314.0.7"
FLINT = "python-flint==0.9.0"
PLATFORM = "pyemscripten_2026_0_wasm32"
#: File in the cache, SHA-256.
SUMS = {
    "pyodide-314.0.7.tgz": ("66b7949e5a0cba2250b586d7e368bf12fb482800748d182c4618254b685ffaa0"),
    f"python_flint-0.9.0-cp314-cp314-{PLATFORM}.whl": (
        "b31f5c00e0e36040ab58d00b3025156e20869b990d776e4bf90f870b1ee11ad3"
    ),
}
#: The page loads what it uses: each of flint's forty libraries takes time, and most are never used.
FLINT_INIT = """\
from importlib import import_module

from .pyflint import ctx
from .types.fmpz import fmpz
from .types.fmpq import fmpq
from .types.arb import arb
from .types.acb import acb


class Later:
    def __init__(self, name):
        self._name = name

    def _type(self):
        return getattr(import_module(f"flint.types.{self._name}"), self._name)

    def __call__(self, *arguments):
        return self._type()(*arguments)

    def __getattr__(self, name):
        return getattr(self._type(), name)

    def __instancecheck__(self, value):
        return isinstance(value, self._type())


def __getattr__(name):
    if name.startswith("_"):
        raise AttributeError(name)
    return Later(name)
"""
#: What the page does not need.
LEFT_OUT = ("pages", "vectors", "frames", "test", "mechanisms", "audit", "code")


def main(target: str) -> None:
    """Write the page."""
    CACHE.mkdir(parents=True, exist_ok=True)
    archive, wheel = _fetched()
    with tarfile.open(archive) as packed:
        for name in ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip"):
            (CACHE / name).write_bytes(_member(packed, f"package/{name}"))
        (CACHE / "pyodide-lock.json").write_bytes(_member(packed, "package/pyodide-lock.json"))
        (CACHE / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    packages = CACHE / "packages.zip"
    packages.write_bytes(_packages(wheel))
    compiler = str(ROOT / "tools" / "calculator" / "compile.mjs")
    subprocess.run(["node", compiler, str(CACHE)], check=True)
    page = _page()
    Path(target).parent.mkdir(parents=True, exist_ok=True)
    Path(target).write_text(page, encoding="utf-8")
    print(f"{target}: {len(page) / 1e6:.1f} MB")


def _fetched() -> list[Path]:
    """The archives of Pyodide and python-flint, downloaded where they are missing."""
    archives = [CACHE / name for name in SUMS]
    if not archives[0].exists():
        subprocess.run(["npm", "pack", "--silent", PYODIDE], cwd=CACHE, check=True)
    if not archives[1].exists():
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        target = ["--only-binary=:all:", "--platform", PLATFORM]
        version = ["--python-version", "314", "--dest", str(CACHE)]
        subprocess.run([*pip, *target, *version, FLINT], check=True)
    for path in archives:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        if digest != SUMS[path.name]:
            raise SystemExit(f"{path.name} has SHA-256 {digest}, not {SUMS[path.name]}")
    return archives


def _member(packed: tarfile.TarFile, name: str) -> bytes:
    file = packed.extractfile(name)
    if file is None:
        raise SystemExit(f"Pyodide has no {name}")
    return file.read()


def _packages(wheel: Path) -> bytes:
    """A zip with the files of all Python packages that the page imports."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as zipped:
        with zipfile.ZipFile(wheel) as flint:
            for name in flint.namelist():
                if name == "flint/__init__.py":
                    zipped.writestr(name, FLINT_INIT)
                elif "/test" not in name and not name.endswith((".pyi", ".pxd")):
                    zipped.writestr(name, flint.read(name))
        for package in ("exactdp", "click", "tabulate", "tqdm"):
            for path, name in _modules(package):
                zipped.write(path, name)
        for path in (ROOT / "checker").glob("dpcheck*.py"):  # as in the wheel
            zipped.write(path, f"exactdp/checker/{path.name}")
    return buffer.getvalue()


def _modules(package: str) -> Iterator[tuple[Path, str]]:
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise SystemExit(f"{package} is not installed")
    folder = Path(spec.origin).parent
    # a package that imports its modules on first use reads its stub
    for path in sorted([*folder.rglob("*.py"), *folder.rglob("__init__.pyi")]):
        parts = path.relative_to(folder).parts
        if package != "exactdp" or not set(parts[:-1]) & set(LEFT_OUT):
            yield path, "/".join((package, *parts))


def _page() -> str:
    """The page with everything in it."""
    page = (SOURCES / "page.html").read_text(encoding="utf-8")
    checker = (ROOT / "checker" / "dpcheck.mjs").read_text(encoding="utf-8")
    checker = checker.partition("\nif (typeof process")[0]  # its command line
    scripts = {
        "worker": (SOURCES / "worker.js").read_text(encoding="utf-8"),
        "checker": checker.replace("export function check", "function check"),
    }
    data = {
        "loader": _zipped("pyodide.mjs"),
        "glue": _zipped("pyodide.asm.mjs"),
        "wasm": _zipped("pyodide.asm.wasm"),
        "lock": b'{"info": {"abi_version": "2026_0"}, "packages": {}}',
        "stdlib": (CACHE / "stdlib.zip").read_bytes(),
        "packages": (CACHE / "compiled.zip").read_bytes(),
        "engine": (SOURCES / "engine.py").read_bytes(),
    }
    lines = [f'<script type="text/plain" id="part-{n}">\n{t}</script>' for n, t in scripts.items()]
    lines += [
        f'<script type="text/plain" id="part-{name}">{base64.b64encode(part).decode()}</script>'
        for name, part in data.items()
    ]
    known = json.dumps(_known_answers()).replace("<", "\\u003c")
    for mark, text in {
        "<!--KNOWN-->": f'<script type="application/json" id="part-known">{known}</script>',
        "/*STYLE*/": (SOURCES / "page.css").read_text(encoding="utf-8"),
        "/*PAGE*/": (SOURCES / "page.js").read_text(encoding="utf-8"),
        ">VERSION<": f">{__version__}<",
        "<!--DATA-->": "\n".join(lines),
    }.items():
        page = page.replace(mark, text)
    return page


def _known_answers() -> dict[str, str]:
    """The words of each question's command with its first values, and what the command prints."""
    script = (SOURCES / "page.js").read_text(encoding="utf-8").partition("// Pictures")[0]
    script += """
      const fields = Object.entries(FIELDS);
      const first = Object.fromEntries(fields.map(([name, { value }]) => [name, value]));
      const asked = Object.values(QUESTIONS).filter(({ words }) => words);
      console.log(JSON.stringify(asked.map(({ words }) => words(first))));
    """
    listed = subprocess.run(["node", "-e", script], check=True, capture_output=True, text=True)
    answers = {}
    for words in json.loads(listed.stdout):
        command = [sys.executable, "-m", "exactdp", *words, "--json"]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        answers[" ".join(words)] = printed.strip()
    return answers


def _zipped(name: str) -> bytes:
    return gzip.compress((CACHE / name).read_bytes(), 9, mtime=0)


if __name__ == "__main__":
    main(sys.argv[1])
