"""`toolroll serve`: the HTTP service; `toolroll tokens`: who may use it."""

from pathlib import Path
from typing import Final

import click

from toolroll.cli.lazy import body
from toolroll.cli.options import output_options, research_options

_scopes: Final = ("read", "run", "approve", "all")


@click.command()
@click.option("--api", is_flag=True, required=True, help="Serve the HTTP API for jobs.")
@click.option("--port", type=click.IntRange(0, 65_535), default=8_420, metavar="N", help="The port (default: 8420).")
@click.option("--host", default="127.0.0.1", metavar="ADDRESS", help="The address (default: 127.0.0.1, this machine).")
@click.option("--name", "names", multiple=True, metavar="HOST", help="A host name that requests may use.")
@click.option(
    "--concurrency",
    type=click.IntRange(0, 1_000),
    default=4,
    metavar="N",
    help="Jobs it does itself (default: 4; 0: none).",
)
@click.option(
    "--root",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    metavar="DIR",
    help="The folder that explorations are begun in (default: the current folder).",
)
@research_options
@output_options
@click.pass_obj
@body("toolroll.cli.actions.serve:serve_api")
def serve() -> None:
    """Serve the HTTP API: queue explorations, follow jobs and answer them. /api/openapi.json describes it.

    Requests need a token: 'toolroll tokens create NAME'. The service speaks HTTP and is for this machine; for others,
    put a proxy with TLS in front, and give its host name with --name. With --concurrency 0 it does no jobs itself, and
    'toolroll worker' does them.

    \b
    Examples:
      toolroll serve --api
      toolroll serve --api --port 9000 --concurrency 0 --ideas ~/research/ideas
    """


@click.group()
def tokens() -> None:
    """Create, list and revoke the tokens of the HTTP service.

    \b
    Examples:
      toolroll tokens create laptop
      toolroll tokens list
    """


@tokens.command(short_help="Create a token, and show it once.")
@click.argument("name")
@click.option(
    "--scope",
    "scopes",
    type=click.Choice(_scopes),
    multiple=True,
    default=("read", "run"),
    help="What it allows (default: read and run); 'all' sees the jobs of other tokens too.",
)
@output_options
@click.pass_obj
@body("toolroll.cli.actions.serve:create_token")
def create() -> None:
    """Create the token NAME, and show its secret. Only its hash is stored, so it cannot be shown again.

    \b
    Examples:
      toolroll tokens create laptop
      toolroll tokens create reviewer --scope read --scope approve --scope all
    """


@tokens.command("list", short_help="List the tokens.")
@output_options
@click.pass_obj
@body("toolroll.cli.actions.serve:list_tokens")
def list_tokens() -> None:
    """List the tokens with their scopes, never their secrets.

    \b
    Example:
      toolroll tokens list
    """


@tokens.command(short_help="Revoke a token.")
@click.argument("name")
@output_options
@click.pass_obj
@body("toolroll.cli.actions.serve:revoke_token")
def revoke() -> None:
    """Revoke the token NAME: from now on it is not accepted.

    \b
    Example:
      toolroll tokens revoke laptop
    """
