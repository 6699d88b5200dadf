"""`ghostpen REQUEST`, which is `toolroll write REQUEST`: a post in a person's own voice."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from toolroll.cli.ghostpen.commands import model_option, place_options
from toolroll.cli.lazy import lazily
from toolroll.cli.options import QuotedCommand, event_options
from toolroll.cli.session import Session

if TYPE_CHECKING:
    from toolroll.packs.writing.posts.platforms import Platform


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
def write(
    session: Session,
    request: str | None,
    *,
    profile: str | None,
    mix: tuple[str, str] | None,
    platform: "Platform | None",
    notion: str | None,
    model: str | None,
    yes: bool,
    demo: bool,
    data: Path | None,
    lang: str | None,
) -> int:
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
    from toolroll.cli.ghostpen.context import CommandContext, translate_errors  # noqa: PLC0415 - as above

    session.set_up_logging()
    if demo:
        from toolroll.cli.ghostpen.demo import play_demo  # noqa: PLC0415 - as above

        return play_demo(session, lang=lang)
    from toolroll.cli.ghostpen.write_post import WriteOptions, write_post  # noqa: PLC0415 - as above

    context = CommandContext.open(session, data=data, lang=lang, yes=yes)
    with translate_errors(context.lang):
        wanted = WriteOptions(
            request=request, profile=profile, mix=mix, platform=platform, notion=notion, model=model, lang=lang
        )
    return write_post(context, wanted)
