"""Commands that receive SIGINT or SIGTERM end at once, and leave no process and no file behind."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

import pytest

from exactdp import processes
from exactdp.cli.main import cli, main
from exactdp.errors import InvalidParameter
from exactdp.processes import end_descendants

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")

EXACTDP = Path(sys.executable).with_name("exactdp")
#: Seconds after which a command counts as running on. Two are promised; machines that run tests
#: are busy, and every command here would run for longer than this.
SOON = 60
ENDINGS = {signal.SIGINT: (130, "interrupted"), signal.SIGTERM: (143, "terminated")}

#: A program that starts another one and never answers.
_SLEEPER = "import subprocess, time; subprocess.Popen(['sleep', '600']); time.sleep(600)"

_AUDIT = "exactdp:discrete-gaussian --set sigma=3 --epsilon 1 --samples 1e9"
_TARGET = "--epsilon 0.1 --delta 1e-12"

#: Every one takes much longer than a second.
COMMANDS = (
    "proofs",
    f"audit run {_AUDIT} --left 0 --right 1 --workers 2 --html report.html",
    "audit run --command 'PYTHON sleeper.py' --left 0 --right 1 --epsilon 1 --workers 2",
    "sample discrete-gaussian --sigma2 100 --count 1e12 --output noise.npy",
    "sgd --noise-multiplier 0.5 --rate 0.01 --steps 200000 --delta 1e-9",
    # these end in the same ways as those above
    f"audit pairs {_AUDIT} --pairs pairs.jsonl --workers 2",
    f"figure savings {_TARGET} --output figure.svg",
    "local report values.csv --mechanism unary --k 1000 --epsilon 1 --output reports.edl",
    "release compact counts.csv --epsilon 1 --text 30 --output release.edph",
    "audit vectors run --stdin-jsonl",  # waits for its input
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with what the commands read."""
    (tmp_path / "sleeper.py").write_text(_SLEEPER, encoding="utf-8")
    (tmp_path / "pairs.jsonl").write_text("[0, 1]\n[1, 2]\n", encoding="utf-8")
    (tmp_path / "values.csv").write_text("7\n" * 1_000_000, encoding="utf-8")
    counts = "".join(f"page{i},{1 + i % 7}\n" for i in range(20_000))
    (tmp_path / "counts.csv").write_text("element,count\n" + counts, encoding="utf-8")
    return tmp_path


class Started:
    """A process in a session of its own; its descendants carry a mark in their environment."""

    def __init__(self, folder: Path, *command: str) -> None:
        self._mark = f"EXACTDP_TEST={uuid4()}"
        name, _, value = self._mark.partition("=")
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, name: value},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE if "-c" in command else subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def says(self, line: str) -> None:
        """Wait until the process prints a line."""
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == f"{line}\n"

    def listens(self) -> None:
        """Wait until the process has a handler of SIGTERM: the command has begun."""
        status = Path(f"/proc/{self.process.pid}/status")
        while self.process.poll() is None:
            caught = int(status.read_text(encoding="utf-8").partition("SigCgt:")[2].split()[0], 16)
            if caught >> (signal.SIGTERM - 1) & 1:
                return
            time.sleep(0.05)

    def tell(self, number: int) -> None:
        """Ctrl-C reaches all processes of a terminal, SIGTERM only the one that is meant."""
        send = os.killpg if number == signal.SIGINT else os.kill
        send(self.process.pid, number)

    def ended(self) -> tuple[int, str]:
        """Exit code and standard error; kills what runs for too long, and fails."""
        try:
            _, complaints = self.process.communicate(timeout=SOON)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            pytest.fail(f"runs after {SOON} s: {self.process.args!r}")
        return self.process.returncode, complaints

    def left(self) -> list[str]:
        """The processes that it left behind."""
        for _ in range(20):  # those that were killed need a moment
            commands = []
            for folder in Path("/proc").glob("[0-9]*"):
                try:
                    if self._mark in (folder / "environ").read_text(
                        errors="replace", encoding="utf-8"
                    ):
                        commands.append(
                            (folder / "cmdline").read_text(encoding="utf-8").replace("\0", " ")
                        )
                except OSError:
                    continue  # ended meanwhile, or another user's
            if not commands:
                break
            time.sleep(0.1)
        return commands


@pytest.mark.slow
@pytest.mark.parametrize(
    "line", [*COMMANDS[:5], *(pytest.param(line, marks=pytest.mark.slow) for line in COMMANDS[5:])]
)
def test_a_command_ends_when_it_is_told_to(folder: Path, line: str) -> None:
    before = sorted(folder.iterdir())
    command = shlex.split(line.replace("PYTHON", shlex.quote(sys.executable)))
    running = {number: Started(folder, str(EXACTDP), *command) for number in ENDINGS}
    for each in running.values():
        each.listens()
    time.sleep(0.5)
    for number, each in running.items():
        assert each.process.poll() is None, each.ended()
        each.tell(number)
    for number, each in running.items():
        code, word = ENDINGS[number]
        said = f"exactdp: {word}; unfinished work is lost"
        ended, complaints = each.ended()
        assert (ended, complaints.strip()) == (code, said)
        assert each.left() == []
    assert sorted(folder.iterdir()) == before


