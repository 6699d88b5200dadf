"""The writer's desk of the page: posts that are being written, and those that were saved."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from typing import Any, Final, get_args

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from toolroll.apps.desk import Desk, PostView
from toolroll.errors import (
    ChangeRefused,
    FileExists,
    JsonRefused,
    PathRefused,
    ProfileInvalid,
    ProfileMissing,
    StaleFile,
    ToolrollError,
)
from toolroll.home.keys import with_keys
from toolroll.home.settings import read_settings
from toolroll.home.tokens import Token
from toolroll.kernel.approval.request import Approve, Decision, Reject
from toolroll.packs.writing.posts.platforms import LIMITS, PLATFORMS, Platform
from toolroll.packs.writing.posts.post_file import PostFile
from toolroll.packs.writing.profiles.feedback import Category, category_name
from toolroll.packs.writing.profiles.mix import load_style
from toolroll.packs.writing.profiles.names import DEFAULT
from toolroll.packs.writing.profiles.schema import ProfileFields
from toolroll.packs.writing.session.looks import make_looks
from toolroll.packs.writing.texts.error_texts import describe_error
from toolroll.packs.writing.texts.messages import Lang, choose_language, known_language, languages, page_texts
from toolroll.packs.writing.tools.notion_tools import DATABASE, TOKEN
from toolroll.web.models import Health, Operation
from toolroll.web.problems import Problem, problem_of
from toolroll.web.profile_cards import list_broken, list_cards
from toolroll.web.routing import read_body
from toolroll.web.writing_models import (
    LANG_QUERY,
    DeskModel,
    DraftModel,
    FinishRequest,
    LookModel,
    PartModel,
    PastPage,
    PastPost,
    PostAnswer,
    PostLine,
    PostModel,
    PostQuestion,
    PostRequest,
    PostStarted,
    SaidLine,
    WriterWords,
)

PAST_LIMIT: Final = 50
MAX_FIND_CHARACTERS: Final = 400
_MIX_SIGN: Final = " + "


class WritingApi:
    """The operations of the desk."""

    def __init__(self, desk: Desk, environment: Mapping[str, str]) -> None:
        self._desk, self._environment = desk, environment

    async def show_desk(self, request: Request, _person: Token) -> Response:
        """Show the desk: profiles, posts, and the texts of the page in the writer's language."""
        lang = self._lang(request)
        with translated(lang):
            listing = self._desk.profiles.listing()
            keys = with_keys(self._environment)
            shown = DeskModel(
                lang=lang,
                languages=languages(),
                texts=dict(page_texts(lang)),
                categories={one: category_name(one, lang) for one in get_args(Category)},
                platforms=LIMITS,
                model=read_settings(self._environment).model,
                has_notion=bool(keys.get(TOKEN, "").strip() and self._environment.get(DATABASE, "").strip()),
                folder=str(self._desk.data),
                profiles=list_cards(self._desk.profiles, listing, lang),
                broken=list_broken(listing, lang),
                posts=tuple(map(_line, self._desk.list())),
            )
        return answer(shown)

    async def start_post(self, request: Request, _person: Token) -> Response:
        """Begin a post."""
        lang, asked = read_lang(request), await read_body(request, PostRequest)
        with translated(lang):
            post_id = await self._desk.start(
                asked.request,
                platform=asked.platform,
                profiles=asked.profiles,
                model=asked.model,
                notion=asked.notion,
                lang=lang,
            )
        return JSONResponse({"id": post_id}, status_code=202, headers={"Location": f"/api/desk/posts/{post_id}"})

    async def show_post(self, request: Request, _person: Token) -> Response:
        """Show a post with its drafts as each platform would show them."""
        with translated(read_lang(request)):
            return answer(self._model(self._desk.view(_post_id(request))))

    async def tell_writer(self, request: Request, _person: Token) -> Response:
        """Say what should be different, or answer a question of the session."""
        with translated(read_lang(request)):
            await self._desk.tell(_post_id(request), (await read_body(request, WriterWords)).text)
        return _done(202)

    async def finish_post(self, request: Request, _person: Token) -> Response:
        """Save a draft, save it to Notion or leave it; a question follows."""
        with translated(read_lang(request)):
            await self._desk.finish(_post_id(request), (await read_body(request, FinishRequest)).how)
        return _done(202)

    async def answer_post(self, request: Request, _person: Token) -> Response:
        """Answer what a post asks about a call, bound to what was shown."""
        given = await read_body(request, PostAnswer)
        decision: Decision = Approve(edited=given.edited) if given.decision == "approve" else Reject()
        with translated(read_lang(request)):
            self._desk.answer(_post_id(request), given.call_id, given.digest, decision)
        return _done(202)

    async def stop_post(self, request: Request, _person: Token) -> Response:
        """Stop the model; the draft before stays."""
        self._desk.stop(_post_id(request))
        return _done()

    async def retry_post(self, request: Request, _person: Token) -> Response:
        """Go on with a post that was interrupted."""
        with translated(read_lang(request)):
            await self._desk.go_on(_post_id(request))
        return _done(202)

    async def remove_post(self, request: Request, _person: Token) -> Response:
        """Take a post from the desk."""
        with translated(read_lang(request)):
            await self._desk.remove(_post_id(request))
        return _done()

    async def list_past(self, request: Request, _person: Token) -> Response:
        """Find saved posts by their words; without words, the newest."""
        words = request.query_params.get("find", "")[:MAX_FIND_CHARACTERS].split()
        named = request.query_params.get("platform", "")
        platform = next((one for one in PLATFORMS if one == named), None)
        posts = self._desk.posts
        with translated(read_lang(request)):
            if words:
                found = posts.search(words, platform=platform, limit=PAST_LIMIT)
            else:
                found = posts.latest(platform=platform, limit=PAST_LIMIT)
        return answer(PastPage(posts=tuple(map(_past, found.posts)), total=found.total))

    def _lang(self, request: Request) -> Lang:
        """Return the language that the page asks for, else that of the locale or the default profile."""
        if request.query_params.get("lang"):
            return read_lang(request)
        language = None
        with suppress(ToolrollError):  # there may be none yet
            language = self._desk.profiles.read(DEFAULT).profile.language
        return choose_language(None, self._environment, language)

    def _fields(self, profiles: tuple[str, ...]) -> ProfileFields:
        """Return what drafts are checked by; a post is shown also after its profile was deleted or damaged."""
        try:
            return load_style(self._desk.profiles, *profiles).fields
        except ToolrollError:
            return {"language": "uk+en", "voice": {"avoid": []}, "platforms": {}, "examples": []}

    def _model(self, view: PostView) -> PostModel:
        post, asked = view.post, view.asked
        fields = self._fields(post.profiles)
        versions = tuple(
            DraftModel(
                number=one.number,
                text=one.text,
                looks=tuple(
                    LookModel(
                        platform=look.platform,
                        length=look.length,
                        limit=look.limit,
                        parts=tuple(PartModel(**asdict(part)) for part in look.parts),
                        notes=look.notes,
                    )
                    for look in make_looks(one.text, fields, post.lang)
                ),
            )
            for one in post.drafts
        )
        question = (
            None
            if asked is None
            else PostQuestion(
                call_id=asked.request.call_id,
                digest=asked.request.digest,
                tool=asked.request.tool,
                question=asked.question,
                why=asked.request.why,
                preview=asked.request.preview.text,
                editable=asked.request.preview.editable,
            )
        )
        return PostModel(
            **dict(_line(view)),
            lang=post.lang,
            model=post.model,
            lines=tuple(SaidLine(kind=one.kind, text=one.text) for one in post.lines),
            versions=versions,
            ask=None if view.question is None else view.question.kind,
            question=question,
            writing=view.writing,
            error=post.error,
            file=post.file,
            notion_url=post.notion_url,
        )


