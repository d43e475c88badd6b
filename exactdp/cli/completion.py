"""Completion of commands, options and file names: exactdp --install-completion."""

from __future__ import annotations

import os
from pathlib import Path

import click
from click.shell_completion import CompletionItem, get_completion_class

from exactdp.errors import Described, InvalidParameter
from exactdp.parameters import choice

#: Shell -> the file that it reads at its start, which loads the script; fish finds scripts itself.
_STARTS = {"bash": ".bashrc", "zsh": ".zshrc", "fish": None}
_FILES = {"file", "files", "data", "counts", "values", "report"}


def completed(command: click.Command) -> None:
    """Complete file names and listed values of a command's options and arguments."""
    for parameter in command.params:
        metavar = parameter.metavar or ""
        if metavar == "FILE" or (
            isinstance(parameter, click.Argument) and parameter.name in _FILES
        ):
            parameter._custom_shell_complete = _files
        elif "|" in metavar:
            parameter._custom_shell_complete = _listed


def install_completion(shell: str | None = None) -> list[Path]:
    """Write the script of a shell, and a line that loads it; the files that were changed.

    shell: bash, zsh or fish; None: the one in $SHELL. Raises InvalidParameter.
    """
    name = Path(os.environ.get("SHELL") or "none").name if shell is None else shell
    start = _STARTS[choice("shell", name, tuple(_STARTS))]
    kind = get_completion_class(name)
    if kind is None:
        raise InvalidParameter("shell", Described(name), " or ".join(_STARTS))
    home = Path.home()
    script = home / ".config/fish/completions/exactdp.fish"
    if start:
        script = home / f".local/share/exactdp/completion.{name}"
    script.parent.mkdir(parents=True, exist_ok=True)
    maker = kind(click.Command("exactdp"), {}, "exactdp", "_EXACTDP_COMPLETE")
    script.write_text(click.shell_completion.ShellComplete.source(maker), encoding="utf-8")
    if start is None:
        return [script]
    line = f'source "{script}"'
    path = home / start
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    if line not in before.splitlines():
        lines = [f"{before.rstrip()}\n"] if before.strip() else []
        lines += ["autoload -Uz compinit && compinit\n"] * (
            name == "zsh" and "compinit" not in before
        )
        path.write_text("".join([*lines, f"{line}\n"]), encoding="utf-8")
    return [script, path]


def _files(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
    return [CompletionItem(begun, type="file")]


def _listed(_: click.Context, option: click.Parameter, begun: str) -> list[CompletionItem]:
    values = (option.metavar or "").split("|")
    return [CompletionItem(value) for value in values if value.startswith(begun)]
