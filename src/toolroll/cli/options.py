"""A command whose argument is a text in words."""

import click


class QuotedCommand(click.Command):
    """Takes one text; who forgot the quotation marks around it is told of them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read options and the text; what is left over is refused."""
        ctx.allow_extra_args = True
        left = super().parse_args(ctx, args)
        if left and not ctx.resilient_parsing:
            arguments = "argument" if len(left) == 1 else "arguments"
            told = f"Got unexpected extra {arguments} ({' '.join(left)})."
            raise click.UsageError(f"{told} Put a text of several words in quotation marks.", ctx)
        return left