def read_lang(request: Request) -> Lang:
    """Return the language that a request asks for, else English."""
    return known_language(request.query_params.get("lang"))


@contextmanager
def translated(lang: Lang) -> Iterator[None]:
    """Turn errors into problems in the writer's language."""
    try:
        yield
    except ToolrollError as error:
        raise Problem(_status(error), error.code, describe_error(error, lang)) from error


def _status(error: ToolrollError) -> int:
    match error:
        case ProfileMissing():
            return 404
        case ChangeRefused() | ProfileInvalid() | PathRefused() | JsonRefused():
            return 400
        case StaleFile() | FileExists():
            return 409
        case _:
            return problem_of(error).status


def answer(model: BaseModel) -> Response:
    """Return a model as the answer."""
    return Response(model.model_dump_json(), media_type="application/json")


def _line(view: PostView) -> PostLine:
    post = view.post
    return PostLine(
        id=post.id,
        request=post.request,
        platform=post.platform,
        profile=_MIX_SIGN.join(post.profiles),
        state=view.state,
        end=post.end,
        drafts=len(post.drafts),
        created=post.created,
    )


def _past(post: PostFile) -> PastPost:
    return PastPost(
        file=post.file,
        platform=post.platform,
        topic=post.topic,
        created=post.created,
        profile=post.profile_used,
        text=post.body,
    )


def _post_id(request: Request) -> str:
    post_id: str = request.path_params["post_id"]
    return post_id


def _done(status: int = 200) -> Response:
    return JSONResponse({"status": "ok"}, status_code=status)


def _on_post(name: str, summary: str, *, path: str = "", body: type[BaseModel] | None = None, **more: Any) -> Operation:
    return Operation(
        method=more.pop("method", "POST"),
        path=f"/api/desk/posts/{{post_id}}{path}",
        name=name,
        summary=summary,
        scope="page",
        body=body,
        answer=more.pop("answer", Health),
        query=LANG_QUERY,
        problems=(404, 409, *((415,) if body is not None else ())),
        **more,
    )


_PLATFORM: Final = {"type": "string", "enum": [*get_args(Platform), ""]}

WRITING_OPERATIONS: Final = (
    Operation(
        method="GET",
        path="/api/desk",
        name="show_desk",
        summary="The writer's desk",
        scope="page",
        answer=DeskModel,
        query=LANG_QUERY,
    ),
    Operation(
        method="POST",
        path="/api/desk/posts",
        name="start_post",
        summary="Begin a post",
        scope="page",
        status=202,
        body=PostRequest,
        answer=PostStarted,
        query=LANG_QUERY,
        problems=(404, 415),
    ),
    _on_post("show_post", "Show a post", method="GET", answer=PostModel),
    _on_post("tell_writer", "Say what should be different", path="/messages", body=WriterWords, status=202),
    _on_post("finish_post", "Save or leave a draft", path="/finish", body=FinishRequest, status=202),
    _on_post("answer_post", "Answer what a post asks", path="/answers", body=PostAnswer, status=202),
    _on_post("stop_post", "Stop the model", path="/stop"),
    _on_post("retry_post", "Go on with a post that was interrupted", path="/retry", status=202),
    _on_post("remove_post", "Take a post from the desk", path="/remove"),
    Operation(
        method="GET",
        path="/api/desk/past",
        name="list_past",
        summary="Find saved posts",
        scope="page",
        answer=PastPage,
        query={"find": {"type": "string", "maxLength": MAX_FIND_CHARACTERS}, "platform": _PLATFORM, **LANG_QUERY},
    ),
)
