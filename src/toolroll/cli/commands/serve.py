"""`toolroll serve`: the page and the HTTP service; `toolroll tokens`: who may use it."""

from pathlib import Path
from typing import Final

import click

from toolroll.cli.lazy import body
from toolroll.cli.options import output_options, research_options

_scopes: Final = ("read", "run", "approve", "all", "chat", "mcp")


@click.command()
@click.option("--api", is_flag=True, help="Serve only the HTTP API for jobs, for programs with a token.")
@click.option("--open/--no-open", "is_opened", default=True, help="Open the page in the browser (default: yes).")
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
    help="The folder that chats and explorations begin in (default: the current folder).",
)
@research_options
@output_options
@click.pass_obj
@body("toolroll.cli.actions.serve:serve_page")
def serve() -> None:
    """Serve a page for this machine: chats, approvals, runs and explorations. With --api, only the HTTP API.

    The link that it prints lets in whoever has it, until the command ends. It answers on this machine only.

    The API is part of the page, too; /api/openapi.json describes it. Programs need a token: 'toolroll tokens create
    NAME'. For other machines, serve --api alone, put a proxy with TLS in front, and give its host name with --name.
    With --concurrency 0 it does no jobs itself, and 'toolroll worker' does them.

    \b
    Examples:
      toolroll serve
      toolroll serve --no-open --port 9000 --root ~/project
      toolroll serve --api --concurrency 0 --ideas ~/research/ideas
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
    help="What it allows (default: read and run); 'all': jobs of other tokens; 'chat': /ag-ui; 'mcp': /mcp.",
)
@output_options
@click.pass_obj
@body("toolroll.cli.actions.tokens:create_token")
def create() -> None:
    """Create the token NAME, and show its secret. Only its hash is stored, so it cannot be shown again.

    \b
    Examples:
      toolroll tokens create laptop
      toolroll tokens create reviewer --scope read --scope approve --scope all
    """


@tokens.command("webhook-secret", short_help="Create the secret that webhooks are signed with.")
@click.option("--new", "is_new", is_flag=True, help="Replace the secret that there is.")
@output_options
@click.pass_obj
@body("toolroll.cli.actions.tokens:create_webhook_secret")
def webhook_secret() -> None:
    """Create the secret that webhooks are signed with, and show it once: the receiver checks signatures with it.

    TOOLROLL_WEBHOOK_SECRET is used instead where it is set.

    \b
    Examples:
      toolroll tokens webhook-secret
      toolroll tokens webhook-secret --new
    """


@tokens.command("list", short_help="List the tokens.")
@output_options
@click.pass_obj
@body("toolroll.cli.actions.tokens:list_tokens")
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
@body("toolroll.cli.actions.tokens:revoke_token")
def revoke() -> None:
    """Revoke the token NAME: from now on it is not accepted.

    \b
    Example:
      toolroll tokens revoke laptop
    """
