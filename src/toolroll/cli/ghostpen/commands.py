"""The commands of `ghostpen` about profiles and numbers: what they take; the work is done next door."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from toolroll.cli.lazy import lazily
from toolroll.cli.options import complete_models, output_options
from toolroll.cli.session import Session

if TYPE_CHECKING:
    import os

    from toolroll.cli.ghostpen.context import CommandContext

F = TypeVar("F", bound=Callable[..., Any])

_complete_files: Final = lazily("toolroll.cli.actions.completion:complete_files")
_complete_profiles: Final = lazily("toolroll.cli.actions.completion:complete_profiles")
_analyze_posts: Final = lazily("toolroll.cli.ghostpen.analyze:analyze_posts")
_run_command: Final = lazily("toolroll.cli.ghostpen.context:run_command")
_profile_options: Final = lazily("toolroll.cli.ghostpen.create_profile:ProfileOptions")
_create_profile: Final = lazily("toolroll.cli.ghostpen.create_profile:create_profile")
_delete_profile: Final = lazily("toolroll.cli.ghostpen.profiles:delete_profile")
_edit_profile: Final = lazily("toolroll.cli.ghostpen.profiles:edit_profile")
_export_profile: Final = lazily("toolroll.cli.ghostpen.profiles:export_profile")
_import_profile: Final = lazily("toolroll.cli.ghostpen.profiles:import_profile")
_list_profiles: Final = lazily("toolroll.cli.ghostpen.profiles:list_profiles")
_show_profile: Final = lazily("toolroll.cli.ghostpen.profiles:show_profile")
_list_feedback: Final = lazily("toolroll.cli.ghostpen.stats:list_feedback")
_reset_feedback: Final = lazily("toolroll.cli.ghostpen.stats:reset_feedback")
_show_stats: Final = lazily("toolroll.cli.ghostpen.stats:show_stats")

_CATEGORIES: Final = (
    "too_formal", "too_casual", "too_long", "too_short", "hook_weak", "hook_strong", "tone_off", "structure_wrong",
    "vocabulary_wrong", "cta_missing", "cta_too_pushy", "other",
)  # fmt: skip
"""As in `packs.writing.feedback`, which costs too much for --help."""


class _Folder(click.Path):
    """A folder that has a name: an empty one, of a variable that is not set, would be the current folder."""

    def convert(
        self, value: "str | os.PathLike[str]", param: click.Parameter | None, ctx: click.Context | None
    ) -> "str | bytes | os.PathLike[str]":
        """Return the path."""
        if value == "":
            self.fail("it is empty. Name a folder, or leave the option out.", param, ctx)
        return super().convert(value, param, ctx)


class _Language(click.Choice[str]):
    """One of the languages that have a file; they are listed when the option is read, not when this is imported."""

    def __init__(self) -> None:
        super().__init__(())

    @property
    def choices(self) -> tuple[str, ...]:
        """Return the codes of the languages."""
        from toolroll.packs.writing.texts.messages import languages  # noqa: PLC0415 - reads a folder

        return languages()

    @choices.setter
    def choices(self, _given: object) -> None:
        """Ignore what click's constructor sets."""


def place_options(command: F) -> F:
    """Add `--data` and `--lang`: where profiles are, and the language of messages."""
    folder = _Folder(path_type=Path, file_okay=False)
    told = "The folder of profiles and posts (default: ./data if it exists, else one in your home)."
    data = click.option("--data", type=folder, metavar="DIR", help=told)
    spoken = click.option("--lang", type=_Language(), help="The language of messages (default: that of your locale).")
    return data(spoken(command))


def yes_option(command: F) -> F:
    """Add `--yes`: nobody is asked."""
    return click.option("--yes", is_flag=True, help="Do it without asking.")(command)


def model_option(command: F) -> F:
    """Add `--model`."""
    told = "sonnet, openai:NAME, ollama:NAME, ... (default: TOOLROLL_MODEL)."
    return click.option("--model", metavar="NAME", shell_complete=complete_models, help=told)(command)


