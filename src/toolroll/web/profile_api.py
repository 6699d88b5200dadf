"""The profiles of the writer's desk: portraits, edits with the old and the new beside each other, mixes, new ones."""

import asyncio
import re
from collections.abc import Mapping
from contextlib import closing
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from toolroll.apps.desk import Desk
from toolroll.apps.models import choose_model, connect_model
from toolroll.apps.run_log import open_journal
from toolroll.errors import ChangeRefused, ToolFailure, UsageError
from toolroll.home.settings import read_settings
from toolroll.home.tokens import Token
from toolroll.kernel.call.context import utc_now
from toolroll.packs.writing.profiles.analysis import (
    ENOUGH_POSTS,
    MAX_CHARACTERS,
    MAX_POSTS,
    Analyst,
    ProfileLabel,
    profile_draft,
)
from toolroll.packs.writing.profiles.changes import change_fields, get_field, history_language, list_changes
from toolroll.packs.writing.profiles.names import check_profile_name
from toolroll.packs.writing.profiles.schema import ProfileFields
from toolroll.packs.writing.sample import sample_profile
from toolroll.packs.writing.texts.error_texts import describe_stop
from toolroll.packs.writing.texts.messages import Lang, say, translate
from toolroll.web.models import Operation
from toolroll.web.profile_cards import label_of, make_mix, make_portrait, make_profile
from toolroll.web.routing import read_body
from toolroll.web.writing_api import answer, read_lang, translated
from toolroll.web.writing_models import (
    LANG_QUERY,
    NAME,
    AnalysisModel,
    AnalysisRequest,
    ChangedField,
    EditPreview,
    MixModel,
    ProfileEdit,
    ProfileModel,
    ProfileRequest,
)

PASTED: Final = "pasted posts"
_BETWEEN: Final = re.compile(r"^---[ \t]*$", re.MULTILINE)


class ProfileApi:
    """The operations on profiles."""

    def __init__(self, desk: Desk, environment: Mapping[str, str]) -> None:
        self._store, self._environment = desk.profiles, environment

    async def show_profile(self, request: Request, _person: Token) -> Response:
        """Show a profile in words, with what can be edited and its history."""
        lang = read_lang(request)
        with translated(lang):
            return answer(make_profile(self._store.read(_name(request)), lang))

    async def preview_profile(self, request: Request, _person: Token) -> Response:
        """Show what an edit would change, old and new, and the rules that it breaks. Nothing is written."""
        lang, asked = read_lang(request), await read_body(request, ProfileEdit)
        with translated(lang):
            stored = self._store.read(_name(request))
            changes = _real_changes(stored.fields, asked.changes)
            problems: tuple[str, ...] = ()
            try:
                if changes:
                    change_fields(stored.fields, changes)
            except ChangeRefused as error:
                problems = tuple(translate(one, lang) for one in error.faults)
        shown = tuple(
            ChangedField.model_validate(
                {"path": one.path, "label": label_of(one.path, lang), "old": one.old, "new": one.new}
            )
            for one in list_changes(stored.fields, changes)
        )
        return answer(EditPreview(version=stored.profile.version + 1, changes=shown, problems=problems))

    async def edit_profile(self, request: Request, _person: Token) -> Response:
        """Save an edit as the next version; the one before is kept as a backup."""
        lang, asked = read_lang(request), await read_body(request, ProfileEdit)
        with translated(lang):
            name = _name(request)
            fields = self._store.read(name).fields
            reason = say("edit_made_by", history_language(fields))
            changes = _real_changes(fields, asked.changes)
            self._store.update(name, changes, reason=reason, now=utc_now(), base=asked.base, by_person=True)
            return answer(make_profile(self._store.read(name), lang))

    async def create_profile(self, request: Request, _person: Token) -> Response:
        """Create a profile: the sample, or what an analysis has found. An existing one is never replaced."""
        lang, asked = read_lang(request), await read_body(request, ProfileRequest)
        with translated(lang):
            draft: Mapping[str, Any] = sample_profile(lang) if asked.draft is None else asked.draft
            stored = self._store.create({**draft, "profile_name": asked.name}, now=utc_now())
            return answer(make_profile(stored, lang))

    async def analyse_posts(self, request: Request, _person: Token) -> Response:
        """Let a model describe how posts are written. Nothing is saved."""
        lang, asked = read_lang(request), await read_body(request, AnalysisRequest)
        with translated(lang):
            check_profile_name(asked.name)
            posts = _split_posts(asked.posts, lang)
            # It may take a minute, and runs a loop of its own.
            draft = await asyncio.to_thread(self._analyse, posts, asked.name, asked.model, lang)
        few = (say("few_posts", lang, count=len(posts)),) if len(posts) < ENOUGH_POSTS else ()
        return answer(AnalysisModel(draft=draft, portrait=make_portrait(draft, lang), notes=few))

    async def show_mix(self, request: Request, _person: Token) -> Response:
        """Show two profiles as one: the voice of the first with the techniques of the second."""
        lang = read_lang(request)
        names = (request.query_params.get(one, "") for one in ("base", "techniques"))
        with translated(lang):
            base, techniques = map(self._store.read, names)
            return answer(make_mix(base, techniques, lang))

    def _analyse(self, posts: tuple[str, ...], name: str, model: str | None, lang: Lang) -> ProfileFields:
        named = model or choose_model(read_settings(self._environment))
        with closing(open_journal(self._environment)) as journal:
            analyst = Analyst(connect_model(named, self._environment), journal=journal)
            try:
                found = analyst.analyse(posts)
            except ToolFailure as error:
                told = say("no_profile_made", lang, why=describe_stop(error, lang))
                raise ToolFailure(told, code=error.failure_code) from error
        return profile_draft(found.answer, posts, ProfileLabel(name=name, source=PASTED), now=utc_now())


