"""The body of `init` and `profile create`: posts become a profile that the author has corrected and agreed to (W32)."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from toolroll.apps.models import connect_model
from toolroll.apps.run_log import open_journal
from toolroll.cli.ghostpen.context import CommandContext, choose_model
from toolroll.cli.ghostpen.source_posts import SourcePosts, collect_posts, keep_pasted, read_posts
from toolroll.cli.session import DONE
from toolroll.errors import ToolFailure, ToolrollError, UsageError
from toolroll.packs.writing.profiles.analysis import Analyst, ProfileAnalysis, ProfileLabel, profile_draft
from toolroll.packs.writing.profiles.description import describe_profile
from toolroll.packs.writing.profiles.names import DEFAULT, check_profile_name
from toolroll.packs.writing.profiles.profile_format import StoredProfile
from toolroll.packs.writing.profiles.schema import ProfileType
from toolroll.packs.writing.profiles.store import BACKUPS, FOLDER
from toolroll.packs.writing.session.intents import parse_intent
from toolroll.packs.writing.storage import is_folder
from toolroll.packs.writing.texts.error_texts import describe_stop
from toolroll.packs.writing.tools.dependencies import LOCAL_DATA, trust_data
from toolroll.packs.writing.tools.post_tools import display_path


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileOptions:
    """The profile that somebody wants: its name and type, and what to make it from."""

    name: str
    type: ProfileType = "personal"
    files: tuple[str, ...] = ()
    pages: tuple[str, ...] = ()
    model: str | None = None
    is_sample: bool = False


def create_profile(context: CommandContext, options: ProfileOptions) -> int:
    """Create the profile once its author agrees; before a model is asked, everything else is checked."""
    _check_options(context, options)
    texts = read_posts(context, options.files)  # errors of files are reported before anybody is asked
    is_new_data = not is_folder(context.data)
    replace = context.profiles.has(options.name)
    if replace and (code := _confirm_replace(context, options.name)) is not None:
        return code
    if options.is_sample:
        code = _write(context, _sample(context, options), replace=replace, posts=0)
    else:
        code = _create_from_posts(context, options, texts, replace=replace)
    if code == DONE and options.type == "personal":
        _suggest_next(context, options.name)
    if is_new_data and code == DONE and context.data.absolute() == Path.cwd() / LOCAL_DATA:
        trust_data(Path.cwd())  # all that is in it is theirs
    return code


def _suggest_next(context: CommandContext, name: str) -> None:
    """Show what can be done with a new profile."""
    chosen = "" if name == DEFAULT else f" --profile {name}"
    command = f"ghostpen {context.text('example_request')}{chosen}"
    if not context.session.json:
        context.show(context.text("init_next", command=command, name=name).strip())


def _check_options(context: CommandContext, options: ProfileOptions) -> None:
    """Refuse an invalid name, posts beside the sample, and no posts where nobody can paste any."""
    check_profile_name(options.name)
    has_posts = bool(options.files or options.pages)
    if options.is_sample and has_posts:
        raise UsageError(context.text("sample_only"))
    if context.terminal is None and not options.is_sample and not has_posts:
        raise UsageError(context.text("no_posts"))


def _confirm_replace(context: CommandContext, name: str) -> int | None:
    """Return None where the author agrees to replace the profile of that name, else the exit code."""
    context.profiles.raw(name)  # what cannot be read cannot be backed up, so it is not replaced
    return context.confirm("ask_replace", name=name)


def _create_from_posts(
    context: CommandContext, options: ProfileOptions, texts: tuple[str, ...], *, replace: bool
) -> int:
    """Let a model analyse the posts, and save what the author agrees to."""
    if context.terminal is None and not context.yes:
        return context.fail_nobody()
    named = check_model(options.model)
    posts = collect_posts(context, texts, files=options.files, pages=options.pages)
    draft = _agree_on_draft(context, options, posts, named)
    return context.fail_declined() if draft is None else _write(context, draft, replace=replace, posts=len(posts.texts))


def check_model(given: str | None) -> str:
    """Return the model to use; errors of its name or key are reported before anybody pastes posts for it."""
    named = choose_model(given)
    connect_model(named, os.environ)
    return named


@contextmanager
def open_analyst(context: CommandContext, model: str) -> Iterator[Analyst]:
    """Open an analyst with the user's run log; an answer that cannot be used is described in the person's language."""
    journal = open_journal(os.environ)
    try:
        yield Analyst(connect_model(model, os.environ), journal=journal)
    except ToolFailure as error:
        message = context.text("no_profile_made", why=describe_stop(error, context.lang))
        raise ToolFailure(message, code=error.failure_code) from error
    finally:
        journal.close()


def _agree_on_draft(
    context: CommandContext, options: ProfileOptions, posts: SourcePosts, model: str
) -> dict[str, Any] | None:
    """Show and correct the profile until the author agrees; return None where they leave."""
    label = ProfileLabel(name=options.name, type=options.type, source=posts.source)
    with keep_pasted(context, posts.texts if posts.is_pasted else ()), open_analyst(context, model) as analyst:
        context.say("analysing", posts=context.text("count_posts", count=len(posts.texts)), model=model)
        analysis = analyst.analyse(posts.texts)
        while True:
            draft = profile_draft(analysis.answer, posts.texts, label, now=datetime.now(UTC))
            show_description(context, draft)
            words = "ok" if context.yes else _ask_correction(context)
            if words is None or parse_intent(words) == "save":
                return None if words is None else draft
            analysis = _correct(context, analyst, analysis, words)


def show_description(context: CommandContext, fields: dict[str, Any]) -> None:
    """Show a profile in words, beside the answer."""
    for line in describe_profile(fields, context.lang):
        context.show(str(line))


def _ask_correction(context: CommandContext) -> str | None:
    assert context.terminal is not None  # `_create_from_posts` has looked
    while True:
        typed = context.terminal.ask(f"{context.text('ask_correction')}\n> ", fresh=True)
        if typed is None or parse_intent(typed) == "leave":
            return None
        if typed:
            return typed


def _correct(context: CommandContext, analyst: Analyst, analysis: ProfileAnalysis, words: str) -> ProfileAnalysis:
    """Return the corrected analysis; if that fails, the last one stays and the person decides."""
    context.say("correcting")
    try:
        return analyst.correct(analysis, words)
    except ToolrollError as error:
        context.show(f"! {context.translate(error.message)}")
        return analysis


def _sample(context: CommandContext, options: ProfileOptions) -> dict[str, Any]:
    from toolroll.packs.writing.sample import sample_profile  # noqa: PLC0415 - only who wants one

    return {**sample_profile(context.lang), "profile_name": options.name, "profile_type": options.type}


def _write(context: CommandContext, draft: dict[str, Any], *, replace: bool, posts: int) -> int:
    stored = context.profiles.create(draft, now=datetime.now(UTC), replace=replace)
    if not posts:
        context.say("sample_written")
    return report_written(context, stored, replaced=replace, posts=posts)


def report_written(context: CommandContext, stored: StoredProfile, *, replaced: bool, posts: int | None = None) -> int:
    """Report where a new profile is, and where the backup of the one it replaced."""
    name = stored.profile.profile_name
    path = profile_path(context.data, name)
    if replaced:
        context.say("profile_kept", folder=display_path(context.data / FOLDER / BACKUPS))
    text = context.text("profile_written", name=name, file=display_path(path))
    more = {} if posts is None else {"posts": posts}
    context.write(text, is_raw=False, profile=stored.fields, file=str(path), replaced=replaced, **more)
    return DONE


def profile_path(data: Path, name: str) -> Path:
    """Return the file of a profile."""
    return data / FOLDER / f"{check_profile_name(name)}.json"
