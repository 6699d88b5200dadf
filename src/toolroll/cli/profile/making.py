"""`init` and `profile create`: posts become a profile that the author has seen, corrected and agreed to (W32)."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from toolroll.cli.making import named_model, open_journal
from toolroll.cli.profile.desk import Desk
from toolroll.cli.profile.gathering import Posts, gathered, kept, posts_of
from toolroll.cli.session import DONE
from toolroll.cli.writing.making import connected, pen_model
from toolroll.errors import ToolFailure, ToolrollError, UsageError
from toolroll.packs.writing.analysis import Analyst, Look, Naming, profile_draft
from toolroll.packs.writing.answers import wish_of
from toolroll.packs.writing.error_texts import why_of
from toolroll.packs.writing.names import check_profile_name
from toolroll.packs.writing.portrait import portrait
from toolroll.packs.writing.post_tools import shown_path
from toolroll.packs.writing.profile import ProfileType
from toolroll.packs.writing.profiles import BACKUPS, FOLDER
from toolroll.packs.writing.stored import StoredProfile


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """A profile that somebody wants: its name and kind, and what it is to be made of."""

    name: str
    type: ProfileType = "personal"
    files: tuple[str, ...] = ()
    pages: tuple[str, ...] = ()
    model: str | None = None
    is_sample: bool = False


def make_profile(desk: Desk, wish: Wish) -> int:
    """Write the profile once its author agrees; before a model is asked, it is known that it could be written."""
    _check_wish(desk, wish)
    texts = posts_of(desk, wish.files)  # what is wrong with a file is told before anybody is asked anything
    replace = desk.profiles.has(wish.name)
    if replace and (code := _not_replaceable(desk, wish.name)) is not None:
        return code
    if wish.is_sample:
        return _written(desk, _sample(desk, wish), replace=replace, posts=0)
    return _made_of_posts(desk, wish, texts, replace=replace)


def _check_wish(desk: Desk, wish: Wish) -> None:
    """Refuse a name that is none, posts beside the sample, and no posts where nobody can paste any."""
    check_profile_name(wish.name)
    has_posts = bool(wish.files or wish.pages)
    if wish.is_sample and has_posts:
        raise UsageError("--sample takes no posts: leave out --from and --notion.")
    if desk.terminal is None and not wish.is_sample and not has_posts:
        raise UsageError(desk.words("no_posts"))


def _not_replaceable(desk: Desk, name: str) -> int | None:
    """The exit code where the profile of that name is not to be replaced; None where its author agrees to it."""
    desk.profiles.raw(name)  # what cannot be read cannot be kept as a backup, so it is not replaced
    return desk.not_agreed("ask_replace", name=name)


def _made_of_posts(desk: Desk, wish: Wish, texts: tuple[str, ...], *, replace: bool) -> int:
    """Let a model look at the posts, and write what the author agrees to."""
    if desk.terminal is None and not desk.yes:
        return desk.nobody()
    named = usable_model(wish.model)
    posts = gathered(desk, texts, files=wish.files, pages=wish.pages)
    draft = _agreed(desk, wish, posts, named)
    return desk.left() if draft is None else _written(desk, draft, replace=replace, posts=len(posts.texts))


def usable_model(given: str | None) -> str:
    """The model that was named; what is wrong with its name or its key is said before anybody pastes posts for it."""
    named = pen_model(given)
    connected(named_model(named))
    return named


@contextmanager
def analyst(desk: Desk, model: str) -> Iterator[Analyst]:
    """Who looks at posts, with the user's run log; an answer that is none is told in the person's language."""
    journal = open_journal(os.environ)
    try:
        yield Analyst(named_model(model), journal=journal)
    except ToolFailure as error:
        told = desk.words("no_profile_made", why=why_of(error, desk.lang))
        raise ToolFailure(told, code=error.failure_code) from error
    finally:
        journal.close()


def _agreed(desk: Desk, wish: Wish, posts: Posts, model: str) -> dict[str, Any] | None:
    """What the author agreed to; None where they left."""
    naming = Naming(name=wish.name, type=wish.type, source=posts.source)
    with kept(desk, posts.texts if posts.is_pasted else ()), analyst(desk, model) as looking:
        desk.say("analysing", count=len(posts.texts), model=model)
        look = looking.look(posts.texts)
        while True:
            draft = profile_draft(look.answer, posts.texts, naming, now=datetime.now(UTC))
            show(desk, draft)
            words = "ok" if desk.yes else _correction(desk)
            if words is None or wish_of(words) == "save":
                return None if words is None else draft
            look = _corrected(desk, looking, look, words)


def show(desk: Desk, fields: dict[str, Any]) -> None:
    """A profile in words, beside the answer."""
    for line in portrait(fields, desk.lang):
        desk.tell(str(line))


def _correction(desk: Desk) -> str | None:
    assert desk.terminal is not None  # `_made_of_posts` has looked
    while True:
        typed = desk.terminal.ask(f"{desk.words('ask_correction').rstrip()}\n> ", fresh=True)
        if typed is None or wish_of(typed) == "leave":
            return None
        if typed:
            return typed


def _corrected(desk: Desk, looking: Analyst, look: Look, words: str) -> Look:
    """The next look; where that fails the last one stays, and the person decides."""
    desk.say("correcting")
    try:
        return looking.correct(look, words)
    except ToolrollError as error:
        desk.tell(f"! {error.message}")
        return look


def _sample(desk: Desk, wish: Wish) -> dict[str, Any]:
    from toolroll.packs.writing.sample import sample_profile  # noqa: PLC0415 - only who wants one

    return {**sample_profile(desk.lang), "profile_name": wish.name, "profile_type": wish.type}


def _written(desk: Desk, draft: dict[str, Any], *, replace: bool, posts: int) -> int:
    stored = desk.profiles.create(draft, now=datetime.now(UTC), replace=replace)
    if not posts:
        desk.say("sample_written")
    return told_written(desk, stored, replaced=replace, posts=posts)


def told_written(desk: Desk, stored: StoredProfile, *, replaced: bool, posts: int | None = None) -> int:
    """Say where a new profile is, and where the one it replaced."""
    name = stored.profile.profile_name
    path = profile_path(desk.data, name)
    if replaced:
        desk.say("profile_kept", folder=shown_path(desk.data / FOLDER / BACKUPS))
    text = desk.words("profile_written", name=name, file=shown_path(path))
    more = {} if posts is None else {"posts": posts}
    desk.write(text, is_raw=False, profile=stored.fields, file=str(path), replaced=replaced, **more)
    return DONE


def profile_path(data: Path, name: str) -> Path:
    """The file of a profile."""
    return data / FOLDER / f"{check_profile_name(name)}.json"