def _split_posts(text: str, lang: Lang) -> tuple[str, ...]:
    posts = tuple(part.strip() for part in _BETWEEN.split(text) if part.strip())
    characters = sum(map(len, posts))
    if len(posts) <= MAX_POSTS and characters <= MAX_CHARACTERS:
        return posts
    raise UsageError(
        say(
            "too_many_posts",
            lang,
            posts=say("count_posts", lang, count=len(posts)),
            characters=say("count_characters", lang, count=characters),
            most_posts=say("count_posts", lang, count=MAX_POSTS),
            most_characters=say("count_characters", lang, count=MAX_CHARACTERS),
        )
    )


def _real_changes(fields: ProfileFields, changes: Mapping[str, object]) -> dict[str, object]:
    """Return the changes that change something."""
    return {path: value for path, value in changes.items() if value != get_field(fields, path)}


def _name(request: Request) -> str:
    name: str = request.path_params["profile"]
    return name


_PROBLEMS: Final = (404, 409, 415)

PROFILE_OPERATIONS: Final = (
    Operation(
        method="POST",
        path="/api/desk/profiles",
        name="create_profile",
        summary="Create a profile",
        scope="page",
        body=ProfileRequest,
        answer=ProfileModel,
        query=LANG_QUERY,
        problems=_PROBLEMS,
    ),
    Operation(
        method="POST",
        path="/api/desk/analyses",
        name="analyse_posts",
        summary="Describe how posts are written",
        scope="page",
        body=AnalysisRequest,
        answer=AnalysisModel,
        query=LANG_QUERY,
        problems=(*_PROBLEMS, 500),
    ),
    Operation(
        method="GET",
        path="/api/desk/mix",
        name="show_mix",
        summary="Two profiles as one",
        scope="page",
        answer=MixModel,
        query={"base": NAME, "techniques": NAME, **LANG_QUERY},
        problems=(404,),
    ),
    Operation(
        method="GET",
        path="/api/desk/profiles/{profile}",
        name="show_profile",
        summary="A profile in words",
        scope="page",
        answer=ProfileModel,
        query=LANG_QUERY,
        problems=(404,),
    ),
    Operation(
        method="POST",
        path="/api/desk/profiles/{profile}/preview",
        name="preview_profile",
        summary="Show what an edit of a profile would change",
        scope="page",
        body=ProfileEdit,
        answer=EditPreview,
        query=LANG_QUERY,
        problems=_PROBLEMS,
    ),
    Operation(
        method="POST",
        path="/api/desk/profiles/{profile}",
        name="edit_profile",
        summary="Save an edit of a profile",
        scope="page",
        body=ProfileEdit,
        answer=ProfileModel,
        query=LANG_QUERY,
        problems=_PROBLEMS,
    ),
)
