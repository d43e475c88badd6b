"""The map of all commands and their modules. To add a command, write its function and a word here.

The help, the page of the site, completion and the tests of the command line follow from this map.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any

import click

from exactdp.cli.help import Sections
from exactdp.cli.prepared import prepared
from exactdp.cli.separate import separate

#: Task -> command -> modules of exactdp.cli. The first module has a click command of that name. The
#: others add subcommands; a command with the name of its module becomes a subcommand. Modules are
#: imported when the command is used or listed. A command without modules is that of a distribution
#: of its own, which the extra of this name installs.
MAP: dict[str, dict[str, tuple[str, ...]]] = {
    "I have a target, or a number": {
        "calibrate": ("accounting",),
        "delta": ("accounting",),
        "epsilon": ("accounting",),
        "check": ("accounting",),
        "sgd": ("composition",),
        "compose": ("composition",),
        "risk": ("risk",),
        "figure": ("figure",),
    },
    "I have data": {
        "release": (
            "release",
            "release_rows",
            "release_universes",
            "advise",
            "plan",
            "budget",
            "sketches",
            "cut",
            "query",
        ),
        "local": ("local", "sparse"),
        "sample": ("sample",),
    },
    "I have a mechanism, or a claim": {
        "audit": ("audit.group", "audit.outputs", "audit.numbers", "vectors"),
        "statement": ("statement", "lint", "explain"),
        "proofs": (),
    },
}
COMMANDS = {name: modules for commands in MAP.values() for name, modules in commands.items()}

#: Word that people type -> the command that answers.
WORDS = {
    "convert": "epsilon",
    "rho": "epsilon zcdp",
    "rdp": "epsilon zcdp",
    "renyi": "epsilon zcdp",
    "zcdp": "epsilon zcdp",
    "census": "epsilon zcdp",
    "gaussian": "calibrate gaussian",
    "laplace": "calibrate laplace",
    "geometric": "calibrate discrete-laplace",
    "exponential": "calibrate exponential",
    "randomized-response": "calibrate randomized-response",
    "randomised-response": "calibrate randomized-response",
    "noise": "calibrate",
    "sigma": "calibrate gaussian",
    "train": "sgd",
    "training": "sgd",
    "dp-sgd": "sgd",
    "dpsgd": "sgd",
    "microbatch": "sgd",
    "accountant": "compose",
    "composition": "compose",
    "budget": "release budget",
    "count": "release counts",
    "histogram": "release counts",
    "mean": "release counts",
    "sum": "release counts",
    "average": "release counts",
    "shuffle": "local shuffled",
    "rappor": "local report",
    "advantage": "risk",
    "membership": "risk",
    "membership-inference": "risk",
    "attack": "risk",
    "anonymisation": "risk",
    "anonymization": "risk",
    "anonymise": "risk",
    "anonymize": "risk",
    "reidentification": "risk",
    "re-identification": "risk",
    "bayes": "risk",
    "trade-off": "risk",
    "power": "risk",
    "precision": "risk",
    "reconstruction": "risk",
    "mu": "risk",
    "schedule": "sgd",
    "median": "release counts",
    "quantile": "release counts",
    "gdpr": "statement",
    "report": "statement",
    "verify": "statement check",
}

#: Short names of commands that many users start with.
SHORT = {"advise": ("release", "advise"), "plan": ("release", "plan")}


class Commands(Sections):
    """A group of the commands in the map."""

    sections = MAP

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of the map."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name, or None."""
        return _loaded(cmd_name) if cmd_name in COMMANDS else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the arguments call, also by its short name."""
        if args and args[0] in SHORT:
            args = [*SHORT[args[0]], *args[1:]]
        return super().resolve_command(ctx, args)


def suggested(error: click.ClickException) -> str:
    """The commands that a mistyped command, or an option of another command, may mean, as the end
    of an error message; "" if there are none."""
    if isinstance(error, click.NoSuchOption) and error.ctx:
        return _twin(error.option_name, error.ctx)
    from difflib import get_close_matches

    mistyped = re.match("No such command '(.*?)'", error.format_message())
    context = getattr(error, "ctx", None)
    if not mistyped or not context:
        return ""
    if (word := mistyped[1].lower().replace("_", "-")) in WORDS:
        return f" Did you mean 'exactdp {WORDS[word]}'?"
    if "Did you mean" in error.format_message():
        return ""
    below = list(_paths(context.command))
    near = get_close_matches(mistyped[1], [path for path in below if " " not in path], n=2)
    if not near:  # a command of another group
        every = _paths(context.find_root().command)
        ends = {path.rpartition(" ")[2]: f"exactdp {path}" for path in every}
        near = [ends[end] for end in get_close_matches(mistyped[1], ends, n=2, cutoff=0.75)]
    return f" Did you mean {' or '.join(map(repr, near))}?" if near else ""


def _twin(option: str, context: click.Context) -> str:
    """The command of this name in another group of calculators that has the option."""
    _, *path = context.command_path.split()
    for group in ("epsilon", "delta", "check", "calibrate"):
        every = _loaded(group) if len(path) == 2 else None
        twin = every.get_command(context, path[1]) if isinstance(every, click.Group) else None
        if twin and any(option in parameter.opts for parameter in twin.params):
            return f" 'exactdp {group} {path[1]}' has this option."
    return ""


def _paths(command: click.Command, above: str = "") -> Iterator[str]:
    """The words of every command below a group."""
    if isinstance(command, click.Group):
        with click.Context(command) as context:
            for name in command.list_commands(context):
                yield above + name
                if (below := command.get_command(context, name)) is not None:
                    yield from _paths(below, f"{above}{name} ")


@cache
def _loaded(name: str) -> click.Command:
    if not COMMANDS[name]:
        return prepared(separate(name, name), name)
    first, *others = COMMANDS[name]
    command: Any = getattr(import_module(f"exactdp.cli.{first}"), name)
    for other in others:
        below = getattr(import_module(f"exactdp.cli.{other}"), other.rpartition(".")[2], None)
        if isinstance(below, click.Command) and below is not command:
            command.add_command(below)
    return prepared(command, name)
