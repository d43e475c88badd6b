"""Mechanisms behind a command: the protocol, and every way in which it can be broken."""

from __future__ import annotations

import json
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from exactdp import InvalidParameter
from exactdp.audit import audit
from exactdp.audit.command import Command
from exactdp.errors import CommandFailed

MECHANISM = """
import json, random, sys
asked = json.loads(sys.stdin.readline())
draw = random.SystemRandom()
for _ in range(asked["count"]):
    lie = draw.random() < {lie}
    print(json.dumps(asked["data"] != lie))
"""

NODE = """
const { randomBytes } = require("crypto");
const asked = JSON.parse(require("fs").readFileSync(0, "utf8"));
const coin = () => randomBytes(4).readUInt32LE() / 2 ** 32 < Math.exp(-1);
const geometric = () => { let n = 0; while (coin()) n++; return n; };
const lines = [];
for (let i = 0; i < asked.count; i++)
  lines.push(JSON.stringify({ count: asked.data.length + geometric() - geometric() }));
console.log(lines.join("\\n"));
"""


def node(tmp_path: Path) -> Command:
    (tmp_path / "count.js").write_text(NODE, encoding="utf-8")
    return Command(f"node {tmp_path / 'count.js'}")


def python(tmp_path: Path, code: str, seconds: str = "20") -> Command:
    path = tmp_path / "mechanism.py"
    path.write_text(code, encoding="utf-8")
    return Command(f"{sys.executable} {path}", seconds)


@pytest.mark.slow
def test_a_command_is_audited(tmp_path: Path) -> None:
    """Randomised response that lies one time in four: e^epsilon = 3."""
    run = python(tmp_path, MECHANISM.format(lie=0.25))
    assert audit(run, True, False, epsilon="0.9", samples=30_000).violation


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("node"), reason="needs node")
def test_a_command_in_another_language(tmp_path: Path) -> None:
    """A noisy count in JavaScript: epsilon = 1."""
    run = node(tmp_path)
    outputs = run(["a", "b"], 2000)
    assert all(set(one) == {"count"} for one in outputs)
    assert np.mean([one["count"] for one in outputs]) == pytest.approx(2, abs=0.25)
    assert audit(run, ["a"], [], epsilon="0.7", samples=40_000).violation


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("node"), reason="needs node")
def test_a_command_in_another_language_keeps_its_promise(tmp_path: Path) -> None:
    assert not audit(node(tmp_path), ["a"], [], epsilon="1", samples=10_000).violation


def test_outputs_keep_their_shape(tmp_path: Path) -> None:
    lines = ['{"a": [1, 2]}', "null", '"x"', "true", "[1, 2.5]", "[]", "12345678901234567890"]
    run = python(tmp_path, f"for line in {lines!r}: print(line)")
    expected = [{"a": [1, 2]}, None, "x", True, [1, 2.5], [], 12345678901234567890]
    assert run(None, len(lines)) == expected
    rows = python(tmp_path, "for i in range(3): print([i, 2 * i])")(None, 3)
    assert rows.dtype == np.int64
    assert rows.tolist() == [[0, 0], [1, 2], [2, 4]]
    huge = python(tmp_path, "print([10**30])")(None, 1)
    assert huge == [[10**30]]


def test_the_request_is_one_line_of_json(tmp_path: Path) -> None:
    run = python(tmp_path, "import sys; print(sys.stdin.read().count(chr(10)))")
    assert run({"text": "two\nlines"}, 1) == [1]
    data = {"key": [1, None, "\u2028"]}
    run = python(tmp_path, "import sys, json; print(json.dumps(json.loads(sys.stdin.readline())))")
    assert run(data, 1) == [{"data": {"key": [1, None, "\u2028"]}, "count": 1}]


FAULTS: list[tuple[str, str, str]] = [
    ("crash", "print(1); raise ValueError('no seed')", "code 1 after 1 of 3 .*ValueError: no seed"),
    ("own exit code", "print(1)\nprint(2)\nprint(3)\nraise SystemExit(7)", "code 7 after 3 of 3"),
    ("signal", "import os; os.kill(os.getpid(), 9)", "signal 9"),
    ("malformed", "print(1); print('{'); print(3)", "line 2 that is no JSON"),
    ("empty line", "print(1); print(); print(3)", "line 2 that is no JSON"),
    ("bytes", "import sys; sys.stdout.buffer.write(b'1\\n\\xff\\n2\\n')", "line 2 that is no JSON"),
    ("too few", "print(1)", "wrote 1 outputs where 3"),
    ("none", "", "wrote 0 outputs where 3"),
    ("too many", "for i in range(4): print(i)", "wrote more outputs where 3"),
    ("endless", "while True: print(1)", "wrote more outputs where 3"),
    ("deep", "print('[' * 100000); print(1); print(2)", "line 1 that is no JSON"),
    ("time-out", "import time; print(1, flush=True); time.sleep(60)", r"longer than 1 s .*1 came"),
]  # fmt: skip


@pytest.mark.few(11)
@pytest.mark.parametrize(
    ("code", "message"), [row[1:] for row in FAULTS], ids=[r[0] for r in FAULTS]
)
def test_faults_are_errors_and_never_outputs(tmp_path: Path, code: str, message: str) -> None:
    with pytest.raises(CommandFailed, match=message):
        python(tmp_path, code, seconds="1")(0, 3)


def test_children_of_a_command_do_not_outlive_it(tmp_path: Path) -> None:
    """A grandchild holds the pipe open; giving up does not wait for it."""
    code = "import subprocess; subprocess.Popen(['sleep', '30']); print(1)"
    started = time.monotonic()
    with pytest.raises(CommandFailed, match="longer than"):
        python(tmp_path, code, seconds="1")(0, 1)
    assert time.monotonic() - started < 15


def test_a_failing_command_gives_no_verdict(tmp_path: Path) -> None:
    """It works for training and breaks when outputs are counted."""
    marker = tmp_path / "calls"
    code = (
        "import json, sys, random, pathlib\n"
        f"p = pathlib.Path({str(marker)!r}); n = int(p.read_text()) if p.exists() else 0\n"
        "p.write_text(str(n + 1)); asked = json.loads(sys.stdin.readline())\n"
        "for _ in range(asked['count'] - (n > 3)): print(random.SystemRandom().random())"
    )
    with pytest.raises(CommandFailed, match="outputs where"):
        audit(python(tmp_path, code), 0, 1, samples=20_000)


@pytest.mark.parametrize(
    ("command", "seconds", "name"),
    [("", 1, "command"), ("'", 1, "command"), ("x", 0, "seconds"), ("x", "-1", "seconds")],
)
def test_bad_input_is_named(command: str, seconds: Any, name: str) -> None:
    with pytest.raises(InvalidParameter, match=name):
        Command(command, seconds)


def test_what_cannot_start_or_be_sent_is_named() -> None:
    with pytest.raises(InvalidParameter, match="can be started"):
        Command("/nowhere/nothing")(0, 1)
    with pytest.raises(InvalidParameter, match="dataset must be made of JSON"):
        Command("true")({1, 2}, 1)
    assert json.dumps({"data": (1,)}) == '{"data": [1]}'