def posts_options(command: F) -> F:
    """Add `--from` and `--notion`: what a profile is made of."""
    told = "A file with one post, or with several separated by lines of ---. Can be repeated; '-' reads stdin."
    files = click.option("--from", "files", multiple=True, metavar="FILE", shell_complete=_complete_files, help=told)
    pages = click.option("--notion", "pages", multiple=True, metavar="URL", help="A page of Notion (NOTION_TOKEN).")
    return files(pages(command))


@click.command()
@posts_options
@click.option("--name", default="default", show_default=True, metavar="NAME", help="The name of the profile.")
@model_option
@click.option("--sample", is_flag=True, help="Write a sample profile to try things out: no key, no posts.")
@yes_option
@place_options
@output_options
@click.pass_obj
def init(
    session: Session,
    *,
    files: tuple[str, ...],
    pages: tuple[str, ...],
    name: str,
    model: str | None,
    sample: bool,
    yes: bool,
    data: Path | None,
    lang: str | None,
) -> int:
    """Create your style profile from your posts: a model describes your style, and you correct it.

    Without --from and --notion you are asked to paste posts. You can correct the description as often as you like;
    nothing is written before you say ok. An existing profile is replaced only if you agree, and a backup is kept.

    \b
    Examples:
      ghostpen init
      ghostpen init --from post1.md --from post2.md --from post3.md
      ghostpen init --sample
    """

    options = _profile_options(name=name, files=files, pages=pages, model=model, is_sample=sample)
    return _run(session, lambda context: _create_profile(context, options), data=data, lang=lang, yes=yes)


@click.group()
def profile() -> None:
    """Create, list, show, edit, delete, export and import style profiles."""


@profile.command(short_help="Create another profile from posts.")
@click.argument("name")
@click.option("--reference", is_flag=True, help="Somebody else's style, for its techniques; feedback never changes it.")
@posts_options
@model_option
@yes_option
@place_options
@output_options
@click.pass_obj
def create(
    session: Session,
    name: str,
    *,
    reference: bool,
    files: tuple[str, ...],
    pages: tuple[str, ...],
    model: str | None,
    yes: bool,
    data: Path | None,
    lang: str | None,
) -> int:
    """Create the profile NAME, in the same way as 'init' creates the default one.

    NAME has lower-case Latin letters, digits and single dashes, as in competitor-alex.

    \b
    Examples:
      ghostpen profile create competitor-alex --reference --from alex.md
      ghostpen profile create newsletter
    """

    kind = "reference" if reference else "personal"
    options = _profile_options(name=name, type=kind, files=files, pages=pages, model=model)
    return _run(session, lambda context: _create_profile(context, options), data=data, lang=lang, yes=yes)


@profile.command("list", short_help="List all profiles.")
@place_options
@output_options
@click.pass_obj
def list_(session: Session, *, data: Path | None, lang: str | None) -> int:
    """List all profiles, personal ones first. Files that are no valid profiles are reported.

    \b
    Example:
      ghostpen profile list
    """

    return _run(session, _list_profiles, data=data, lang=lang)


@profile.command(short_help="Show a profile in words, or whole with --json.")
@click.argument("name", default="default", shell_complete=_complete_profiles)
@place_options
@output_options
@click.pass_obj
def show(session: Session, name: str, *, data: Path | None, lang: str | None) -> int:
    """Describe the profile NAME (default: 'default') in words; --json shows every field.

    \b
    Example:
      ghostpen profile show newsletter --json
    """

    return _run(session, lambda context: _show_profile(context, name), data=data, lang=lang)


@profile.command(short_help="Change a profile in your editor.")
@click.argument("name", default="default", shell_complete=_complete_profiles)
@place_options
@output_options
@click.pass_obj
def edit(session: Session, name: str, *, data: Path | None, lang: str | None) -> int:
    """Change the profile NAME (default: 'default') in $EDITOR.

    The profile is checked when you close the editor. If it breaks rules, you see which ones and can edit it again. The
    previous version is kept as a backup. A damaged profile opens as it is, so that you can repair it.

    \b
    Example:
      ghostpen profile edit newsletter
    """

    return _run(session, lambda context: _edit_profile(context, name), data=data, lang=lang)


