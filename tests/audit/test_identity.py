"""A checkpoint is continued by the same run on the same data only, in whatever process."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import pytest

from exactdp import InvalidParameter
from exactdp.audit import audit
from exactdp.audit.blackbox.identity import identity
from exactdp.audit.command import Command
from exactdp.audit.targets import target
from exactdp.samplers import DiscreteLaplace, SystemSource
from tests.audit.processes import printed


def plus(data: int, n: int, shift: int = 0) -> list[int]:
    return [data + shift] * n


class Adder:
    def __init__(self, shift: int) -> None:
        self.shift, self.rng = shift, np.random.default_rng()

    def __call__(self, data: int, n: int) -> list[int]:
        return plus(data, n, self.shift)

    def run(self, data: int, n: int) -> list[int]:
        return self(data, n)


def closure(shift: int) -> Callable[[int, int], list[int]]:
    return lambda data, n: plus(data, n, shift)


def typed_in(shift: int, step: Callable[..., Any]) -> Any:
    """A function that has no file, as in a notebook, and uses another one and a number."""
    names: dict[str, Any] = {"__name__": "notebook", "SHIFT": shift}
    names["step"] = FunctionType(step.__code__, names)
    return FunctionType(using_step.__code__, names)


SHIFT = 0


def up(data: int) -> int:
    return data + SHIFT


def down(data: int) -> int:
    return data - SHIFT


step = up


def using_step(data: int, n: int) -> list[int]:
    return [step(data)] * n


def everything() -> list[Any]:
    """Runs and data sets, each of them another one."""
    return [
        plus, partial(plus, shift=1), partial(plus, shift=2), Adder(1), Adder(2), Adder(1).run,
        Adder(2).run, closure(1), closure(2), lambda d, n: [d] * n, lambda d, n: [d + 1] * n,
        typed_in(1, up), typed_in(2, up), typed_in(1, down), len, max,
        Command("cat a"), Command("cat b"), 1, 1.0, [1], (1,), {1}, {2}, {"a": 1}, {"a": 2},
        np.zeros(2), np.zeros(2, dtype=int), np.array([1, None]), np.array([2, None]),
        ValueError("a"), ValueError("b"), [2**70], [2**70 + 1], [{"b"}],
    ]  # fmt: skip


def test_what_differs_has_another_identity() -> None:
    found = [identity(one) for one in everything()]
    assert len(set(found)) == len(found)
    assert found == [identity(one) for one in everything()]


def test_identity_is_the_same_in_every_process() -> None:
    code = (
        "from tests.audit.test_identity import everything, identity\n"
        "print([identity(one) for one in everything()])"
    )
    assert len(printed(code)) == 1


def test_frames_are_known_by_all_their_rows() -> None:
    pandas = pytest.importorskip("pandas")
    frames = [pandas.DataFrame({"a": [*range(500), i, *range(500)]}) for i in (1, 2)]
    assert identity(frames[0]) != identity(frames[1])


def test_changed_code_is_another_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By name alone, the counts of a mechanism and of its mended version would be added."""
    module, script = tmp_path / "edited_later.py", tmp_path / "program.py"
    monkeypatch.syspath_prepend(tmp_path)
    seen = []
    for scale in (1, 2):
        module.write_text(f"SCALE = {scale}\ndef run(data, n): return [data * SCALE] * n\n")
        script.write_text(f"print({scale})")
        named, program = target("edited_later:run"), Command(f"python3 {script}")
        seen += [identity(named), identity(program)]
    assert len(set(seen)) == 4


def test_a_changed_helper_is_another_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The noise is often in a module beside the one that is audited, or one that this imports."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "kept").mkdir()
    texts = {
        "alone_1.py": "import beside_1\ndef run(data, n): return beside_1.noise(data, n)\n",
        "beside_1.py": "def noise(data, n):\n    import beyond_1\n    return [data] * n\n",
        "beyond_1.py": "SCALE = 1\n",
        "kept/__init__.py": "",
        "kept/first.py": "from . import second\ndef run(data, n): return second.noise(data, n)\n",
        "kept/second.py": "from kept.third import SCALE\ndef noise(data, n): return [data] * n\n",
        "kept/third.py": "SCALE = 1\n",
        "unused_1.py": "",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    for name, helpers in (
        ("alone_1:run", ["beside_1.py", "beyond_1.py"]),
        ("kept.first:run", ["kept/second.py", "kept/third.py", "kept/__init__.py"]),
    ):
        before = identity(target(name))
        (tmp_path / "unused_1.py").write_text("CHANGED = 1\n")
        assert identity(target(name)) == before
        for helper in helpers:
            (tmp_path / helper).write_text(texts[helper] + "CHANGED = 1\n")
            assert identity(target(name)) != before, helper
            (tmp_path / helper).write_text(texts[helper])


def test_a_checkpoint_of_other_parameters_is_refused(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)

    def run(data: int, n: int, scale: int) -> Any:
        return rng.integers(0, scale, n) + data

    path = tmp_path / "state.json"
    audit(partial(run, scale=8), 0, 1, samples=500, checkpoint=path)
    audit(partial(run, scale=8), 0, 1, samples=500, checkpoint=path)
    with pytest.raises(InvalidParameter, match="another audit"):
        audit(partial(run, scale=9), 0, 1, samples=500, checkpoint=path)


class Lazy:
    def __init__(self, size: int) -> None:
        self.size = size

    @cached_property
    def table(self) -> list[int]:
        return list(range(self.size))


def test_what_is_calculated_later_is_no_part_of_it() -> None:
    lazy, noise = Lazy(3), DiscreteLaplace(scale=1)
    before = identity(lazy), identity(noise), identity(SystemSource())
    lazy.table.append(3)
    source = SystemSource()
    noise.sample(source)
    assert (identity(lazy), identity(noise), identity(source)) == before
    assert identity(Lazy(4)) != before[0]
    assert identity(DiscreteLaplace(scale=2)) != before[1]
