"""`ghostpen REQUEST`, which is `toolroll write REQUEST`: a post in a person's own voice."""

import click

from toolroll.cli.ghostpen.commands import model_option, place_options
from toolroll.cli.lazy import body, lazily
from toolroll.cli.options import QuotedCommand, event_options


def _two_names(
    ctx: click.Context, _parameter: click.Parameter, value: tuple[str, str] | None
) -> tuple[str, str] | None:
    """Return what was given, where nobody forgot the second name: click takes the next option for it."""
    for name in value or ():
        if name.startswith("-"):
            raise click.UsageError(f"Option '--mix' takes two names, BASE TECHNIQUES, and '{name}' is none.", ctx)
    return value


@click.command(cls=QuotedCommand)
@click.argument("request", required=False)
@click.option(
    "--profile",
    metavar="NAME",
    shell_complete=lazily("toolroll.cli.actions.completion:complete_profiles"),
    help="The style profile to write by; 'default' if not given.",
)
@click.option(
    "--mix",
    nargs=2,
    metavar="BASE TECHNIQUES",
    callback=_two_names,
    shell_complete=lazily("toolroll.cli.actions.completion:complete_profiles"),
    help="The voice of one profile with the hooks, closings and structure of another.",
)
@click.option(
    "--platform",
    type=click.Choice(["linkedin", "instagram", "x"]),
    help="The platform; else the one that the request is for.",
)
@click.option("--notion", metavar="URL", help="Write from this page of Notion (NOTION_TOKEN).")
@model_option
@click.option("--yes", is_flag=True, help="Save the first draft without asking.")
@click.option("--demo", is_flag=True, help="See a post come about with a recorded model: no key, nothing is kept.")
@place_options
@event_options
@click.pass_obj
@body("toolroll.cli.ghostpen.write_post:run_write")
def write() -> None:
    """Write a post about REQUEST in your own voice; without one you are asked.

    A draft is checked against your profile and shown. Say what should be different, in your own words, until it is
    right: "ok", "save" or "зберігай" keeps it after one more yes, "exit" leaves. Feedback on style is counted, and
    from the third time on a change of the profile is proposed.

    Where nobody can be asked, one draft goes to stdout and nothing is saved without --yes. With --json every event is
    a line {"index", "event", ...}, the last one run_finished.

    \b
    Examples:
      ghostpen 'post about our first year for LinkedIn'
      ghostpen 'why we close on Mondays' --platform instagram --lang uk
      ghostpen 'AI in hiring, with figures' --mix default competitor-alex
      ghostpen -- stats          a request that is the name of a command
    """