@pytest.mark.slow
def test_a_watch_that_is_stopped_reports(folder: Path) -> None:
    line = "audit watch exactdp:discrete-gaussian --set sigma=3 --left 0 --right 1 --epsilon 1"
    for number in ENDINGS:
        watch = Started(folder, str(EXACTDP), *line.split(), "--json", "--html", f"{number}.html")
        watch.listens()
        time.sleep(3)
        watch.tell(number)
        assert watch.ended() == (0, "")
        assert "epsilon" in (folder / f"{number}.html").read_text(encoding="utf-8")


#: A command in which a function is replaced: main() below it is the one that is installed.
_REPLACED = """
import os, sys, time
from contextlib import suppress
from pathlib import Path
from exactdp.cli import output, stopping, vectors
from exactdp.cli.main import main

def export(text):
    with output.written(Path("a.csv"), Path("b.csv")) as parts:
        for part in parts:
            part.write_text("whole")
        INSIDE

def slow_link(part, path):
    if path.name == "b.csv":
        print("ready", flush=True)
        time.sleep(2)
    os.link(part, path)

vectors.group_named = export
sys.argv = ["exactdp", "audit", "vectors", "export", "gshm"]
main()
"""

_STUCK = """
        try:
            print("ready", flush=True)
            time.sleep(600)
        except BaseException:
            time.sleep(600)
"""


@pytest.mark.few(1)
@pytest.mark.parametrize("number", ENDINGS)
def test_cleaning_up_that_takes_too_long(tmp_path: Path, number: signal.Signals) -> None:
    command = Started(tmp_path, sys.executable, "-c", _REPLACED.replace("INSIDE", _STUCK))
    command.says("ready")
    start = time.monotonic()
    command.tell(number)
    code, complaints = command.ended()
    assert time.monotonic() - start > 0.9
    assert code == ENDINGS[number][0]
    assert complaints == f"exactdp: {ENDINGS[number][1]}; unfinished work is lost\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_files_are_named_together_before_the_end(tmp_path: Path) -> None:
    program = _REPLACED.replace("INSIDE", "output._link = slow_link")
    command = Started(tmp_path, sys.executable, "-c", program)
    command.says("ready")  # one file has its name, the other not yet
    command.tell(signal.SIGTERM)
    code, complaints = command.ended()
    assert code == 143
    assert complaints == "exactdp: terminated; unfinished work is lost, kept: a.csv, b.csv\n"
    assert {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()} == {
        "a.csv": "whole",
        "b.csv": "whole",
    }


_CLEANED = """
        try:
            stopping._PATIENCE = 600
            print("ready", flush=True)
            while True:  # a signal just before a long sleep would wait for its end
                time.sleep(0.01)
        finally:
            print("cleaning", flush=True)
            sys.stdin.readline()
            print("cleaned", flush=True)
"""


def test_a_second_signal_does_not_interrupt_cleaning_up(tmp_path: Path) -> None:
    command = Started(tmp_path, sys.executable, "-c", _REPLACED.replace("INSIDE", _CLEANED))
    command.says("ready")
    command.tell(signal.SIGINT)
    command.says("cleaning")
    command.tell(signal.SIGINT)
    command.tell(signal.SIGTERM)
    assert command.process.stdin is not None
    command.process.stdin.write("\n")
    command.process.stdin.flush()
    command.says("cleaned")
    code, complaints = command.ended()
    assert code == 130
    assert complaints.strip() == "exactdp: interrupted; unfinished work is lost"


_FORKED = """
        child = os.fork()
        if not child:
            time.sleep(60)
        time.sleep(0.2)
        os.kill(child, 15)
        code = os.waitpid(child, 0)[1]
        time.sleep(1.5)  # longer than the command would run on, had it been meant
        print("signal", code, flush=True)
"""


@pytest.mark.slow
def test_a_signal_to_a_forked_child_is_not_meant_for_the_command(tmp_path: Path) -> None:
    program = _REPLACED.replace("INSIDE", _FORKED)
    command = Started(tmp_path, sys.executable, "-c", program)
    command.says("signal 15")
    assert command.ended()[0] not in (130, 143)


@pytest.mark.slow
def test_processes_of_processes_end(tmp_path: Path) -> None:
    """Also those in a session of their own, and those that ignore what they can."""
    deaf = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
    inner = f"import subprocess; subprocess.Popen([{sys.executable!r}, '-c', {deaf!r}]).wait()"
    family = [Started(tmp_path, sys.executable, "-c", inner) for _ in range(2)]
    for each in family:
        while len(each.left()) < 2:
            pass
    end_descendants()
    for each in family:
        assert each.ended()[0] == -signal.SIGKILL
        assert each.left() == []


@pytest.mark.slow
def test_ps_and_proc_agree(tmp_path: Path) -> None:
    sleeper = Started(tmp_path, sys.executable, "-c", _SLEEPER)
    while len(sleeper.left()) < 2:
        pass
    mine = processes._descendants(os.getpid())
    by_ps = processes._parents_by_ps()
    assert {by_ps[process] for process in mine} <= mine | {os.getpid()}
    end_descendants()
    assert sleeper.ended()[0] == -signal.SIGKILL


def test_whatever_error_a_signal_causes_the_command_was_interrupted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def code_in_c(*_: object, **__: object) -> None:
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        raise InvalidParameter("data", "visits.csv", "readable")

    monkeypatch.setattr(cli, "main", code_in_c)
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == 130
    assert capsys.readouterr().err.startswith("exactdp: interrupted")
