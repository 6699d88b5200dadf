"""`init` and `profile create`: posts become a profile that the author has seen, corrected and agreed to (W32)."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from toolroll.apps.models import connect_model
from toolroll.apps.run_log import open_journal
from toolroll.cli.ghostpen.agent import choose_model
from toolroll.cli.ghostpen.context import CommandContext
from toolroll.cli.ghostpen.source_posts import SourcePosts, collect_posts, keep_pasted, read_posts
from toolroll.cli.session import DONE
from toolroll.errors import ToolFailure, ToolrollError, UsageError
from toolroll.packs.writing.profiles.analysis import Analyst, ProfileAnalysis, ProfileLabel, profile_draft
from toolroll.packs.writing.profiles.description import describe_profile
from toolroll.packs.writing.profiles.names import check_profile_name
from toolroll.packs.writing.profiles.profile_format import StoredProfile
from toolroll.packs.writing.profiles.schema import ProfileType
from toolroll.packs.writing.profiles.store import BACKUPS, FOLDER
from toolroll.packs.writing.session.intents import parse_intent
from toolroll.packs.writing.texts.error_texts import describe_stop
from toolroll.packs.writing.tools.post_tools import display_path


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileOptions:
    """A profile that somebody wants: its name and kind, and what it is to be made of."""

    name: str
    type: ProfileType = "personal"
    files: tuple[str, ...] = ()
    pages: tuple[str, ...] = ()
    model: str | None = None
    is_sample: bool = False


def create_profile(desk: CommandContext, wish: ProfileOptions) -> int:
    """Write the profile once its author agrees; before a model is asked, it is known that it could be written."""
    _check_options(desk, wish)
    texts = read_posts(desk, wish.files)  # what is wrong with a file is told before anybody is asked anything
    replace = desk.profiles.has(wish.name)
    if replace and (code := _confirm_replace(desk, wish.name)) is not None:
        return code
    if wish.is_sample:
        return _write(desk, _sample(desk, wish), replace=replace, posts=0)
    return _create_from_posts(desk, wish, texts, replace=replace)


def _check_options(desk: CommandContext, wish: ProfileOptions) -> None:
    """Refuse a name that is none, posts beside the sample, and no posts where nobody can paste any."""
    check_profile_name(wish.name)
    has_posts = bool(wish.files or wish.pages)
    if wish.is_sample and has_posts:
        raise UsageError("--sample takes no posts: leave out --from and --notion.")
    if desk.terminal is None and not wish.is_sample and not has_posts:
        raise UsageError(desk.words("no_posts"))


def _confirm_replace(desk: CommandContext, name: str) -> int | None:
    """The exit code where the profile of that name is not to be replaced; None where its author agrees to it."""
    desk.profiles.raw(name)  # what cannot be read cannot be kept as a backup, so it is not replaced
    return desk.not_agreed("ask_replace", name=name)


def _create_from_posts(desk: CommandContext, wish: ProfileOptions, texts: tuple[str, ...], *, replace: bool) -> int:
    """Let a model look at the posts, and write what the author agrees to."""
    if desk.terminal is None and not desk.yes:
        return desk.nobody()
    named = check_model(wish.model)
    posts = collect_posts(desk, texts, files=wish.files, pages=wish.pages)
    draft = _agree_on_draft(desk, wish, posts, named)
    return desk.left() if draft is None else _write(desk, draft, replace=replace, posts=len(posts.texts))


def check_model(given: str | None) -> str:
    """The model that was named; what is wrong with its name or its key is said before anybody pastes posts for it."""
    named = choose_model(given)
    connect_model(named, os.environ)
    return named


@contextmanager
def open_analyst(desk: CommandContext, model: str) -> Iterator[Analyst]:
    """Who looks at posts, with the user's run log; an answer that is none is told in the person's language."""
    journal = open_journal(os.environ)
    try:
        yield Analyst(connect_model(model, os.environ), journal=journal)
    except ToolFailure as error:
        told = desk.words("no_profile_made", why=describe_stop(error, desk.lang))
        raise ToolFailure(told, code=error.failure_code) from error
    finally:
        journal.close()


def _agree_on_draft(
    desk: CommandContext, wish: ProfileOptions, posts: SourcePosts, model: str
) -> dict[str, Any] | None:
    """What the author agreed to; None where they left."""
    naming = ProfileLabel(name=wish.name, type=wish.type, source=posts.source)
    with keep_pasted(desk, posts.texts if posts.is_pasted else ()), open_analyst(desk, model) as looking:
        desk.say("analysing", count=len(posts.texts), model=model)
        look = looking.look(posts.texts)
        while True:
            draft = profile_draft(look.answer, posts.texts, naming, now=datetime.now(UTC))
            show_description(desk, draft)
            words = "ok" if desk.yes else _ask_correction(desk)
            if words is None or parse_intent(words) == "save":
                return None if words is None else draft
            look = _correct(desk, looking, look, words)


def show_description(desk: CommandContext, fields: dict[str, Any]) -> None:
    """A profile in words, beside the answer."""
    for line in describe_profile(fields, desk.lang):
        desk.tell(str(line))


def _ask_correction(desk: CommandContext) -> str | None:
    assert desk.terminal is not None  # `_made_of_posts` has looked
    while True:
        typed = desk.terminal.ask(f"{desk.words('ask_correction').rstrip()}\n> ", fresh=True)
        if typed is None or parse_intent(typed) == "leave":
            return None
        if typed:
            return typed


def _correct(desk: CommandContext, looking: Analyst, look: ProfileAnalysis, words: str) -> ProfileAnalysis:
    """The next look; where that fails the last one stays, and the person decides."""
    desk.say("correcting")
    try:
        return looking.correct(look, words)
    except ToolrollError as error:
        desk.tell(f"! {error.message}")
        return look


def _sample(desk: CommandContext, wish: ProfileOptions) -> dict[str, Any]:
    from toolroll.packs.writing.sample import sample_profile  # noqa: PLC0415 - only who wants one

    return {**sample_profile(desk.lang), "profile_name": wish.name, "profile_type": wish.type}


def _write(desk: CommandContext, draft: dict[str, Any], *, replace: bool, posts: int) -> int:
    stored = desk.profiles.create(draft, now=datetime.now(UTC), replace=replace)
    if not posts:
        desk.say("sample_written")
    return report_written(desk, stored, replaced=replace, posts=posts)


def report_written(desk: CommandContext, stored: StoredProfile, *, replaced: bool, posts: int | None = None) -> int:
    """Say where a new profile is, and where the one it replaced."""
    name = stored.profile.profile_name
    path = profile_path(desk.data, name)
    if replaced:
        desk.say("profile_kept", folder=display_path(desk.data / FOLDER / BACKUPS))
    text = desk.words("profile_written", name=name, file=display_path(path))
    more = {} if posts is None else {"posts": posts}
    desk.write(text, is_raw=False, profile=stored.fields, file=str(path), replaced=replaced, **more)
    return DONE


def profile_path(data: Path, name: str) -> Path:
    """The file of a profile."""
    return data / FOLDER / f"{check_profile_name(name)}.json"
