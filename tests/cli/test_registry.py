"""The table of commands: complete, and each command explains itself."""

from __future__ import annotations

import inspect
import pkgutil
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import click
import pytest

import exactdp.cli
from exactdp.accounting.calculator import calculator
from exactdp.cli.commands import COMMANDS, MAP, WORDS
from exactdp.cli.help import Sections, painted
from exactdp.cli.main import cli, main
from tests.cli.test_accounting import run


def tree(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    yield " ".join(path), command
    if isinstance(command, click.Group):
        with click.Context(command) as context:
            for name in command.list_commands(context):
                below = command.get_command(context, name)
                assert below is not None
                yield from tree(below, (*path, name))


EVERY = dict(tree(cli))
TARGET = ["--epsilon", "1", "--delta", "1e-5"]


def test_the_table_reaches_every_command_in_the_package() -> None:
    reached = {id(command) for command in EVERY.values()}
    for module in pkgutil.walk_packages(exactdp.cli.__path__, "exactdp.cli."):
        for name, value in vars(import_module(module.name)).items():
            if isinstance(value, click.Command):
                assert id(value) in reached, f"{module.name}.{name}"


def test_the_list_of_commands_has_a_whole_sentence_for_each() -> None:
    _, out, _ = run("--help")
    for name in COMMANDS:
        (line,) = [line for line in out.splitlines() if line.split()[:1] == [name]]
        assert re.search(r"[^.]\.$", line)


def test_the_map_has_at_most_fourteen_groups() -> None:
    assert len(COMMANDS) == sum(map(len, MAP.values())) <= 14


def test_each_command_of_a_list_by_task_has_one_task() -> None:
    for path, command in EVERY.items():
        if isinstance(command, Sections):
            under = [name for names in command.sections.values() for name in names]
            assert sorted(under) == sorted(command.list_commands(click.Context(command))), path


def test_siblings_are_told_apart() -> None:
    for group in {name.rpartition(" ")[0] for name in EVERY if name}:
        inside = {n: x for n, x in EVERY.items() if n and n.rpartition(" ")[0] == group}
        by_help = {command.get_short_help_str(200): name for name, command in inside.items()}
        same = {("release csh", "release top-k")}  # two names of one command
        assert len(by_help) >= len(inside) - len(same), group


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["delt"], "'delta'"),
        (["calibrate", "gsmh"], "'gshm'"),
        (["release", "histogram-apl"], "'histogram-alp'"),
        (["keyz"], "'exactdp release keys'"),
        (["convert"], "'exactdp epsilon'"),
        (["anonymisation"], "'exactdp risk'"),
        (["delta", "rho"], "'exactdp epsilon zcdp'"),
        (["release", "Mean"], "'exactdp release counts'"),
    ],
)
def test_a_mistyped_command_is_told_what_is_near(words: list[str], meant: str) -> None:
    code, out, err = run(*words, "--json")
    assert (code, out) == (2, "")
    assert f"Did you mean {meant}" in err
    assert "Did you mean" not in run("qqqqqqqq")[2]


def test_an_option_of_the_twin_names_the_twin() -> None:
    _, _, err = run("delta", "zcdp", "--rho", "2.56", "--delta", "1e-10")
    assert "'exactdp epsilon zcdp' has this option." in err
    _, _, err = run("epsilon", "gaussian", "--sigma", "2", "--epsilon", "1")
    assert "'exactdp delta gaussian' has this option." in err
    assert "has this option" not in run("sgd", "--colour")[2]


def test_words_that_people_type_lead_to_commands() -> None:
    assert [word for word, path in WORDS.items() if path not in EVERY or word in COMMANDS] == []


def test_without_a_command_six_lines_ask_what_is_wanted() -> None:
    code, out, err = run()
    assert (code, err, len(out.splitlines())) == (2, "", 6)


def test_defaults_in_help_are_those_of_the_calculators() -> None:
    for name in ("gaussian", "csh", "sums", "discrete-gaussian"):
        for verb in ("delta", "calibrate"):
            module = import_module(calculator(name).__module__)
            helps = {
                x.name: str(x.help) for x in EVERY[f"{verb} {name}"].params if hasattr(x, "help")
            }
            for parameter in inspect.signature(getattr(module, verb)).parameters.values():
                if parameter.default not in (None, parameter.empty):
                    assert f"default: {parameter.default}]" in helps[parameter.name], (name, verb)
                if parameter.default is parameter.empty:
                    assert helps[parameter.name].endswith("required]")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_installed_once(shell: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SHELL", f"/bin/{shell}")
    assert run("--install-completion")[0] == 0
    written = {
        path: path.read_text(encoding="utf-8") for path in tmp_path.rglob("*") if path.is_file()
    }
    assert any("_EXACTDP_COMPLETE" in text for text in written.values())
    assert run("--install-completion", shell)[0] == 0
    assert {path: path.read_text(encoding="utf-8") for path in written} == written
    assert run("--install-completion", "tcsh")[0] == 2


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("exactdp cal", "calibrate"),
        ("exactdp calibrate gs", "gshm"),
        ("exactdp calibrate csh --analysis pu", "published"),
        ("exactdp delta gshm --si", "--sigma"),
        ("exactdp statement check ", "file"),
    ],
)
def test_completion(words: str, completed: str, monkeypatch: Any, capsys: Any) -> None:
    variables = {"COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    for name, value in {**variables, "_EXACTDP_COMPLETE": "bash_complete"}.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit):
        main([])
    assert completed in capsys.readouterr().out.replace(",", "\n").splitlines()


def test_colours_only_where_they_are_seen(monkeypatch: Any) -> None:
    assert painted("refuted (x): y").startswith("\x1b[31m")
    assert painted("proved") == "\x1b[32m\x1b[1mproved\x1b[0m"
    assert "\x1b" not in run("check", "gaussian", "--sigma", "9", *TARGET)[1]
    monkeypatch.setattr(click.utils, "should_strip_ansi", lambda *_: False)
    assert "\x1b" in run("check", "gaussian", "--sigma", "9", *TARGET)[1]
