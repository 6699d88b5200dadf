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
    help="The style profile to follow (default: 'default').",
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
    help="The platform (default: the one that the request names).",
)
@click.option(
    "--post-lang",
    type=click.Choice(["en", "uk"]),
    help="The language of this post (default: the one that the request names, else your profile's).",
)
@click.option("--notion", metavar="URL", help="Write from this page of Notion (NOTION_TOKEN).")
@model_option
@click.option("--yes", is_flag=True, help="Save the first draft and search the web without asking.")
@click.option("--demo", is_flag=True, help="Watch a recorded model write a post: no key needed, nothing is saved.")
@place_options
@event_options
@click.pass_obj
@body("toolroll.cli.ghostpen.write_post:run_write")
def write() -> None:
    """Write a post about REQUEST in your own voice; without one you are asked.

    Each draft is checked against your profile and shown. Say in your own words what to change, until it is right: "ok",
    "save" or "зберігай" saves it, "exit" leaves. Feedback on style is counted; from the third
    time on, ghostpen proposes to change the profile.

    If nobody can be asked, one draft goes to stdout, and nothing is saved without --yes. With --json every event is
    a line {"index", "event", ...}, the last one run_finished.

    \b
    Examples:
      ghostpen 'post about our first year for LinkedIn'
      ghostpen 'why we close on Mondays' --platform instagram --lang uk
      ghostpen 'AI in hiring, with figures' --mix default competitor-alex
      ghostpen -- stats          a request that is the name of a command
    """
