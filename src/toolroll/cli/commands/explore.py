"""`toolroll explore`: research an idea with web search, and list what was explored."""

import click

from toolroll.cli.lazy import body
from toolroll.cli.options import IdeaGroup, QuotedCommand, event_options, output_options, research_options


@click.group(cls=IdeaGroup)
def explore() -> None:
    """Explore an idea: 'toolroll explore IDEA' searches, reads, and writes a document.

    \b
    Examples:
      toolroll explore 'A library of things for every village' --model sonnet
      toolroll explore list
      toolroll explore run --help     all options
    """


@explore.command(cls=QuotedCommand, short_help="Explore an idea; 'run' can be left out.")
@click.argument("idea", required=False)
@click.option("--mode", default="exploration", metavar="MODE", help="business, exploration, or your own file MODE.md.")
@click.option("--model", metavar="NAME", help="sonnet, openai:NAME, ollama:NAME, ... (default: TOOLROLL_MODEL).")
@click.option("--context", default="", metavar="TEXT|FILE", help="Background: a text, or the name of a file with it.")
@click.option("--update", is_flag=True, help="Append what is new to the existing research on this idea.")
@click.option("--continue-from", metavar="NAME", help="Build on other research: its path, folder or idea.")
@click.option("--two-phase", is_flag=True, help="Gather notes first, then write without tools.")
@click.option("--stats", is_flag=True, help="Keep each tool call with its figures in the log.")
@click.option(
    "--timeout",
    "timeout_s",
    type=click.FloatRange(min=1, max=3_600),
    default=120.0,
    metavar="SECONDS",
    help="Give a step up when nothing of it comes for so long (120).",
)
@click.option("--token-limit", type=click.IntRange(min=1_000), metavar="N", help="Stop before it uses more tokens.")
@click.option("--max-steps", type=click.IntRange(min=1), default=5, metavar="N", help="Steps of the model (5).")
@click.option("--yes", is_flag=True, help="Allow up to 30 searches, also the provider's own, without asking.")
@click.option("--queue", is_flag=True, help="Queue it for 'toolroll worker', and return at once.")
@click.option("--file", "ideas_file", type=click.File("rb"), metavar="FILE", help="Queue every idea of a file.")
@click.option("--priority", type=click.IntRange(-100, 100), default=0, metavar="N", help="Higher is done first (0).")
@click.option("--at", metavar="TIME", help="Queue it for a time: 23:30, +2h or 2026-12-24T18:00.")
@click.option("--every", metavar="TIME", help="Queue it again and again: every 30m, 6h, 1d or 2w, from --at or now on.")
@click.option("--webhook", metavar="URL", help="Tell this address when a queued idea is done or given up (https).")
@research_options
@event_options
@click.pass_obj
@body("toolroll.cli.actions.explore:run_explore")
def run() -> None:
    """Explore IDEA with web search and earlier research, and write a document.

    Without an IDEA, at a terminal, a chat begins: the first message is the idea, the others are questions about it.

    The document is ideas/<date>-<idea>/research.md, with exploration-log.json beside it. An idea that was explored
    before is not explored again without --update. Progress goes to stderr; stdout says where the document is, and at a
    terminal the document is shown. With --json every event is a line {"index", "event", ...}, the last one
    exploration_finished.

    If there is earlier research or a context, you are asked once whether it may search: up to 30 searches, each of at
    most 200 characters and without a passage of what it has read. Anything else is asked about by itself. Where nobody
    can be asked, the provider's own search is not used without --yes.

    \b
    Examples:
      toolroll explore 'Rent out tools by the hour' --mode business
      toolroll explore 'Rent out tools by the hour' --update --repo me/research
      toolroll explore 'Tool rental at schools' --continue-from rent-out-tools
      toolroll explore --file ideas.txt && toolroll worker --drain

    A file has one idea a line, or JSON Lines, or CSV with a header line: "idea", and if you like "mode", "context".
    """


@explore.command("list", short_help="List the ideas that were explored.")
@research_options
@output_options
@click.pass_obj
@body("toolroll.cli.actions.ideas:list_ideas")
def list_ideas() -> None:
    """List the ideas that were explored, the newest first: date, mode, cost, title, and the name for 'show'.

    \b
    Examples:
      toolroll explore list
      toolroll explore list --repo me/research --json
    """


@explore.command(short_help="Show a document.")
@click.argument("name")
@research_options
@output_options
@click.pass_obj
@body("toolroll.cli.actions.ideas:show_document")
def show() -> None:
    """Show the research NAME: its idea, its folder, or a part of either. At a terminal it is rendered.

    \b
    Example:
      toolroll explore show tools
    """
