"""`toolroll mcp`: serve tools to other programs over the Model Context Protocol, and use the tools of servers."""

from pathlib import Path
from typing import Final

import click

from toolroll.cli.lazy import body
from toolroll.cli.options import (
    DefaultGroup,
    output_options,
    research_options,
    root_option,
    source_options,
    yes_option,
)

_clients: Final = ("claude-desktop", "claude-code", "cursor", "vscode", "codex", "gemini", "windsurf")


class ServeGroup(DefaultGroup):
    """Serves if no other command is named."""

    default = "serve"


@click.group(cls=ServeGroup)
def mcp() -> None:
    """Serve tools to Claude, Cursor, VS Code and others over the Model Context Protocol (MCP), or use those of servers.

    \b
    Examples:
      toolroll mcp --root ~/project          serve the coding tools over stdio
      toolroll mcp --from my_tools.py        serve your own tools
      toolroll mcp install cursor            tell a client of it
      toolroll mcp serve --help              all options
      toolroll mcp add --help                use the tools of other servers
    """


@mcp.command(short_help="Serve tools; 'serve' can be left out.")
@source_options
@root_option
@click.option("--read-only", is_flag=True, help="Only the tools that change nothing.")
@yes_option("Approve every call without asking.")
@click.option(
    "--data", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="The folder of the writing tools."
)
@click.option("--http", is_flag=True, help="Serve over streamable HTTP on this machine, with a token.")
@click.option("--port", type=click.IntRange(0, 65_535), metavar="N", help="The port of --http (default: 8421).")
@click.option("--name", "names", multiple=True, metavar="HOST", help="A host name that requests may use, with --http.")
@research_options
@output_options
@click.pass_obj
@body("toolroll.cli.actions.mcp.serve:serve_tools")
def serve() -> None:
    """Serve tools over stdin and stdout until the client closes them. A client starts this command itself.

    Without --pack and --from the tools of the pack 'code' are served. A tool that changes something asks first: the
    client shows what would happen, if it can. Otherwise the call is refused, unless a remembered rule or --yes allows
    it. Every client is a run: 'toolroll runs', 'changes', 'undo' and 'stats' show what it did.

    With --http, clients connect to an address instead, and send a token. 'toolroll serve' has the same address /mcp.

    \b
    Examples:
      toolroll mcp --root ~/project --read-only
      toolroll mcp --http --port 9000
      toolroll mcp --pack research --ideas ~/research/ideas
    """


@mcp.command(short_help="Write the configuration of Claude, Cursor, VS Code and others.")
@click.argument("client", type=click.Choice(_clients))
@source_options
@root_option
@click.option("--read-only", is_flag=True, help="Only the tools that change nothing.")
@click.option(
    "--name", default="toolroll", metavar="NAME", help="What the client calls the server (default: toolroll)."
)
@click.option("--print", "prints", is_flag=True, help="Print what belongs into the configuration, and change nothing.")
@yes_option("Write it without asking.")
@output_options
@click.pass_obj
@body("toolroll.cli.actions.mcp.install:install_server")
def install() -> None:
    """Write our server into the configuration of CLIENT, after showing the difference. All else there stays.

    The paths are absolute, so that the client finds the program and the project wherever it starts. For Claude Code it
    is the file .mcp.json of the project.

    \b
    Examples:
      toolroll mcp install claude-desktop --root ~/project
      toolroll mcp install cursor --pack research --read-only --name research
      toolroll mcp install vscode --print
    """


@mcp.command(short_help="Show the calls of clients that wait for your answer.")
@output_options
@click.pass_obj
@body("toolroll.cli.actions.mcp.questions:show_questions")
def questions() -> None:
    """Show the calls of clients that wait for your answer here, with all that they would do.

    A client shows a question itself if it fits into a form. What is longer is shown and answered here.

    \b
    Example:
      toolroll mcp questions
    """


@mcp.command(short_help="Approve a call that a client asks about.")
@click.argument("call_id", metavar="CALL")
@output_options
@click.pass_obj
@body("toolroll.cli.actions.mcp.questions:approve_call")
def approve() -> None:
    """Approve the call CALL, as 'toolroll mcp questions' shows it; the beginning of its id is enough.

    If the file has changed since the question was asked, nothing is done, and the client asks again.

    \b
    Example:
      toolroll mcp approve 3f9c
    """


