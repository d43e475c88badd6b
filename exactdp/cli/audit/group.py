"""The group of audits."""

from __future__ import annotations

import click


class _Default(click.Group):
    """'exactdp audit TARGET' means 'exactdp audit run TARGET'."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.commands:
            args = ["run", *args]
        return super().resolve_command(ctx, args)


@click.group(
    cls=_Default,
    no_args_is_help=True,
    epilog="Example: exactdp audit opendp:laplace --set scale=1 --left 0 --right 1 --epsilon 0.5",
)
def audit() -> None:
    """Test code, numbers and implementations for privacy violations.

    'exactdp audit TARGET ...' is short for 'exactdp audit run TARGET ...'; 'exactdp audit targets'
    lists the targets.
    """