@profile.command(short_help="Delete a profile; a backup stays.")
@click.argument("name", shell_complete=_complete_profiles)
@yes_option
@place_options
@output_options
@click.pass_obj
def delete(session: Session, name: str, *, yes: bool, data: Path | None, lang: str | None) -> int:
    """Delete the profile NAME after asking. A backup stays; the default profile cannot be deleted.

    \b
    Example:
      ghostpen profile delete newsletter
    """

    return _run(session, lambda context: _delete_profile(context, name), data=data, lang=lang, yes=yes)


@profile.command(short_help="Write a profile to a file, to share it.")
@click.argument("name", shell_complete=_complete_profiles)
@click.option(
    "--output", type=click.Path(path_type=Path), metavar="FILE", help="A new file to write (default: stdout)."
)
@place_options
@output_options
@click.pass_obj
def export(session: Session, name: str, *, output: Path | None, data: Path | None, lang: str | None) -> int:
    """Write the profile NAME as JSON, with its history, to stdout or a new file.

    \b
    Example:
      ghostpen profile export default --output mine.json
    """

    return _run(session, lambda context: _export_profile(context, name, output), data=data, lang=lang)


@profile.command("import", short_help="Import a profile from a file.")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--name", metavar="NAME", help="Import it under this name instead of the one in the file.")
@yes_option
@place_options
@output_options
@click.pass_obj
def import_(session: Session, file: Path, *, name: str | None, yes: bool, data: Path | None, lang: str | None) -> int:
    """Check the profile in FILE and import it, with its version and history.

    An existing profile of that name is replaced only if you agree, and a backup is kept.

    \b
    Example:
      ghostpen profile import mine.json --name newsletter
    """

    return _run(session, lambda context: _import_profile(context, file, name), data=data, lang=lang, yes=yes)


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILES...", shell_complete=_complete_files)
@click.option(
    "--profile",
    "name",
    default="default",
    show_default=True,
    metavar="NAME",
    shell_complete=_complete_profiles,
    help="The profile to compare with.",
)
@model_option
@yes_option
@place_options
@output_options
@click.pass_obj
def analyze(
    session: Session,
    files: tuple[str, ...],
    *,
    name: str,
    model: str | None,
    yes: bool,
    data: Path | None,
    lang: str | None,
) -> int:
    """Compare the posts in FILES with a profile, and propose changes.

    You see the field with its old and new value, and accept changes one by one or all at once. If nobody can be asked,
    they are only shown. The previous version is kept as a backup.

    \b
    Examples:
      ghostpen analyze new-post.md another.md
      ghostpen analyze posts.md --profile newsletter --json
    """

    return _run(session, lambda context: _analyze_posts(context, name, files, model), data=data, lang=lang, yes=yes)


@click.command()
@place_options
@output_options
@click.pass_obj
def stats(session: Session, *, data: Path | None, lang: str | None) -> int:
    """Show how many drafts you accepted, and your usual complaints.

    \b
    Example:
      ghostpen stats
    """

    return _run(session, _show_stats, data=data, lang=lang)


@click.group()
def feedback() -> None:
    """List the feedback you gave on drafts, by category, or delete it."""


@feedback.command("list", short_help="List the feedback, by category.")
@place_options
@output_options
@click.pass_obj
def list_said(session: Session, *, data: Path | None, lang: str | None) -> int:
    """List the feedback on style, the most frequent category first, with the last ten texts of each.

    \b
    Example:
      ghostpen feedback list
    """

    return _run(session, _list_feedback, data=data, lang=lang)


@feedback.command(short_help="Delete the feedback of a category, or all.")
@click.argument("category", required=False, type=click.Choice(_CATEGORIES), metavar="[CATEGORY]")
@yes_option
@place_options
@output_options
@click.pass_obj
def reset(session: Session, category: str | None, *, yes: bool, data: Path | None, lang: str | None) -> int:
    """Delete the feedback of CATEGORY, or all of it, after asking: counts and texts.

    \b
    Example:
      ghostpen feedback reset tone_off
    """

    return _run(session, lambda context: _reset_feedback(context, category), data=data, lang=lang, yes=yes)


def _run(
    session: Session, work: "Callable[[CommandContext], int]", *, data: Path | None, lang: str | None, yes: bool = False
) -> int:
    code: int = _run_command(session, work, data=data, lang=lang, yes=yes)
    return code