@mcp.command(short_help="Reject a call that a client asks about.")
@click.argument("call_id", metavar="CALL")
@click.option("--why", metavar="TEXT", help="Tell the model why.")
@output_options
@click.pass_obj
@body("toolroll.cli.actions.mcp.questions:reject_call")
def reject() -> None:
    """Reject the call CALL; the model is told why.

    \b
    Example:
      toolroll mcp reject 3f9c --why 'Not this file'
    """


@mcp.command(short_help="Use the tools of an MCP server.")
@click.argument("name")
@click.argument("command", nargs=-1, metavar="[-- COMMAND [ARGS]...]")
@click.option("--url", metavar="URL", help="The address of a server that runs elsewhere, instead of a command.")
@click.option("--header", "headers", multiple=True, metavar="'NAME: VALUE'", help="A header; ${NAME} is a variable.")
@click.option("--oauth", is_flag=True, help="Log in to the server in a browser.")
@click.option("--env", "env", multiple=True, metavar="NAME", help="A variable or stored key that it is given.")
@click.option("--set", "variables", multiple=True, metavar="NAME=VALUE", help="A variable that is no secret.")
@click.option("--cwd", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="Where it is started.")
@click.option("--tool", "tools", multiple=True, metavar="PATTERN", help="Only these of its tools.")
@click.option("--allow", "allow", multiple=True, metavar="PATTERN", help="Tools that run without a question.")
@click.option("--reads", "reads", multiple=True, metavar="PATTERN", help="Tools that only read, and send nothing out.")
@click.option("--local", is_flag=True, help="It works on this machine alone, and sends nothing out.")
@click.option("--public", is_flag=True, help="What it returns is nothing private.")
@click.option("--no-test", is_flag=True, help="Do not start it now.")
@output_options
@click.pass_obj
@body("toolroll.cli.actions.mcp.servers:add_server")
def add() -> None:
    """Let agents use the tools of an MCP server: a COMMAND that is started here, or a --url.

    It is written to your settings.toml, started once, and its tools are listed. Every call is asked about until you say
    otherwise, here or with the "always" of a question. A key is never written down: --env names a variable, or a
    key that is stored with 'toolroll config key set'.

    \b
    Examples:
      toolroll mcp add git --local -- uvx mcp-server-git --repository .
      toolroll mcp add github --env GITHUB_TOKEN -- github-mcp-server stdio
      toolroll mcp add wiki --url https://example.com/mcp --oauth
      toolroll mcp add shop --url https://example.com/mcp \\
          --header 'Authorization: Bearer ${SHOP_TOKEN}'
    """


@mcp.command("list", short_help="List the MCP servers that are used here.")
@root_option
@output_options
@click.pass_obj
@body("toolroll.cli.actions.mcp.servers:list_servers")
def list_servers() -> None:
    """List the MCP servers that agents use in a project, with what is known of their tools. None is started.

    A project's own servers (.mcp.json, .toolroll/settings.toml) are used only after 'toolroll trust add'.

    \b
    Examples:
      toolroll mcp list
      toolroll mcp list --json
    """


@mcp.command(short_help="Start a server, and list its tools.")
@click.argument("name")
@root_option
@output_options
@click.pass_obj
@body("toolroll.cli.actions.mcp.servers:test_server")
def test() -> None:
    """Start the MCP server NAME, or call it, and list its tools: new ones, accepted ones, and those that changed.

    \b
    Example:
      toolroll mcp test files
    """


@mcp.command(short_help="Use a server no longer.")
@click.argument("name")
@output_options
@click.pass_obj
@body("toolroll.cli.actions.mcp.servers:remove_server")
def remove() -> None:
    """Remove the MCP server NAME from your settings, with its login and what you accepted of it.

    \b
    Example:
      toolroll mcp remove files
    """


@mcp.command(short_help="Log in to a server in a browser.")
@click.argument("name")
@root_option
@click.option("--out", is_flag=True, help="Log out: forget the login.")
@output_options
@click.pass_obj
@body("toolroll.cli.actions.mcp.servers:log_in")
def login() -> None:
    """Log in to the MCP server NAME (OAuth). Your browser opens; the tokens are kept in a file that only you can read.

    \b
    Examples:
      toolroll mcp login wiki
      toolroll mcp login wiki --out
    """
