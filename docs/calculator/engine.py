"""The command line of exactdp in the page: the numbers are those of the shipped library."""

import contextlib
import io
import json
import sys
from pathlib import Path

import exactdp.arrays  # finds that numpy is missing, and computes with lists

assert not exactdp.arrays.HAS_NUMPY


class Absent(type):
    """Something of a library that WebAssembly lacks: it may be named and passed on, never used.

    Modules that name numpy's arrays can be imported, since nothing on this page computes with them.
    Any use as a number, a truth value or a sequence is an error, so that no result can rest on it.
    """

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Absent(name, (), {})

    def __call__(cls, *arguments, **options):
        return Absent("result", (), {})

    def __getitem__(cls, item):
        return cls

    def __or__(cls, other):
        return cls

    __ror__ = __or__
    __hash__ = type.__hash__


def refused(*_):
    raise NotImplementedError("numpy is not available in a browser; run the command instead")


_NUMBER = ("bool", "int", "float", "index", "complex", "neg", "abs", "round", "str", "format")
_ORDER = ("eq", "ne", "lt", "le", "gt", "ge")
_SEQUENCE = ("iter", "next", "len", "contains", "bytes", "setitem")
_PAIRS = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "lshift", "rshift")
for name in (*_NUMBER, *_ORDER, *_SEQUENCE, *_PAIRS, *(f"r{pair}" for pair in _PAIRS)):
    setattr(Absent, f"__{name}__", refused)


class Finder:
    """Imports numpy and gmpy2 as libraries that are absent."""

    def find_spec(self, name, path=None, target=None):
        from importlib.machinery import ModuleSpec

        if name.partition(".")[0] in ("numpy", "gmpy2"):
            return ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        if module.__name__ == "gmpy2":
            module.mpz = int  # the same integers, slower
        module.__getattr__ = lambda name: getattr(Absent(module.__name__, (), {}), name)


sys.meta_path.insert(0, Finder())


def run(words: str) -> str:
    """What a command prints, as JSON: {code, out, error, statement}."""
    from exactdp.cli import output
    from exactdp.cli.main import main

    # files in memory have no hard links
    output._link = lambda part, path: path.write_bytes(part.read_bytes())
    out, err, code = io.StringIO(), io.StringIO(), 0
    statement = Path("statement.json")
    statement.unlink(missing_ok=True)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(json.loads(words))
        except SystemExit as stop:
            code = stop.code or 0
    text = statement.read_text(encoding="utf-8") if statement.exists() else None
    answer = {"code": code, "out": out.getvalue(), "error": err.getvalue(), "statement": text}
    return json.dumps(answer)
